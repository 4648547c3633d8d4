"""A lab while it is written: its text as a learner will see it, and for its author what each check expects and last
found.

Owns reading a lab's folder again and again, and the author's view of a check as rows; knows nothing of terminals.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import grader
from cluster.errors import Problem
from cluster.i18n import _, language
from grader.author.expected import Expected, expectations, session_world
from grader.lab.lint import lint_lab
from grader.lab.parse import parse_lab
from grader.session.examiner_client import answers
from grader.session.places import examiner_socket, history_file

if TYPE_CHECKING:
    from grader.checks.base import Check
    from grader.lab.model import Lab, Step
    from grader.lab.problems import LabProblem
    from grader.results import Result

LOOK_SECONDS: Final = 30.0
"""How long a running session may take to judge its checks once."""
Row = tuple[str, str]
"""A label and a text; rows without a label go on with the one before."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The files of a lab at one moment."""

    lab: Lab | None
    """None where they can't be read as a lab."""
    problems: tuple[LabProblem, ...]
    """All that lint finds; some of it hinders nobody from reading the lab."""


@dataclass(frozen=True, slots=True)
class AuthorsView:
    """What is known of the checks beside their text."""

    expected: Mapping[str, Sequence[Expected]] = field(default_factory=dict)
    """Check id → what it wants, with the session's values where there are any."""
    results: Mapping[str, Result] = field(default_factory=dict)
    """Check id → what the running session last found."""
    session: bool = False
    """Whether there is a session whose history could be read."""


def read_preview(folder: Path) -> Preview:
    """The lab in `folder` as it is now, in the language in force."""
    problems = lint_lab(folder)
    lab, unreadable = parse_lab(folder, language())
    return Preview(lab, tuple(sorted({*problems, *unreadable})))


def stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Changes when any file of the lab does, comes or goes."""
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "__"))]
        for name in names:
            path = os.path.join(parent, name)  # noqa: PTH118  # many times a second
            try:
                info = os.stat(path)  # noqa: PTH116  # see above
            except OSError:
                continue  # an editor's own file, gone already
            found.append((path, info.st_mtime_ns, info.st_size))
    return tuple(sorted(found))


class Settled:
    """Whether files have changed and now stay as they are: editors write in several steps."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shown = self._last = stamp(folder)

    def changed(self) -> bool:
        """True once for each change, at the second look that finds the same."""
        now = stamp(self._folder)
        same, self._last = now == self._last, now
        if same and now != self._shown:
            self._shown = now
            return True
        return False


def step_text(step: Step, *, hints: bool) -> str:
    """A step as markdown, as the learner's screens show it."""
    text = f"# {step.number}. {step.title}\n\n{step.body}"
    for number, hint in enumerate(step.hints if hints else (), start=1):
        title = _("Hint {number} of {total}").format(number=number, total=len(step.hints))
        text += f"\n\n### {title}\n\n{hint.text}"
    return text


def authors_view(lab: Lab, home: Path, results: Sequence[Result] = ()) -> AuthorsView:
    """What the checks of `lab` expect, by the session in `home` if there is one; `results` are told beside it."""
    checks = [check for step in lab.steps for check in step.checks]
    found = {result.check: result for result in results}
    if history_file(home).exists():
        try:
            with session_world(home, lab) as world:
                return AuthorsView({check.id: expectations(check, world) for check in checks}, found, session=True)
        except Problem:
            pass  # as without one: it is being started or reset just now
    return AuthorsView({check.id: expectations(check, None) for check in checks}, found)


def last_results(home: Path) -> list[Result]:
    """One look of the running session in `home` at its checks, which is no attempt; nothing where none runs.

    What runs in the lab is judged in the lab: commands and the functions of `checks.py` are run there.
    """
    from grader.report.json import parse_results

    if not answers(examiner_socket(home)):
        return []
    argv = [sys.executable, "-m", "grader.session.examiner_client", str(examiner_socket(home))]
    environment = {**os.environ, "PYTHONPATH": str(Path(grader.__file__).resolve().parents[1]), "PYTHONSAFEPATH": "1"}
    with subprocess.Popen(
        [*argv, "--lang", language(), "check", "--watch", "--json", "--explain"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        timer = threading.Timer(LOOK_SECONDS, process.kill)
        timer.start()
        assert process.stdout is not None
        line = process.stdout.readline()
        timer.cancel()
        process.terminate()
    try:
        return parse_results(line)
    except ValueError:
        return []


def check_rows(check: Check, view: AuthorsView) -> Iterator[Row]:
    """The author's view of one check: what it is, what it expects, what was last found and how long that took."""
    about = [check.kind.name, _("hold {hold}").format(hold=check.hold)]
    if check.within:
        about.append(_("within {seconds} s").format(seconds=check.within))
    if check.weight != 1:
        about.append(_("weight {weight}").format(weight=check.weight))
    if check.after:
        about.append(_("after {checks}").format(checks=", ".join(check.after)))
    yield _("kind"), ", ".join(about)
    label = _("expects")
    for expected in view.expected.get(check.id, ()):
        yield label, _expected(expected)
        label = ""
    result = view.results.get(check.id)
    if result is None:
        return
    yield _("found"), f"{result.state.value}: {result.finding.saw}" if result.finding.saw else result.state.value
    told = (*result.decided, *result.read)
    evidence = [line for line in result.evidence if not any(one.startswith(line) for one in told)]
    for label, lines in ((_("read"), result.read), (_("decided"), result.decided), (_("evidence"), evidence)):
        for number, line in enumerate(lines):
            yield ("" if number else label), line
    yield _("took"), _("{seconds} s").format(seconds=f"{result.seconds:.3f}")


def _expected(expected: Expected) -> str:
    what = f"{expected.what} = " if expected.what else ""
    if expected.value is None:
        trouble = f"  ({expected.trouble})" if expected.trouble else ""
        return f"{what}{expected.source}{trouble}"
    if expected.source in ("", expected.value):
        return f"{what}{expected.value}"
    return f"{what}{expected.value}  ← {expected.source}"
