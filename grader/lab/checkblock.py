"""Check blocks: a list of checks in YAML, each an envelope and exactly one kind.

Owns how a check is spelled and that checks fit together (`after`, `before`, ids); what a kind may say is the
business of its model in `grader.checks`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.lab.filling import Filler, Misfit, fill_leaves, misplaced
from grader.lab.graph import circles
from grader.lab.located import Located, read_document
from grader.lab.problems import LabProblem, did_you_mean, unknown
from grader.lab.validate import Model, as_text_where_wanted, validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grader.checks.base import Check
    from grader.lab.located import Path
    from grader.lab.markdown import CheckBlock
    from grader.lab.problems import Source

_SAME_FOR_ALL = ("id", "after", "hold", "within", "weight")
"""Keys of a check that may not differ from learner to learner: other files name them, sums count them."""


@dataclass(frozen=True, slots=True)
class CheckDraft:
    """A check as it was written, at `path` of its block: `check` is None where anything in it is wrong."""

    id: str
    """Empty where it has none that is text."""
    value: dict[str, Any]
    located: Located
    path: Path
    check: Check | None = None
    spoilt: bool = False
    """Whether a value could not be filled in: whatever else seems wrong may be wrong for that."""
    numbers: frozenset[Path] = frozenset()
    """The paths, in the block, at which a value was filled in as a number."""

    @property
    def line(self) -> int:
        """Where it begins in the file."""
        return self.located.place(self.path)[0]

    def problem(self, path: Path, message: str) -> LabProblem:
        """`message` at a place inside the check."""
        return self.located.problem((*self.path, *path), message)


def read_items(
    block: CheckBlock, source: Source, found: list[LabProblem], filler: Filler | None = None
) -> list[CheckDraft]:
    """The entries of a check block as plain mappings with the values of `filler` in them, not yet validated."""
    located = read_document(source, found, text=block.text, first_line=block.first_line, indent=block.indent)
    if located is None:
        return []
    if not isinstance(located.value, list):
        found.append(located.problem((), _("a check block must be a list: begin each check with '- id:'")))
        return []
    drafts = []
    for index, value in enumerate(located.value):
        if isinstance(value, dict):
            check_id = value.get("id")
            draft = CheckDraft(check_id if isinstance(check_id, str) else "", value, located, (index,))
            drafts.append(draft if filler is None else _filled(draft, filler, found))
        else:
            found.append(located.problem((index,), _("a check must be a mapping (key: value)")))
    return drafts


def _filled(draft: CheckDraft, filler: Filler, found: list[LabProblem]) -> CheckDraft:
    """The draft with values where it speaks of them; what tells one check from another can't hold any."""
    wrong: list[tuple[Path, Misfit]] = []
    filled, numbers = fill_leaves(draft.value, filler.template, wrong, draft.path)
    for key in _SAME_FOR_ALL:
        if filled.get(key) != draft.value.get(key):
            message = _("{key}: can't hold a value, it is the same for every learner").format(key=key)
            found.append(draft.problem((key,), message))
            filled[key] = draft.value[key]
    found += misplaced(draft.located, wrong)
    return replace(draft, value=filled, numbers=frozenset(numbers), spoilt=bool(wrong))


def read_checks(
    block: CheckBlock, source: Source, found: list[LabProblem], filler: Filler | None = None
) -> list[CheckDraft]:
    """The checks of a block of `lab.md`."""
    return [_checked(draft, found) for draft in read_items(block, source, found, filler)]


def validated(draft: CheckDraft, model: type[Model], value: object, found: list[LabProblem], at: Path) -> Model | None:
    """As `validate`, where a value that was filled in as a number may be text as well, if that is wanted."""
    if draft.numbers:
        value = as_text_where_wanted(model, value, draft.located, draft.numbers, at)
    return validate(model, value, draft.located, found, at)


def _checked(draft: CheckDraft, found: list[LabProblem]) -> CheckDraft:
    from grader.checks import KINDS
    from grader.checks.base import Check, Envelope

    if draft.spoilt:
        return draft
    before = len(found)
    located, path = draft.located, draft.path
    kinds = [key for key in draft.value if key in KINDS]
    known = [*Envelope.model_fields, *KINDS]
    found += [
        located.problem((*path, key), unknown(_("unknown key '{word}'"), key, known), key=True)
        for key in draft.value
        if key not in known
    ]
    values = {key: value for key, value in draft.value.items() if key in Envelope.model_fields}
    envelope = validated(draft, Envelope, values, found, path)
    kind = None
    for name in kinds:
        wrong: list[LabProblem] = []
        kind = validated(draft, KINDS[name], draft.value[name], wrong, (*path, name))
        templates = list(_wrong_templates(draft, name)) if wrong else []
        found += [_at_template(problem, templates) for problem in wrong]
        told = {(problem.line, problem.column) for problem in wrong}
        found += [blank for blank in _blanks(draft, name) if (blank.line, blank.column) not in told]
    if not kinds and all(key in known for key in draft.value):
        message = _("no kind: one of {kinds} says what is checked").format(kinds=", ".join(KINDS))
        found.append(located.problem(path, message))
    for extra in kinds[1:]:
        message = _("'{extra}' beside '{first}': a check has one kind, make two checks of it")
        found.append(located.problem((*path, extra), message.format(extra=extra, first=kinds[0]), key=True))
    if envelope is None or kind is None or len(found) > before:
        return draft
    check = Check(**{name: getattr(envelope, name) for name in Envelope.model_fields}, kind=kind)
    return replace(draft, check=check)


def _blanks(draft: CheckDraft, kind: str) -> list[LabProblem]:
    """Values left blank where a model takes that for "not said": a rule its author counts on is gone."""
    return [
        draft.problem(path, _("{key}: is blank").format(key=path[-1]))
        for path, value in _leaves(draft.value[kind], (kind,))
        if value is None and "arguments" not in path
    ]


# -- templates: the place inside the text -----------------------------------------------------------------


def _wrong_templates(draft: CheckDraft, kind: str) -> Iterator[tuple[str, int, int]]:
    """(what is wrong, line, column) for every text of the check that is a malformed template."""
    from grader.checks import templates

    for path, text in _leaves(draft.value[kind], (*draft.path, kind)):
        if isinstance(text, str) and templates.is_template(text) and (flaw := templates.flaw(text)):
            message, inside = flaw
            line, column = draft.located.place(path)
            if draft.located.style(path) in ("|", ">"):
                line, column = line + 1, 1  # a block scalar begins below its indicator
            elif inside == 1:
                yield message, line, column
                continue
            yield message, line + inside - 1, 1


def _at_template(problem: LabProblem, templates: Iterable[tuple[str, int, int]]) -> LabProblem:
    for message, line, column in templates:
        if message in problem.message:
            return LabProblem(problem.file, line, column, problem.message)
    return problem


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Every value that holds no others, with its path."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _leaves(inner, (*path, key))
    else:
        yield path, value


# -- how checks fit together ------------------------------------------------------------------------------


def across(drafts: Sequence[CheckDraft]) -> Iterator[LabProblem]:
    """What is wrong between the checks of a whole lab: ids given twice, unknown or circular references."""
    first: dict[str, CheckDraft] = {}
    for draft in drafts:
        if draft.id and draft.id in first:
            message = _("check id '{id}' again (first on line {line})")
            yield draft.problem(("id",), message.format(id=draft.id, line=first[draft.id].line))
        elif draft.id:
            first[draft.id] = draft
    for draft in drafts:
        for index, name in enumerate(_after(draft)):
            if isinstance(name, str) and name not in first:
                yield draft.problem(("after", index), _unknown_check(name, first))
        yield from _references(draft, first)
    yield from _cycles(first)


def _after(draft: CheckDraft) -> list[Any]:
    after = draft.value.get("after")
    return after if isinstance(after, list) else []


def _unknown_check(name: str, known: Iterable[str]) -> str:
    return _("no check '{name}' in this lab").format(name=name) + did_you_mean(name, known)


def _references(draft: CheckDraft, known: dict[str, CheckDraft]) -> Iterator[LabProblem]:
    """`before: <check id>` must name a check of kind `happened`."""
    if draft.check is None:
        return
    names = draft.check.kind.references()
    places = {value: path for path, value in _leaves(draft.value, ()) if path[-1] == "before"}
    for name in dict.fromkeys(names):
        if name not in known:
            message = _unknown_check(name, known)
        elif "happened" not in known[name].value:
            message = _("'{name}' is no check of the kind 'happened': there is no moment before it")
            message = message.format(name=name)
        else:
            continue
        yield draft.problem(places.get(name, ()), message)


def _cycles(drafts: dict[str, CheckDraft]) -> Iterator[LabProblem]:
    """Each circle of `after` once, at the `after` of the check in it that stands first."""
    for circle in circles({name: [n for n in _after(d) if isinstance(n, str)] for name, d in drafts.items()}):
        if len(circle) > 1:  # a check after itself is told by its own model
            message = _("'after' goes round in a circle: {circle}")
            yield drafts[circle[0]].problem(("after",), message.format(circle=" → ".join([*circle, circle[0]])))
