"""The components of iximiuz-style markdown: `::name`, their attributes between `---` lines, and what they hold.

Owns where a component begins and ends and how its attributes read; knows nothing of labs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_BEGIN = re.compile(r"(?P<colons>:{2,})(?P<name>[A-Za-z][\w-]*)(?P<attributes>\{[^}]*\})?[ \t]*\Z")
_END = re.compile(r"(?P<colons>:{2,})[ \t]*\Z")
_FENCE = re.compile(r"\s*(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)\Z")
_SLOT = re.compile(r"#(?P<name>[a-z][\w-]*)[ \t]*\Z")
_ATTRIBUTE = re.compile(r"^:?(?P<key>[\w-]+):[ \t]*(?P<value>.*?)[ \t]*$")
_INLINE = re.compile(r""":?(?P<key>[\w-]+)=(?:'(?P<one>[^']*)'|"(?P<two>[^"]*)"|(?P<bare>\S+))""")


@dataclass(slots=True)
class Component:
    """`::name` and what belongs to it. `slots`: the text after each `#slot` line; "" is what stands before any."""

    name: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    slots: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    closed: bool = True

    def text(self, slot: str = "") -> str:
        """The text of a slot."""
        return "\n".join(row for row, _line in self.slots.get(slot, [])).strip("\n")


Piece = tuple[str, int] | Component
"""A row of plain text with its line, or a component."""


def pieces(rows: list[tuple[str, int]]) -> Iterator[Piece]:
    """The rows of a text, with each component as one piece; code blocks are text, whatever they hold."""
    at, fence = 0, ""
    while at < len(rows):
        row, line = rows[at]
        fence = after_row(row, fence)
        begun = None if fence or _FENCE.match(row) else _BEGIN.match(row)
        if begun is None:
            yield rows[at]
            at += 1
            continue
        component = Component(begun["name"], line, inline_attributes(begun["attributes"] or ""))
        at = _read(rows, at + 1, len(begun["colons"]), component)
        yield component


def after_row(row: str, fence: str) -> str:
    """The fence of the code block that a row leaves open; empty where it leaves none."""
    match = _FENCE.match(row)
    if match is None:
        return fence
    if not fence:
        return match["fence"]
    same = match["fence"][0] == fence[0] and len(match["fence"]) >= len(fence)
    return "" if same and not match["info"].strip() else fence


def inline_attributes(text: str) -> dict[str, str]:
    """`{text='a b' :new=true}` as a mapping."""
    found = _INLINE.finditer(text.strip("{}"))
    return {match["key"]: match["one"] or match["two"] or match["bare"] or "" for match in found}


def _read(rows: list[tuple[str, int]], at: int, colons: int, component: Component) -> int:
    """Fill the component from the rows after its first; the row after its end."""
    if at < len(rows) and rows[at][0].strip() == "---":
        at += 1
        while at < len(rows) and rows[at][0].strip() != "---":
            if match := _ATTRIBUTE.match(rows[at][0]):
                component.attributes[match["key"]] = match["value"].strip("\"'")
            elif rows[at][0].strip():
                component.slots.setdefault("attributes", []).append(rows[at])
            at += 1
        at += 1
    slot, fence, depth = "", "", 0
    while at < len(rows):
        row, _line = rows[at]
        was_code = bool(fence) or bool(_FENCE.match(row))
        fence = after_row(row, fence)
        if not was_code:
            ended, begun = _END.match(row), _BEGIN.match(row)
            if begun:
                depth += 1
            elif ended and depth:
                depth -= 1
            elif ended and len(ended["colons"]) >= colons:
                return at + 1
            elif not depth and (named := _SLOT.match(row)):
                slot = named["name"]
                at += 1
                continue
        component.slots.setdefault(slot, []).append(rows[at])
        at += 1
    component.closed = False
    return at
