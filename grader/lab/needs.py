"""Solutions that need more than the lab says: commands that a learner is never told of.

Owns what counts as a command to be told of, and what counts as telling; how a script is read is `grader.lab.shell`'s.

A script does by itself what a learner does with eyes, patience and an editor: those tools need no word. Everything
else that a solution uses has to stand somewhere a learner has read when they come to the step: in the introduction,
in this step or one before it, in a hint, or in an article that the course puts before the lab or the text links to.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.errors import Problem
from cluster.i18n import LANGUAGES, _
from grader.lab.exceptions import read_exceptions
from grader.lab.markdown import read_outline
from grader.lab.overlay import translation_file
from grader.lab.problems import LabProblem, read_source
from grader.lab.scripts import solution_scripts
from grader.lab.shell import UNKNOWN, commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from grader.lab.markdown import Outline
    from grader.lab.shell import Command

_TOOLS_WORDS = (
    ". : [ [[ awk basename bash break cat cd chmod cmp continue cp cut date declare diff dirname echo "
    "egrep eval exit export expr false fgrep find grep head kill let local ls mkdir mktemp mv paste "
    "printf pwd read readonly return rm sed seq set sh shift sleep sort source tail tee test touch tr "
    "trap true type uniq unset wait wc"
)
TOOLS = frozenset(_TOOLS_WORDS.split())
"""What a script uses in the place of eyes, patience and an editor, where the learner works. In a pod all counts but
a shell."""
_SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_GLOBAL = frozenset(
    {"-n", "--namespace", "-o", "--output", "-f", "--filename", "--timeout", "--no-headers", "--ignore-not-found"}
)
"""Options of kubectl that need no word: whose they are stands in the text, and a person reads tables."""
_READING = frozenset({"get", "describe", "logs", "events", "top", "explain", "api-resources", "auth", "version"})
_SIEVES_WORDS = (
    "-l --selector --field-selector -A --all-namespaces --sort-by -w --watch -L --label-columns "
    "--show-labels --tail --since -c --container --recursive"
)
_SIEVES = frozenset(_SIEVES_WORDS.split())
"""Options by which a reading command shows less, where a person would read on."""
_WITH_VALUE_WORDS = "-n --namespace --context --kubeconfig --cluster --user -s --server --token -v --as --cache-dir"
_WITH_VALUE = frozenset(_WITH_VALUE_WORDS.split())
"""Options that may stand before kubectl's verb, with their value as the next word."""
_SUBCOMMANDS = frozenset({"rollout", "create", "config", "set", "certificate", "auth", "top", "cluster-info", "plugin"})
_PATIENCE = frozenset({"wait"})
"""Verbs of kubectl that only wait for what a learner sees come."""
_EDITED = {"patch": ("edit",), "replace": ("edit",), "annotate": ("edit",), "label": ("edit",)}
"""A script can't open an editor: a text that tells of that has told enough."""
_SAME = (
    ("-l", "--selector"),
    ("-f", "--filename"),
    ("-A", "--all-namespaces"),
    ("-c", "--container"),
    ("-p", "--patch"),
    ("-w", "--watch"),
    ("-i", "--stdin"),
    ("-t", "--tty"),
    ("-L", "--label-columns"),
    ("-k", "--kustomize"),
)
_CODE_SPAN = re.compile(r"(`+)((?:(?!\1).)+?)\1(?!`)", re.DOTALL)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE)
_ARTICLE = re.compile(r"\]\(article:([^)\s]+)")


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a solution uses: `kubectl patch`, `kubectl get --raw`, `grader complete`, `jq`; and where."""

    name: str
    line: int


def needs(script: str) -> list[Need]:
    """What a script uses that a learner has to be told of, each where it stands first."""
    found: dict[str, Need] = {}
    for command in commands(script):
        for name in _needs(command):
            found.setdefault(name, Need(name, command.line))
    return list(found.values())


def told(name: str, text: str) -> bool:
    """Whether the markdown `text` mentions in its code what a need is called."""
    return _told(name, _code(text))


def untold(folder: Path) -> Iterator[tuple[str, Path, Need, list[str]]]:
    """(step, its solution, what that needs, the files that never mention it), whatever is declared of it."""
    texts = [text for lang in LANGUAGES if (text := _text_of(folder, lang)) is not None]
    for step, script in solution_scripts(folder).items():
        source = read_source(script, [])
        for need in needs(source.text) if source is not None else ():
            lacking = [text.file for text in texts if text.tells(step, need.name) is False]
            if lacking:
                yield step, script, need, lacking


def command_problems(folder: Path, found: list[LabProblem]) -> None:
    """What the solutions of the lab in `folder` need and its text never mentions, in any of its languages; and
    declared exceptions that excuse nothing."""
    exceptions = read_exceptions(folder, [])  # what is wrong with them is told by who reads them first
    excused: set[int] = set()
    for step, script, need, lacking in untold(folder):
        allowed = {
            index for index, one in enumerate(exceptions.matter.commands) if (one.step, one.uses) == (step, need.name)
        }
        excused |= allowed
        if not allowed:
            message = _("uses `{what}`, which {files} never mentions up to this step, in its hints or an article")
            message = message.format(what=need.name, files=", ".join(lacking))
            found.append(LabProblem(str(script), need.line, 1, message))
    for index, one in enumerate(exceptions.matter.commands):
        if index not in excused:
            message = _("excuses nothing: the solution of '{step}' does not use `{what}`, or the text mentions it")
            found.append(exceptions.problem("commands", index, message.format(step=one.step, what=one.uses)))


# -- what a script needs ----------------------------------------------------------------------------------


def _needs(command: Command) -> Iterator[str]:
    name, *rest = command.words
    name = name.rpartition("/")[2]
    if UNKNOWN in name or not name or (name in TOOLS if not command.inside else name in _SHELLS):
        return
    if name == "kubectl":
        yield from _of_kubectl(rest)
    elif name == "grader":
        words = [word for word in rest if not word.startswith("-")]
        if words and UNKNOWN not in words[0]:
            yield f"grader {words[0]}"
    else:
        yield name


def _of_kubectl(words: list[str]) -> Iterator[str]:
    rest = iter(words)
    options: list[str] = []
    verb, sub = "", ""
    for word in rest:
        if word.startswith("-") and len(word) > 1:
            options.append(_option(word))
            if word in _WITH_VALUE and not verb:
                next(rest, "")
        elif not verb:
            verb = word
        elif not sub and verb in _SUBCOMMANDS:
            sub = word
    if not verb or UNKNOWN in verb or verb in _PATIENCE:
        return
    what = f"kubectl {verb} {sub}" if sub and re.fullmatch(r"[a-z-]+", sub) else f"kubectl {verb}"
    yield what
    free = _GLOBAL | _SIEVES if verb in _READING else _GLOBAL
    yield from (f"{what} {option}" for option in options if option not in free and UNKNOWN not in option)


def _option(word: str) -> str:
    name = word.partition("=")[0]
    return name if name.startswith("--") else name[:2]


# -- what a text tells ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Text:
    """The code in one language's text, by step, that of all before it included."""

    file: str
    by_step: dict[str, str]

    def tells(self, step: str, name: str) -> bool | None:
        """Whether it tells of a need before or in a step; None where it has no such step."""
        return _told(name, self.by_step[step]) if step in self.by_step else None


def _text_of(folder: Path, lang: str) -> _Text | None:
    path = folder / "lab.md" if lang == "en" else translation_file(folder, lang)
    source = read_source(path, []) if path.exists() else None
    if source is None:
        return None
    outline = read_outline(source, [])
    read = _code(outline.intro.body) + "".join(map(_code, _articles(folder, outline, lang)))
    by_step: dict[str, str] = {}
    for section in outline.steps:
        read += "".join(_code(text) for text in (section.body, *(hint.text for hint in section.asides)))
        by_step.setdefault(section.id, read)
    return _Text(path.name, by_step)


def _articles(folder: Path, outline: Outline, lang: str) -> Iterator[str]:
    """The articles that the text links to, and those that a course puts right before the lab."""
    from grader.content.catalogue import course_ids, load_article, load_course

    names = list(_ARTICLE.findall(outline.source.text))
    try:
        for course in map(load_course, course_ids()):
            articles = {item.id for item in course.path if item.kind == "article"}
            stops = [item for item in course.path if item.kind == "lab" and item.id == folder.name]
            names += [name for item in stops for name in item.after if name in articles]
    except Problem:
        pass  # lint of the content tells what is wrong with a course
    for name in dict.fromkeys(names):
        try:
            article = load_article(name, lang)
        except Problem:
            continue
        yield from (section.body for section in article.sections)


def _code(text: str) -> str:
    """The fenced blocks and code spans of a markdown text, one after the other; lines that go on are joined."""
    fenced = [match[2] for match in _FENCE.finditer(text)]
    spans = [match[2] for match in _CODE_SPAN.finditer(_FENCE.sub("", text))]
    return "".join(f"{part.rstrip()}\n" for part in (*fenced, *spans)).replace("\\\n", " ")


def _told(name: str, code: str) -> bool:
    program, *words = name.split()
    if program not in ("kubectl", "grader"):
        return _word(program, code)
    option = words.pop() if words[-1].startswith("-") else ""
    verbs = [words, *([other] for other in _EDITED.get(words[0], ()))]
    by_verb = [any(_command(program, verb, line) for line in code.split("\n")) for verb in verbs]
    if not option:
        return any(by_verb)
    # A text that tells of another way has told of no option of this one.
    return _any_word(_spellings(option), code) or (not by_verb[0] and any(by_verb[1:]))


def _command(program: str, words: Iterable[str], line: str) -> bool:
    pattern = rf"(?<![\w./-]){program}\b.*?" + r"\b.*?".join(rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in words)
    return re.search(pattern, line) is not None


def _spellings(option: str) -> tuple[str, ...]:
    return next((pair for pair in _SAME if option in pair), (option,))


def _any_word(words: Iterable[str], text: str) -> bool:
    return any(_word(word, text) for word in words)


def _word(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w./-]){re.escape(word)}(?![\w-])", text) is not None
