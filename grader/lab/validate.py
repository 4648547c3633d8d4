"""From a located YAML value to a pydantic model, and from pydantic's errors to places and plain words.

Owns the wording of what is wrong with a value; knows no particular model.
"""

from __future__ import annotations

import json
import re
import types
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from cluster.i18n import _
from grader.lab.markdown import ID
from grader.lab.problems import LabProblem, did_you_mean, unknown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pydantic_core import ErrorDetails

    from grader.lab.located import Located, Path

Model = TypeVar("Model", bound=BaseModel)
_SHOWN = 40  # characters of a wrong value that a message repeats


def validate(
    model: type[Model], value: object, located: Located, found: list[LabProblem], at: Path = ()
) -> Model | None:
    """`model` from `value`, which stands at the path `at` of the document; None, and every reason in `found`.

    Read as strict JSON: true is no number, 3 is no text, and a list may become a tuple.
    """
    try:
        return model.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        found.extend(explain(error, model, located, at))
        return None


def as_text_where_wanted(
    model: type[BaseModel], value: object, located: Located, numbers: Collection[Path], at: Path
) -> Any:
    """`value`, at the path `at`, with those of the numbers at the paths `numbers` as text that `model` wants so."""
    try:
        model.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        wanted = {
            located.existing(at + details["loc"])
            for details in error.errors(include_url=False)
            if details["type"] == "string_type"
        }
        return _with_text(value, at, wanted.intersection(numbers))
    return value


def _with_text(value: Any, at: Path, wanted: Collection[Path]) -> Any:
    if isinstance(value, dict):
        return {key: _with_text(inner, (*at, key), wanted) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_text(inner, (*at, index), wanted) for index, inner in enumerate(value)]
    return str(value) if at in wanted else value


def explain(error: ValidationError, model: type[BaseModel], located: Located, at: Path = ()) -> list[LabProblem]:
    """What `error` says of the value at the path `at`: one problem for each fault, at its place."""
    faults = [_fault(details, model, located, at) for details in error.errors(include_url=False)]
    problems = []
    for path in dict.fromkeys(fault.path for fault in faults):
        here = [fault for fault in faults if fault.path == path]
        if any(_is_below(other.path, path) for other in faults):
            # A value that may have one of several shapes is refused once for each of them: where there are
            # faults inside the value, it has one of the shapes, and only those faults are news.
            here = [fault for fault in here if not fault.of_union]
        if shapes := [fault.shape for fault in here if fault.shape]:
            problems.append(located.problem(path, _subject(path, at) + _must_be(shapes, here[0].input)))
        for fault in here:
            if not fault.shape:
                subject = _subject(path[:-1] if fault.of_key else path, at)
                problems.append(located.problem(path, subject + fault.message, key=fault.of_key))
    return list(dict.fromkeys(problems))


@dataclass(frozen=True, slots=True)
class _Fault:
    """One of pydantic's errors in our terms: `shape` ("a list") for a wrong type, else a whole `message`."""

    path: Path
    input: Any
    of_union: bool
    """It is said of one shape among several that the value might have had."""
    of_key: bool
    shape: str
    message: str


def _fault(details: ErrorDetails, model: type[BaseModel], located: Located, at: Path) -> _Fault:
    loc, kind, context = details["loc"], details["type"], details.get("ctx", {})
    path = located.existing(at + loc)
    is_missing = kind == "missing"
    shape = _shape(kind, context)
    if is_missing:
        message = _("missing key '{key}'").format(key=loc[-1])
    elif kind == "extra_forbidden":
        message = unknown(_("unknown key '{word}'"), loc[-1], _keys(_models_at(model, loc[:-1])))
    else:
        message = "" if shape else _sentence(kind, context) or details["msg"]
        if loc[-1:] == ("[key]",):
            message = _("key '{key}': {message}").format(key=loc[-2], message=message)
    return _Fault(
        path=path,
        input=details.get("input"),
        of_union=len(path) + is_missing < len(at) + len(loc),
        of_key=kind == "extra_forbidden" or loc[-1:] == ("[key]",),
        shape=shape,
        message=message,
    )


def _shape(kind: str, context: dict[str, Any]) -> str:
    """What kind of value is wanted, for the errors that say just this."""
    if kind in ("literal_error", "enum"):
        return str(context.get("expected", "")).replace(" or ", _(" or "))
    shapes = {
        "string_type": _("text"),
        "int_type": _("a whole number"),
        "int_from_float": _("a whole number"),
        "int_parsing": _("a whole number"),
        "float_type": _("a number"),
        "bool_type": _("true or false"),
        "list_type": _("a list"),
        "tuple_type": _("a list"),
        "dict_type": _("a mapping (key: value)"),
        "model_type": _("a mapping (key: value)"),
        "none_required": _("blank"),
    }
    return shapes.get(kind, "")


def _sentence(kind: str, context: dict[str, Any]) -> str:
    """What is wrong with a value of the right kind; nothing for an error that has no words of ours."""
    if kind in ("value_error", "assertion_error"):
        return str(context["error"])
    if kind == "string_pattern_mismatch" and context["pattern"].rstrip("$").lstrip("^") == ID.pattern[:-2]:
        return _("use lower-case letters, digits and single hyphens")
    sentences = {
        "string_pattern_mismatch": _("must match {pattern}"),
        "greater_than_equal": _("must be {ge} or more"),
        "greater_than": _("must be more than {gt}"),
        "less_than_equal": _("must be {le} or less"),
        "less_than": _("must be less than {lt}"),
        "string_too_short": _("must not be empty"),
        "string_too_long": _("must have at most {max_length} characters"),
        "too_short": _("must have at least {min_length} entries"),
        "too_long": _("must have at most {max_length} entries"),
    }
    return sentences[kind].format(**context) if kind in sentences else ""


def _must_be(shapes: list[str], value: object) -> str:
    wanted = list(dict.fromkeys(shapes))
    message = _("must be {shapes}, not {value}").format(shapes=_(" or ").join(wanted), value=_shown(value))
    if _("text") in wanted and isinstance(value, bool | int | float):
        message += _(" (put it in quotes)")
    if isinstance(value, str):
        message += did_you_mean(value, [word for shape in wanted for word in re.findall("'([^']*)'", shape)])
    return message


def _shown(value: object) -> str:
    if value is None:
        return _("blank")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return _("a list")
    if isinstance(value, dict):
        return _("a mapping")
    from grader.checks.words import shorten

    text = shorten(str(value), _SHOWN)
    return f"'{text}'" if isinstance(value, str) else text


def _subject(path: Path, at: Path) -> str:
    """`cluster.nodes[0].gpus: `, the value that is spoken of; nothing for the whole document or list item."""
    parts = path[1:] if at and isinstance(at[0], int) else path
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".") + ": " if text else ""


def _is_below(path: Path, parent: Path) -> bool:
    return len(path) > len(parent) and path[: len(parent)] == parent


# -- which model stands at a place ----------------------------------------------------------------------


def _keys(models: Iterable[type[BaseModel]]) -> list[str]:
    return [field.alias or name for model in models for name, field in model.model_fields.items()]


def _models_at(model: type[BaseModel], loc: tuple[str | int, ...]) -> list[type[BaseModel]]:
    here = _members(model)
    for part in loc:
        named = [member for member in here if _is_tag(part, member)]
        here = named or [inner for member in here for inner in _members(_inside(member, part))]
    return [member for member in here if isinstance(member, type) and issubclass(member, BaseModel)]


def _is_tag(part: str | int, member: Any) -> bool:
    """Whether `part` of an error's path names a union's member: `Count` or `function-after[…, Count]`."""
    name = getattr(member, "__name__", "")
    return isinstance(part, str) and bool(name) and (part == name or part.endswith((f" {name}]", f"[{name}]")))


def _members(annotation: Any) -> list[Any]:
    """The types a value may have: the annotation without Annotated, and the members of a union."""
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _members(typing.get_args(annotation)[0])
    if origin in (typing.Union, types.UnionType):
        return [inner for member in typing.get_args(annotation) for inner in _members(member)]
    return [annotation]


def _inside(annotation: Any, part: str | int) -> Any:
    """The type of what stands under `part` in a value of type `annotation`; None where that is not known."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            if part in (name, field.alias):
                return field.annotation
        return None
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) in (list, tuple) and isinstance(part, int):
        return arguments[0]
    if typing.get_origin(annotation) is dict:
        return arguments[1]
    return None
