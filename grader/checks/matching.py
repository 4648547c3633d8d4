"""Partial match: what is wanted is in what is there, or the first few differences, with dotted paths.

Owns the rules of "matches" (see docs/checks.md): maps by key, lists by `name`/`type`/`key` in any order,
quantities by value, `<absent>` and `<any>`, Jinja in wanted values. Knows nothing of files or clusters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any

from cluster.i18n import _
from grader.checks import templates
from grader.checks.fields import ABSENT_MARK, ANY_MARK, ONLY_MARK
from grader.checks.objects import ABSENT, LIST_KEYS
from grader.checks.words import shown

_FIRST_FEW = 3

_QUANTITY_KEYS = frozenset(
    {"requests", "limits", "capacity", "allocatable", "nominalQuota", "borrowingLimit", "lendingLimit"}
    | {"total", "borrowed", "hard", "used", "storage", "usage", "minResources"}
)
"""Under these keys `1`, `"1"` and `"1000m"` are one amount; elsewhere strings are just strings."""

_SUFFIXES = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    **{letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", start=1)},
    **{letter + "i": Decimal(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
}


class Element(str):
    """A key that picks from a list: spelled in brackets."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where what is there is not what is wanted."""

    path: str
    """`spec.template.spec.containers["main"].image`."""
    wanted: str
    saw: str
    keys: tuple[str | int, ...] = ()
    """The path in pieces as far as it exists, to find its line in a file."""

    def __str__(self) -> str:
        return _("{path} is {saw}").format(path=self.path, saw=self.saw)


def differences(wanted: Mapping[str, Any], saw: Any, context: Mapping[str, Any]) -> list[Difference]:  # JSON
    """The first few differences; none: it matches. `context`: what Jinja in wanted values may use.

    NoValueError where a wanted value can't be told yet.
    """
    return list(islice(_differ(wanted, saw, context, ()), _FIRST_FEW))


def matches(wanted: Mapping[str, Any], saw: Any, context: Mapping[str, Any]) -> bool:  # JSON
    """Whether there is no difference."""
    return next(_differ(wanted, saw, context, ()), None) is None


def quantity(value: object) -> Decimal | None:
    """A Kubernetes quantity as a number: `1`, `"500m"`, `"64Gi"`, `1e3`; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    text = str(value).strip()
    number = text.rstrip("numkKMGTPEi")
    suffix = text[len(number) :]
    try:
        amount = Decimal(number) * _SUFFIXES[suffix]
    except (ArithmeticError, KeyError):
        return None
    return amount if amount.is_finite() else None


def explained(unlike: list[Difference]) -> tuple[str, str]:
    """The differences in words: what was wanted, what was seen."""
    wanted = "; ".join(_("{path} {wanted}").format(path=each.path, wanted=each.wanted) for each in unlike)
    return wanted, "; ".join(str(each) for each in unlike)


_Keys = tuple[str | int, ...]


def _differ(wanted: Any, saw: Any, context: Mapping[str, Any], keys: _Keys) -> Iterator[Difference]:  # JSON
    if isinstance(wanted, str) and templates.is_template(wanted):
        wanted = templates.render(wanted, context)
        if saw is not ABSENT and saw is not None and not isinstance(saw, (dict, list)):
            # Rendered values are text, whatever type the field has.
            saw_text = saw if isinstance(saw, str) else shown(saw)
            if wanted == saw_text:
                return
    if wanted == ABSENT_MARK:
        if saw is not ABSENT and saw is not None:
            yield _difference(_("nothing there"), saw, keys)
    elif wanted == ANY_MARK:
        if saw is ABSENT or saw is None:
            yield _difference(_("any value"), saw, keys)
    elif isinstance(wanted, Mapping):
        yield from _differ_map(wanted, saw, context, keys)
    elif isinstance(wanted, (list, tuple)):
        yield from _differ_list(wanted, saw, context, keys)
    elif not _same(wanted, saw, keys):
        yield _difference(shown(wanted), saw, keys)


def _differ_map(
    wanted: Mapping[str, Any],
    saw: Any,  # JSON
    context: Mapping[str, Any],
    keys: _Keys,
) -> Iterator[Difference]:
    if not isinstance(saw, dict):
        # Said at the deepest place: "spec.x.y is not there" tells more than "spec is not there".
        if saw is ABSENT or saw is None:
            for key, item in wanted.items():
                yield from _differ(item, ABSENT, context, (*keys, key))
            if not wanted:
                yield _difference(_("a map"), saw, keys)
        else:
            yield _difference(_("a map"), saw, keys)
        return
    for key, item in wanted.items():
        yield from _differ(item, saw.get(key, ABSENT), context, (*keys, key))


def _differ_list(
    wanted: list[Any] | tuple[Any, ...],
    saw: Any,  # JSON
    context: Mapping[str, Any],
    keys: _Keys,
) -> Iterator[Difference]:
    there = [] if saw is ABSENT or saw is None else saw
    if not isinstance(there, list):
        yield _difference(_("a list"), saw, keys)
        return
    if not wanted and there:
        yield _difference(_("an empty list"), saw, keys)
    only = wanted[0] == ONLY_MARK if wanted else False
    items = wanted[1:] if only else wanted
    unlike = False
    for item in items:
        for difference in _differ_element(item, there, context, keys):
            unlike = True
            yield difference
    if only and not unlike and len(there) > len(items):
        yield _difference(_("{items} and nothing else").format(items=shown(items)), saw, keys)


def _differ_element(
    item: Any,  # JSON
    there: list[Any],
    context: Mapping[str, Any],
    keys: _Keys,
) -> Iterator[Difference]:
    """Some element of the list matches; if none does, the differences of the one that is meant."""
    best: list[Difference] | None = None
    name = _named(item, context)
    for index, candidate in enumerate(there):
        if name and not (isinstance(candidate, dict) and candidate.get(name[0]) == name[1]):
            continue
        element = Element(name[1]) if name else index
        found = list(islice(_differ(item, candidate, context, (*keys, element)), _FIRST_FEW))
        if not found:
            return
        if best is None or len(found) < len(best):
            best = found
    if best is not None and (name or len(there) == 1):
        yield from best
    elif name:
        what = _("an element with {key} {value}").format(key=name[0], value=shown(name[1]))
        yield _difference(what, ABSENT, (*keys, Element(name[1])))
    else:
        yield _difference(_("an element {element}").format(element=shown(item)), there, keys)


def _named(item: object, context: Mapping[str, Any]) -> tuple[str, str] | None:
    """The key and value that tell which element of a list a wanted one means."""
    if not isinstance(item, Mapping):
        return None
    for key in LIST_KEYS:
        value = item.get(key)
        if isinstance(value, str) and value not in (ABSENT_MARK, ANY_MARK):
            return key, templates.render(value, context)
    return None


def _same(wanted: object, saw: object, keys: _Keys) -> bool:
    if wanted is None:
        return saw is None or saw is ABSENT
    if saw is None or saw is ABSENT or isinstance(saw, (dict, list)):
        return False
    if isinstance(wanted, bool) or isinstance(saw, bool):
        return wanted is saw
    if wanted == saw:
        return True
    if type(wanted) is type(saw) is str and not _QUANTITY_KEYS.intersection(keys):
        return False
    amount = quantity(wanted)
    return amount is not None and amount == quantity(saw)


def _difference(wanted: str, saw: object, keys: _Keys) -> Difference:
    there = _("not there") if saw is ABSENT or saw is None else shown(saw)
    return Difference(spelled(keys) or _("the object"), wanted, there, keys)


def spelled(keys: _Keys) -> str:
    """Keys as a dotted path, quoted where a key has dots or slashes itself."""
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key}]"
        elif (
            key and not isinstance(key, Element) and all(character.isalnum() or character in "-_" for character in key)
        ):
            text += f".{key}" if text else key
        else:
            text += f'["{key}"]'
    return text
