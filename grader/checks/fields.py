"""The field types of check blocks: each refuses what could never be right, with its place in the file.

Owns `Model` and the annotated types; knows nothing of checks.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from cluster.i18n import _
from grader.checks import templates
from grader.checks.objects import parse_path
from grader.checks.selectors import parse_selector

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ABSENT_MARK, ANY_MARK = "<absent>", "<any>"
"""Wanted values of a partial match that mean "must not be there" and "there, whatever it is"."""

ONLY_MARK = "<only>"
"""First in a wanted list: what follows, and nothing else."""


class Model(BaseModel):
    """Data of a lab file: no unknown keys, never changed after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _good_path(text: str) -> str:
    parse_path(text)
    return text


def _good_selector(text: str) -> str:
    parse_selector(text)
    return text


def _good_template(text: str) -> str:
    if wrong := templates.problem(text):
        raise ValueError(wrong)
    return text


def _good_file(text: str) -> str:
    path = PurePosixPath(text)
    if not text.strip() or path.is_absolute() or ".." in path.parts or "\0" in text or path == PurePosixPath():
        raise ValueError(_("{name} is not a file inside the work folder").format(name=repr(text)))
    return text


def _good_partial(wanted: dict[str, Any]) -> dict[str, Any]:
    if not wanted:
        raise ValueError(_("an empty map matches everything: say what is wanted"))
    if _misplaced(wanted):
        raise ValueError(_("{mark} begins a list, and something follows it").format(mark=ONLY_MARK))
    marks = (ABSENT_MARK, ANY_MARK, ONLY_MARK)
    for text in strings_of(wanted):
        if text.startswith("<") and text.endswith(">") and text not in marks:
            raise ValueError(_("{mark} is none of {marks}").format(mark=repr(text), marks=", ".join(marks)))
        if wrong := templates.problem(text):
            raise ValueError(wrong)
    return wanted


def _misplaced(value: object) -> bool:
    """Whether ONLY_MARK stands where it means nothing."""
    if isinstance(value, dict):
        return any(map(_misplaced, value.values()))
    if isinstance(value, (list, tuple)):
        rest = value[1:] if value[:1] == [ONLY_MARK] and len(value) > 1 else value
        return any(map(_misplaced, rest))
    return value == ONLY_MARK


def strings_of(value: object) -> Iterator[str]:
    """Every string inside a value of a lab file, keys apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from strings_of(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings_of(item)


Name = Annotated[str, Field(min_length=1)]
Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]
Identifier = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Number = Annotated[int, Field(strict=True, ge=0)]
Flag = Annotated[bool, Field(strict=True)]
Path = Annotated[str, Field(min_length=1), AfterValidator(_good_path)]
SelectorText = Annotated[str, AfterValidator(_good_selector)]
Template = Annotated[str, Field(min_length=1), AfterValidator(_good_template)]
FileName = Annotated[str, Field(min_length=1), AfterValidator(_good_file)]
Partial = Annotated[dict[str, Any], AfterValidator(_good_partial)]


def names_problem(sources: Iterable[str], names: Iterable[str]) -> str:
    """The first template that uses a name nothing defines, in words; empty where all is well."""
    allowed = frozenset(names)
    return next((wrong for source in sources if (wrong := templates.problem(source, allowed))), "")
