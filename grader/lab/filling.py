"""Where a lab's text says `{{ values.replicas }}`, and what stands there in one session.

Owns finding and replacing these places, so that a lab with values filled in is an ordinary lab to all who read it.
What else stands between braces is left as it is: Helm, Go templates, Jinja over objects. Knows nothing of which
values there may be (`grader.lab.values`) or of which files a lab has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.lab.problems import LabProblem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grader.lab.located import Located, Path
    from grader.lab.values import Value

NAME = "values"
_BRACES = re.compile(r"\{\{(?P<code>[^\n]*?)\}\}")
_ANY = re.compile(r"\{(?P<mark>[{%])(?P<code>[^\n]*?)[}%]\}")
_MENTIONED = re.compile(rf"(?<![\w.$]){NAME}\b")
_GAP = ("whitespace",)


class Misfit(Exception):
    """A place for a value that can't be filled: `message` says why, `code` is what stands there."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.message, self.code = message, code


@dataclass(slots=True)
class Filler:
    """Fills the values of one session into a lab's texts, and remembers which were used where."""

    values: Mapping[str, Value]
    used: set[str] = field(default_factory=set)

    def prose(self, text: str) -> str:
        """Markdown, or the text of a manifest, with each `{{ … }}` that speaks of values alone replaced.

        Misfit where one can't be.
        """
        for found in _ANY.finditer(text):
            if found["mark"] == "%" and _MENTIONED.search(found["code"]):
                raise Misfit(_("'{{% … %}}' can't be used here, only '{{{{ … }}}}'").format(), found[0])
        return _BRACES.sub(self._replaced, text)

    def plain(self, text: str) -> Any:
        """As `prose`; the value itself where nothing else stands in `text`: a number stays a number."""
        whole = _BRACES.fullmatch(text.strip())
        if whole and _MENTIONED.search(whole["code"]):
            return self._alone(whole[0])
        return self.prose(text)

    def template(self, text: str) -> Any:
        """As `plain`, for a text that may be a template over objects: where a value stands beside these, it is put in
        as a literal, and the rest is left to be rendered later."""
        if not _MENTIONED.search(text):
            return text
        try:
            source, groups = self._with_literals(text)
            closed = [group for group in groups if not _open_names(group)]
        except _template_error():
            return text  # what is wrong with it is said where templates are checked
        if closed == [source.strip()]:
            return self._result(closed[0], text)
        for group in closed:
            source = source.replace(group, str(_as_text(self._result(group, text))))
        return source

    # -- pieces -----------------------------------------------------------------------------------------

    def _replaced(self, found: re.Match[str]) -> str:
        return str(_as_text(self._alone(found[0]))) if _MENTIONED.search(found["code"]) else found[0]

    def _alone(self, braces: str) -> Any:
        try:
            source, _groups = self._with_literals(braces)
            others = _open_names(source)
        except _template_error() as error:
            raise Misfit(_("can't be read: {why}").format(why=error), braces) from error
        if others:
            message = _("only values can be used here, not '{name}'").format(name=sorted(others)[0])
            raise Misfit(message + did_you_mean(sorted(others)[0], [NAME]), braces)
        return self._result(source, braces)

    def _with_literals(self, text: str) -> tuple[str, list[str]]:
        """`text` with each `values.name` as a literal, and those of its `{{ … }}` in which there was one."""
        tokens = list(_lexer().tokeniter(text, None))
        out: list[str] = []
        groups: list[str] = []
        opened, touched, number = 0, False, 0
        while number < len(tokens):
            _line, kind, word = tokens[number]
            if kind == "variable_begin":
                opened, touched = len(out), False
            if kind == "name" and word == NAME and not _follows_dot(tokens, number):
                name, number = _attribute(tokens, number, text)
                out.append(self._literal(name, text))
                touched = True
            else:
                out.append(word)
            if kind == "variable_end" and touched:
                groups.append("".join(out[opened:]))
            number += 1
        return "".join(out), groups

    def _literal(self, name: str, text: str) -> str:
        if name not in self.values:
            message = _("no value '{name}' in the front matter").format(name=name)
            raise Misfit(message + did_you_mean(name, self.values), _around(text, name))
        self.used.add(name)
        value = self.values[name]
        return f"'{value}'" if isinstance(value, str) else str(value)

    def _result(self, source: str, written: str) -> Any:
        """What the one expression of `source` gives."""
        from grader.checks import templates

        try:
            found = templates.evaluated(source.strip()[2:-2].strip("-+ \t\n"))
        except (templates.BadTemplateError, templates.NoValueError) as error:
            raise Misfit(str(error), written) from error
        if not isinstance(found, str | int | float):
            raise Misfit(_("gives neither text nor a number"), written)
        return found


def fill_leaves(
    value: Any, fill: Callable[[str], Any], wrong: list[tuple[Path, Misfit]], at: Path = ()
) -> tuple[Any, set[Path]]:
    """`value`, of YAML, with every text filled by `fill`, and the paths at which the text became a number.

    What can't be filled is kept as it is, and told in `wrong` with its path.
    """
    numbers: set[Path] = set()
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        filled = {}
        for key, inner in items:
            if isinstance(key, str) and (found := _ANY.search(key)) and _MENTIONED.search(found["code"]):
                wrong.append(((*at, key), Misfit(_("a key can't hold a value"), found[0])))
            filled[key], below = fill_leaves(inner, fill, wrong, (*at, key))
            numbers |= below
        return (filled if isinstance(value, dict) else list(filled.values())), numbers
    if not isinstance(value, str):
        return value, numbers
    try:
        found_value = fill(value)
    except Misfit as misfit:
        wrong.append((at, misfit))
        return value, numbers
    return found_value, (numbers if isinstance(found_value, str) else {at})


def misplaced(located: Located, wrong: list[tuple[Path, Misfit]]) -> Iterator[LabProblem]:
    """The misfits of a YAML document, each where it stands in the file."""
    for path, misfit in wrong:
        line, column = located.place(path)
        yield place_of(located.source.text, line, column, misfit, str(located.source.path))


def place_of(text: str, line: int, column: int, misfit: Misfit, file: str) -> LabProblem:
    """`misfit` at the first place from `line` on where its words stand; at (`line`, `column`) where they don't."""
    for number, words in enumerate(text.split("\n")[line - 1 :], start=line):
        at = words.find(misfit.code)
        if at >= 0:
            return LabProblem(file, number, at + 1, misfit.message)
    return LabProblem(file, line, column, misfit.message)


# -- Jinja's own lexer ------------------------------------------------------------------------------------


def _lexer() -> Any:
    from grader.checks import templates

    return templates.lexer()


def _template_error() -> type[Exception]:
    from jinja2 import TemplateError

    return TemplateError


def _open_names(source: str) -> frozenset[str]:
    from grader.checks import templates

    return templates.names(source)


def _follows_dot(tokens: list[tuple[int, str, str]], number: int) -> bool:
    """Whether the name at `number` is an attribute or a filter: `spec.values`, `x | values`."""
    before = next((token for token in reversed(tokens[:number]) if token[1] not in _GAP), (0, "", ""))
    return before[1] == "operator" and before[2] in (".", "|")


def _attribute(tokens: list[tuple[int, str, str]], number: int, text: str) -> tuple[str, int]:
    """The name behind `values.` and where it stands among the tokens."""
    rest = [(at, token) for at, token in enumerate(tokens[number + 1 :], number + 1) if token[1] not in _GAP][:2]
    if len(rest) < 2 or rest[0][1][2] != "." or rest[1][1][1] != "name":
        raise Misfit(_("write 'values.name', with a name of the front matter"), _around(text, NAME))
    return rest[1][1][2], rest[1][0]


def _around(text: str, word: str) -> str:
    """The `{{ … }}` of `text` that holds `word`."""
    named = re.compile(rf"\b{re.escape(word)}\b")
    return next((found[0] for found in _ANY.finditer(text) if named.search(found["code"])), text)


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value
