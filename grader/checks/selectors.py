"""Label selectors: the text kubectl's `-l` takes, applied to objects we already hold.

Owns the syntax (equality, `in`, `notin`, existence); asks no cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.objects import Object, labels

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Requirement:
    """One comma-separated part: `operator` is one of in, notin, exists, absent."""

    key: str
    operator: str
    values: frozenset[str] = frozenset()

    def holds(self, of: Mapping[str, str]) -> bool:
        """Whether labels `of` meet it; like Kubernetes, `!=` and `notin` hold where the key is missing."""
        if self.operator == "exists":
            return self.key in of
        if self.operator == "absent":
            return self.key not in of
        return (of.get(self.key) in self.values) == (self.operator == "in")


@dataclass(frozen=True, slots=True)
class Selector:
    """Every requirement must hold; none at all selects everything."""

    requirements: tuple[Requirement, ...]

    def matches(self, obj: Object) -> bool:
        """Whether the object's labels meet every requirement."""
        of = labels(obj)
        return all(requirement.holds(of) for requirement in self.requirements)


@lru_cache(maxsize=256)
def parse_selector(text: str) -> Selector:
    """`a=b,c!=d,e in (f,g),h notin (i),j,!k`; ValueError says which part is wrong."""
    return Selector(tuple(_requirement(part, text) for part in _parts(text)))


def _parts(text: str) -> list[str]:
    """Split at the commas outside parentheses."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return parts if text.strip() else []


def _requirement(part: str, whole: str) -> Requirement:
    for sign, operator in (("!=", "notin"), ("==", "in"), ("=", "in")):
        key, found, value = part.partition(sign)
        if found:
            return Requirement(_key(key, whole), operator, frozenset({_value(value, whole)}))
    head, paren, values = part.strip().partition("(")
    if paren:
        key, _space, operator = head.strip().rpartition(" ")
        if operator in ("in", "notin") and values.endswith(")"):
            names = values[:-1].split(",")
            return Requirement(_key(key, whole), operator, frozenset(_value(name, whole) for name in names))
    if part.strip().startswith("!"):
        return Requirement(_key(part.strip()[1:], whole), "absent")
    return Requirement(_key(part, whole), "exists")


def _key(text: str, whole: str) -> str:
    key = text.strip()
    if not key or any(not (character.isalnum() or character in "-_./") for character in key):
        raise ValueError(
            _("{part} is not a label's key in the selector {selector}").format(part=repr(key), selector=repr(whole))
        )
    return key


def _value(text: str, whole: str) -> str:
    value = text.strip()
    if any(not (character.isalnum() or character in "-_.") for character in value):
        raise ValueError(
            _("{part} is not a label's value in the selector {selector}").format(part=repr(value), selector=repr(whole))
        )
    return value
