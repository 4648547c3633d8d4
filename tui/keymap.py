"""The file in which a person changes keys: `keys.yaml`, one line for each, `lab.check: c, f5`.

Owns how it is read and what is said of lines that can't be followed; which keys there are is `tui.keys`' business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.keys import REPLACED_KEYS, Keys, _character_to_key

from cluster.i18n import _
from grader.lab.located import read_document
from grader.lab.problems import LabProblem, did_you_mean, read_source
from tui.keys import EVERYWHERE, KEYS

if TYPE_CHECKING:
    from pathlib import Path

    from grader.lab.located import Located

FILE = "keys.yaml"
_MODIFIERS = ("ctrl", "alt", "shift")
_PLACE = {key.id: place for place, keys in KEYS.items() for key in keys}
_DEFAULT = {key.id: key.keys.split(",") for keys in KEYS.values() for key in keys}
_SIGNS = {_character_to_key(chr(code)) for code in range(33, 127)}
_NAMED = {str(key.value) for key in Keys} | set(REPLACED_KEYS.values()) | _SIGNS


def read_keymap(path: Path) -> tuple[dict[str, str], list[str]]:
    """Name → keys as Textual writes them, and a sentence with line and column for each line that can't be followed.

    No file is no change. What is wrong in it is left out, never the whole of it, and the keys it names stay.
    """
    if not path.exists():
        return {}, []
    wrong: list[LabProblem] = []
    source = read_source(path, wrong)
    if source is None or not _says_something(source.text):
        return {}, list(map(str, wrong))
    document = read_document(source, wrong)
    if document is None:
        return {}, list(map(str, wrong))
    if not isinstance(document.value, dict):
        wrong.append(document.problem((), _("lines of the form `quit: ctrl+x` are wanted")))
        return {}, list(map(str, wrong))
    chosen: dict[str, list[str]] = {}
    for name, value in document.value.items():
        if name not in _PLACE:
            near = did_you_mean(name, _PLACE) or _("; allowed: {names}").format(names=", ".join(_names(name)))
            said = _("no key is called '{name}'").format(name=name) + near
            wrong.append(document.problem((name,), said, key=True))
        elif keys := _keys(document, name, value, wrong):
            chosen[name] = keys
    _leave_out_what_is_taken(document, chosen, wrong)
    return {name: ",".join(keys) for name, keys in chosen.items()}, list(map(str, sorted(wrong)))


def _names(wrong: str) -> list[str]:
    """The names of the place that a wrong one begins with; else those without a place, and the places."""
    place = wrong.partition(".")[0]
    if place in KEYS:
        return [key.id for key in KEYS[place]]
    return [*(key.id for key in KEYS[EVERYWHERE]), *(f"{one}.…" for one in KEYS if one != EVERYWHERE)]


def _says_something(text: str) -> bool:
    """Whether there is more than comments."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in text.split("\n"))


def _keys(document: Located, name: str, value: Any, wrong: list[LabProblem]) -> list[str]:
    """The keys of one line, written `c, f5` or as a list; nothing where one of them is none."""
    items = value if isinstance(value, list) else [] if value is None else _apart(str(value))
    found = [_textual(str(item)) for item in items]
    if not found:
        wrong.append(document.problem((name,), _("{name}: a key is wanted, such as f5").format(name=name)))
    for item, key in zip(items, found, strict=True):
        if not key:
            near = did_you_mean(item, _NAMED)
            allowed = _("; a letter or sign, f1 to f24, enter, tab, space, …, with ctrl+, alt+ or shift+ before it")
            said = _("{name}: '{key}' is no key").format(name=name, key=item) + (near or allowed)
            wrong.append(document.problem((name,), said))
    return found if all(found) else []


def _apart(text: str) -> list[str]:
    """`c, f5` is two keys; a comma alone, or last, is itself one."""
    parts = [part.strip() for part in text.split(",")]
    return [part or "," for part in parts] if text.strip() == "," else [part for part in parts if part]


def _textual(key: str) -> str:
    """The key as Textual calls it; "" where there is none of that name."""
    *modifiers, last = key.split("+") if not key.endswith("+") else [*key[:-1].rstrip("+").split("+"), "+"]
    modifiers = [one.lower() for one in modifiers if one]
    if not last or not set(modifiers) <= set(_MODIFIERS):
        return ""
    name = _character_to_key(last) if len(last) == 1 else {"esc": "escape"}.get(last.lower(), last.lower())
    if "ctrl" in modifiers:
        name = name.lower()  # a terminal does not tell the two apart
    if len(last) > 1 and name not in _NAMED:
        return ""
    return "+".join([*sorted(modifiers, key=_MODIFIERS.index), name])


def _leave_out_what_is_taken(document: Located, chosen: dict[str, list[str]], wrong: list[LabProblem]) -> None:
    """One key does one thing in one place: a line that would give it two is said, and left out."""
    again = True
    while again:
        again = False
        for name in reversed(chosen):
            other = _taken(name, chosen)
            if other:
                key, by = other
                said = _("{name}: '{key}' is the key of {other} already").format(name=name, key=key, other=by)
                wrong.append(document.problem((name,), said))
                del chosen[name]
                again = True  # whose keys those of the line left out were, may clash now
                break


def _taken(name: str, chosen: dict[str, list[str]]) -> tuple[str, str] | None:
    """A key of `name` that means something else where it works, and what."""
    place = _PLACE[name]
    for other, default in _DEFAULT.items():
        if other == name or not (place in (EVERYWHERE, _PLACE[other]) or _PLACE[other] == EVERYWHERE):
            continue
        for key in chosen[name]:
            if key in chosen.get(other, default):
                return key, other
    return None
