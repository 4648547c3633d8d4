"""Which language messages are said in, and how a message is looked up.

Owns the current language and the catalogs (`cluster/locale/<lang>.po`, for all our packages). A message
is written in English where it is raised, wrapped in `_`; placeholders are filled *after* the look-up:
`_("no lab {name}").format(name=name)`. A test holds every catalog complete.
"""

from __future__ import annotations

import locale
import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

LANGUAGES = ("en", "ko")
_LOCALE_DIR = Path(__file__).parent / "locale"
_PO_LINE = re.compile(r'(?:(msgid|msgstr) )?"(.*)"')
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}
_current = "en"


class Catalog(Protocol):
    """Messages in one language."""

    def gettext(self, message: str) -> str:
        """`message` translated; itself where it is not known."""


def from_environment() -> str:
    """The language of LC_ALL, LC_MESSAGES or LANG, the first that is set; English where it is not ours."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if value := os.environ.get(name):
            code = (locale.normalize(value).split("_")[0]).lower()
            return code if code in LANGUAGES else "en"
    return "en"


def set_language(lang: str) -> None:
    """Say every later message in `lang` (one of LANGUAGES)."""
    global _current  # noqa: PLW0603  # one process talks to one person
    if lang not in LANGUAGES:
        raise ValueError(lang)
    _current = lang


def language() -> str:
    """The language in force."""
    return _current


def _(message: str) -> str:
    """`message` in the language in force; itself where no translation is known."""
    return message if _current == "en" else _catalog(_current).gettext(message)


class _Messages:
    """A catalog as it lies in a .po file."""

    def __init__(self, messages: dict[str, str]) -> None:
        self._messages = messages

    def gettext(self, message: str) -> str:
        return self._messages.get(message) or message


@cache
def _catalog(lang: str) -> Catalog:
    # The .po that translators edit, so no compiled file has to be kept beside it; and read here, because Babel
    # would take a fifth of a second of every command. A test holds both readings equal.
    return _Messages(dict(_entries((_LOCALE_DIR / f"{lang}.po").read_text(encoding="utf-8"))))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """(message, translation) of a .po file without contexts, plurals and fuzzy entries; not its header."""
    parts = {"msgid": "", "msgstr": ""}
    reading = ""
    for line in [*text.splitlines(), 'msgid ""']:
        if not (found := _PO_LINE.fullmatch(line)):
            continue
        if found[1] == "msgid":
            if parts["msgid"]:
                yield parts["msgid"], parts["msgstr"]
            parts = {"msgid": "", "msgstr": ""}
        reading = found[1] or reading
        parts[reading] += _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), found[2])
