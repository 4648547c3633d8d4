"""Values that differ from session to session: what `values:` of the front matter may declare, and how one is chosen.

Owns the kinds of values, drawing one, and the few sets of values that a lab is proved with. Knows nothing of where a
value is written in a lab (`grader.lab.filling`) or of where a session keeps its own (`grader.session.values`).
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Value = int | str

LETTERS = "bcdfghjkmnpqrstvwxz"
"""What `letters` draws from: no vowels, so that no words come out, and nothing that looks like a digit."""
MOST = 16
"""Values a lab may declare."""
_LARGEST = 2**31 - 1
_NAME = r"^[a-z][a-z0-9_]*$"
# What means the same in YAML, in a shell without quotes, in a label and in Jinja: nothing to escape anywhere.
_TEXT = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._:/@+-]{0,61}[A-Za-z0-9])?\Z")

ValueName = Annotated[str, Field(pattern=_NAME, max_length=30)]


class ValueMatter(BaseModel):
    """What one value may be: one of a few, a whole number between two (both included), or some random letters."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    one_of: tuple[Annotated[int, Field(ge=0, le=_LARGEST)] | str, ...] | None = Field(
        None, min_length=2, max_length=8, description="One of these, all numbers or all text."
    )
    least: int | None = Field(None, alias="from", ge=0, le=_LARGEST, description="A whole number, at least this.")
    most: int | None = Field(None, alias="to", ge=0, le=_LARGEST, description="And at most this.")
    letters: int | None = Field(None, ge=2, le=16, description="So many lower-case letters.")

    @model_validator(mode="after")
    def _one_kind(self) -> ValueMatter:
        between = self.least is not None or self.most is not None
        if (self.one_of is not None) + between + (self.letters is not None) != 1:
            raise ValueError(_("say one of: one_of, from and to, letters"))
        if between and (self.least is None or self.most is None):
            raise ValueError(_("'from' and 'to' belong together"))
        if self.least is not None and self.most is not None and self.least >= self.most:
            raise ValueError(_("'from' must be less than 'to'"))
        if self.one_of is not None:
            _good_choice(self.one_of)
        return self


def _good_choice(among: Sequence[Value]) -> None:
    if len({type(value) for value in among}) > 1:
        raise ValueError(_("one_of: all numbers or all text, not both"))
    if len(set(among)) < len(among):
        raise ValueError(_("one_of: the same value again"))
    for value in among:
        if isinstance(value, str) and not _TEXT.match(value):
            message = _("one_of: '{value}': letters, digits and . _ : / @ + - inside, at most 63")
            raise ValueError(message.format(value=value))


def draw(declared: Mapping[str, ValueMatter]) -> dict[str, Value]:
    """A value for each name, unforeseeable."""
    return {name: _drawn(matter) for name, matter in declared.items()}


def _drawn(matter: ValueMatter) -> Value:
    if matter.one_of is not None:
        return secrets.choice(matter.one_of)
    if matter.letters is not None:
        return "".join(secrets.choice(LETTERS) for _each in range(matter.letters))
    assert matter.least is not None
    assert matter.most is not None
    return matter.least + secrets.randbelow(matter.most - matter.least + 1)


def fits(matter: ValueMatter, value: object) -> bool:
    """Whether `value` could have been drawn."""
    if matter.one_of is not None:
        return any(type(value) is type(one) and value == one for one in matter.one_of)
    if matter.letters is not None:
        return isinstance(value, str) and len(value) == matter.letters and set(value) <= set(LETTERS)
    assert matter.least is not None
    assert matter.most is not None
    return type(value) is int and matter.least <= value <= matter.most


def trials(declared: Mapping[str, ValueMatter]) -> list[dict[str, Value]]:
    """The sets of values a lab is proved with, always the same ones: each `one_of` at least once, both ends of each
    range, two sets of letters that have none in common. Empty where nothing is declared.

    As many as the longest `one_of` has entries, else two; not every combination, which would be their product.
    """
    ends = {name: _ends(matter) for name, matter in declared.items()}
    count = max(map(len, ends.values()), default=0)
    return [{name: values[number % len(values)] for name, values in ends.items()} for number in range(count)]


def _ends(matter: ValueMatter) -> tuple[Value, ...]:
    if matter.one_of is not None:
        return matter.one_of
    if matter.letters is not None:
        half = len(LETTERS) // 2
        return tuple(
            "".join(part[number % len(part)] for number in range(matter.letters))
            for part in (LETTERS[:half], LETTERS[half:])
        )
    assert matter.least is not None
    assert matter.most is not None
    return (matter.least, matter.most)


def example(declared: Mapping[str, ValueMatter]) -> dict[str, Value]:
    """The values that stand in the text of a lab that was never started."""
    return next(iter(trials(declared)), {})


def digest(values: Mapping[str, Value]) -> str:
    """`sha256:…` of the values, whatever their order; of none too."""
    text = json.dumps(dict(values), sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def environment(values: Mapping[str, Value]) -> dict[str, str]:
    """The values as variables of a shell: `VALUES_REPLICAS=3`."""
    return {variable(name): str(value) for name, value in values.items()}


def variable(name: str) -> str:
    """The variable that holds the value `name`."""
    return f"VALUES_{name.upper()}"


def told(values: Mapping[str, Value], names: Iterable[str] | None = None) -> str:
    """`replicas=3 suffix=bcdf`, for people."""
    return " ".join(f"{name}={values[name]}" for name in (values if names is None else names))
