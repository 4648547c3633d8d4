"""Everything that can be said of a lab without starting a cluster.

Owns the list of rules; a rule about one kind of file lives with that file's reader.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING

from cluster.i18n import LANGUAGES, _
from grader.lab.cases import compare_cases, read_cases
from grader.lab.catalogue import lab_folders, prerequisites
from grader.lab.exceptions import EXCEPTIONS_FILE, compare_exceptions, read_exceptions
from grader.lab.graph import circles
from grader.lab.manifests import read_start
from grader.lab.needs import command_problems
from grader.lab.overlay import read_translation, translation_file
from grader.lab.parse import LAB_FILE, Reading, read_lab
from grader.lab.place import check_files, check_scripts, is_for_bash
from grader.lab.problems import LabProblem, did_you_mean, read_source, under
from grader.lab.prose import check_prose, compare_prose
from grader.lab.scripts import compare_solutions
from grader.lab.session_text import declared_in, untranslated, unused, wrong_prose, wrong_scripts
from grader.lab.values import told, trials

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.lab.checkblock import CheckDraft
    from grader.lab.markdown import Outline

CHECKS_FILE = "checks.py"
FOLDERS = ("start", "files", "scripts", "solution", "wrong", "assets")
_OTHER_FILES = (EXCEPTIONS_FILE, "README.md")
_BASH_SECONDS = 10.0
"""That bash may take to read a script."""
_ALWAYS_THERE = {"default", "kube-system", "kube-public", "kube-node-lease"}
# By group; by apiVersion where two add-ons share a group.
_ADDON_OF = {
    "jobset.x-k8s.io": "jobset",
    "kueue.x-k8s.io": "kueue",
    "leaderworkerset.x-k8s.io": "lws",
    "trainer.kubeflow.org": "trainer",
    "kubeflow.org/v1": "training-operator",
    "kubeflow.org/v2beta1": "mpi-operator",
}


def lint_lab(folder: Path) -> list[LabProblem]:
    """All that is wrong with the lab in `folder`, in every language, by file and line.

    One part that is wrong hides nothing of another: what can't be compared is still read by itself.
    """
    found: list[LabProblem] = []
    with under("unknown-file", found):
        found += _files(folder)
    reading = read_lab(folder, found)
    checks = {} if reading is None else reading.check_ids()
    if reading is not None:
        _lint_text(reading, found)
    for lang in reading.matter.languages if reading and reading.matter else LANGUAGES:
        if lang != "en":
            _lint_translation(folder, lang, reading, found)
    if reading is not None:
        with under("front-matter", found):
            found += _values(reading, found[:])
    with under("wrong-answer", found):
        cases = read_cases(folder, found)
        found += compare_cases(cases, checks) if reading is not None else ()
    with under("exception", found):
        exceptions = read_exceptions(folder, found)
        found += compare_exceptions(exceptions, checks) if reading is not None else ()
    if reading is None:
        with under("start-object", found):
            read_start(folder, found)
    else:
        steps = {section.id: section.line for section, _drafts in reversed(reading.steps) if section.id}
        with under("solution", found):
            compare_solutions(folder, list(reversed(steps.items())), found)
        with under("unmentioned-command", found):
            command_problems(folder, found)
    with under("work-files", found):
        found += check_files(folder)
    with under("solution", found):
        found += _shell(folder)
    return sorted(set(found))


def _lint_text(reading: Reading, found: list[LabProblem]) -> None:
    """What `lab.md`, `checks.py` and `start/` say that does not fit together."""
    with under("prose", found):
        found += check_prose(reading.outline)
    with under("check-block", found):
        found += _checks(reading)
    with under("script", found):
        found += check_scripts(reading)
    with under("start-object", found):
        found += _objects(reading)
    with under("prerequisite", found):
        found += _other_labs(reading)


def _lint_translation(folder: Path, lang: str, reading: Reading | None, found: list[LabProblem]) -> None:
    if reading is None:
        return  # without the original nobody knows what it has to say
    with under("translation", found):
        translation = read_translation(folder, lang, reading.check_ids(), found, reading.filler)
        if translation is not None:
            found += check_prose(translation.outline)
            found += compare_prose(reading.outline, translation.outline)
            found += _values_of_translation(reading, translation.outline)


# -- files ------------------------------------------------------------------------------------------------


def _files(folder: Path) -> Iterator[LabProblem]:
    """Files and folders that nothing reads: mostly a name that is misspelt."""
    if not folder.is_dir():
        return
    translations = [translation_file(folder, lang).name for lang in LANGUAGES if lang != "en"]
    known = (LAB_FILE, *translations, CHECKS_FILE, *FOLDERS, *_OTHER_FILES)
    for path in sorted(folder.iterdir()):
        if path.name not in known and not path.name.startswith((".", "__pycache__")):
            message = _("nothing reads '{name}' here; known: {known}")
            message = message.format(name=path.name, known=", ".join(known)) + did_you_mean(path.name, known)
            yield LabProblem(str(path), 1, 1, message)


def _scripts(folder: Path) -> list[Path]:
    """Every script of a lab that bash reads."""
    patterns = ("solution/*.sh", "wrong/*/*.sh", "start/*.sh", "scripts/*.sh")
    return sorted(path for pattern in patterns for path in folder.glob(pattern) if is_for_bash(path))


def _shell(folder: Path) -> Iterator[LabProblem]:
    """Scripts that bash can't parse (bash reads them, and runs nothing)."""
    bash = shutil.which("bash")
    for script in _scripts(folder) if bash else ():
        source = read_source(script, [])  # what is wrong with the file itself is told by who reads it
        try:
            run = subprocess.run(
                [str(bash), "-n"],
                input=source.text.encode() if source is not None else b"",
                capture_output=True,
                check=False,
                cwd=folder,  # where it is called from may be a folder that is gone, and bash complains of that
                env={"LC_ALL": "C"},
                timeout=_BASH_SECONDS,
            )
        except subprocess.TimeoutExpired:
            message = _("bash does not come to the end of it in {seconds:.0f} s")
            yield LabProblem(str(script), 1, 1, message.format(seconds=_BASH_SECONDS))
            continue
        for line in run.stderr.decode(errors="replace").splitlines()[:1]:
            _file, _line, rest = line.partition(": line ")
            number, _colon, message = rest.partition(": ")
            at = int(number) if number.isdigit() else 1
            yield LabProblem(str(script), at, 1, _("bash: {message}").format(message=message or line))


# -- checks -----------------------------------------------------------------------------------------------


def _checks(reading: Reading) -> Iterator[LabProblem]:
    order = [check for ids in reading.check_ids().values() for check in ids]
    functions, problems = _functions(reading.folder)
    yield from problems
    for section, drafts in reading.steps:
        if not section.checks:
            message = _("step '{id}' has no check: nothing tells a learner that it is done")
            problem = reading.outline.source.problem(section.line, 1, message.format(id=section.id or section.title))
            yield replace(problem, rule="step-without-check")
        for draft in drafts:
            yield from _later(draft, order)
            yield from _function(draft, functions)
            yield from _addon_of_check(draft, reading)


def _later(draft: CheckDraft, order: list[str]) -> Iterator[LabProblem]:
    """Checks run in the order of the lab: one that waits for a later one would always be skipped once."""
    after = draft.value.get("after")
    for index, name in enumerate(after if isinstance(after, list) else []):
        if name in order and draft.id in order and order.index(name) > order.index(draft.id):
            message = _("check '{name}' comes later in the lab: name one that comes before").format(name=name)
            yield draft.problem(("after", index), message)


def _functions(folder: Path) -> tuple[list[str], list[LabProblem]]:
    """The functions of `checks.py`, which is read and not run."""
    if not (folder / CHECKS_FILE).exists():
        return [], []
    found: list[LabProblem] = []
    source = read_source(folder / CHECKS_FILE, found)
    if source is None:
        return [], found
    try:
        tree = ast.parse(source.text)
    except SyntaxError as error:
        found.append(source.problem(error.lineno or 1, error.offset or 1, error.msg))
        return [], found
    except (RecursionError, MemoryError):
        found.append(source.problem(1, 1, _("nested too deeply")))
        return [], found
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef)], found


def _function(draft: CheckDraft, functions: list[str]) -> Iterator[LabProblem]:
    python = draft.value.get("python")
    name = python.get("function") if isinstance(python, dict) else None
    if isinstance(name, str) and name not in functions:
        message = _("no function '{name}' in checks.py").format(name=name)
        yield draft.problem(("python", "function"), message + did_you_mean(name, functions))


def _addon_of_check(draft: CheckDraft, reading: Reading) -> Iterator[LabProblem]:
    from grader.checks.objects import KINDS

    addons = reading.addons()
    if draft.check is None or addons is None:
        return
    for kind in sorted(draft.check.kind.kinds()):
        if message := _without_addon(kind, KINDS.get(kind, ""), addons):
            yield draft.problem((draft.check.kind.name,), message)


# -- values -----------------------------------------------------------------------------------------------


def _values(reading: Reading, found: list[LabProblem]) -> Iterator[LabProblem]:
    """Values that nothing uses, scripts that ask for one that is not declared, and what is wrong with other values
    than those that `found` was found with."""
    declared = declared_in(reading.written)
    used: set[str] = set()
    yield from wrong_scripts(_scripts(reading.folder), declared, used)
    if reading.written is not None and reading.filler is not None:
        yield from unused(reading.written, used | reading.filler.used)
    for values in trials(declared)[1:]:
        again: list[LabProblem] = []
        read_lab(reading.folder, again, values)
        for problem in sorted({*again} - {*found}):
            message = _("with {values}: {message}").format(values=told(values), message=problem.message)
            yield replace(problem, message=message)


def _values_of_translation(reading: Reading, translation: Outline) -> Iterator[LabProblem]:
    if reading.filler is not None:
        yield from wrong_prose(translation, reading.filler)
        yield from untranslated(reading.outline, translation, reading.filler)


# -- objects and labs beside it ---------------------------------------------------------------------------


def _objects(reading: Reading) -> Iterator[LabProblem]:
    """Start manifests that the cluster would refuse."""
    addons, home = reading.addons(), reading.namespace()
    namespaces = {*([home] if home else []), *_ALWAYS_THERE}
    namespaces |= {found.value["metadata"]["name"] for found in reading.start if found.value["kind"] == "Namespace"}
    for located in reading.start:
        namespace = located.value["metadata"].get("namespace")
        if home and namespace and namespace not in namespaces:
            message = _("nothing makes the namespace '{namespace}'").format(namespace=namespace)
            path = ("metadata", "namespace")
            yield located.problem(path, message + did_you_mean(namespace, namespaces))
        kind, api_version = located.value["kind"], located.value["apiVersion"]
        if addons is not None and (message := _without_addon(kind, api_version, addons)):
            yield located.problem(("kind",), message)


def _without_addon(kind: str, api_version: str, addons: tuple[str, ...]) -> str:
    addon = _ADDON_OF.get(api_version) or _ADDON_OF.get(api_version.partition("/")[0], "")
    if not addon or addon in addons:
        return ""
    return _("the cluster has no {kind} without the add-on '{addon}'").format(kind=kind, addon=addon)


def _other_labs(reading: Reading) -> Iterator[LabProblem]:
    """`after` names labs that stand beside this one, and no lab comes after itself by way of others."""
    written = reading.written
    after = None if written is None else written.value.get("after")
    if written is None or not isinstance(after, list):
        return
    folder = reading.folder.resolve()
    known = lab_folders(folder.parent)
    for index, name in enumerate(after):
        if isinstance(name, str) and name not in known:
            message = _("no lab '{name}' beside this one").format(name=name) + did_you_mean(name, known)
            yield written.problem(("after", index), message)
    for circle in circles({name: prerequisites(folder.parent / name) for name in known}):
        if len(circle) > 1 and folder.name in circle:
            message = _("'after' goes round in a circle: {circle}")
            yield written.problem(("after",), message.format(circle=" → ".join([*circle, circle[0]])))
