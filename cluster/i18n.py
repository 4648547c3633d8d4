"""Which language messages are said in, and how a message is looked up.

Owns the current language and the catalogs (`cluster/locale/<lang>.po`, for all our packages). A message
is written in English where it is raised, wrapped in `_`; placeholders are filled *after* the look-up:
`_("no lab {name}").format(name=name)`. A test holds every catalog complete.
"""

from __future__ import annotations

import gettext
import io
import locale
import os
from functools import cache
from pathlib import Path

LANGUAGES = ("en", "ko")
_LOCALE_DIR = Path(__file__).parent / "locale"
_current = "en"


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


@cache
def _catalog(lang: str) -> gettext.NullTranslations:
    # Babel reads the .po that translators edit, so no compiled file has to be kept beside it.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    with (_LOCALE_DIR / f"{lang}.po").open("rb") as source:
        catalog = read_po(source, locale=lang)
    compiled = io.BytesIO()
    write_mo(compiled, catalog)
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
