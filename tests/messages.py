"""The catalogs of messages: what the code says to people, put into each `cluster/locale/<lang>.po`.

Run `python -m tests.messages` (`make messages`) after a message was added, changed or removed, then translate what
it names. Owns how messages are found and how a catalog is written: sorted, one line for each text, without
places in the code, so that a difference shows what was said anew and nothing else.
"""

from __future__ import annotations

import ast
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from cluster import i18n

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("cluster", "grader", "tui")
LOOK_UPS = ("_", "N_")
"""`_` looks a message up, `N_` marks one that is looked up later."""


def sources() -> Iterator[tuple[Path, ast.Module]]:
    """Every module of our packages."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def look_ups(module: ast.Module) -> Iterator[ast.Call]:
    """Every call of `_` or `N_`, those inside f-strings too (Babel's own extraction reads tokens, and misses them)."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and (
            (isinstance(node.func, ast.Name) and node.func.id in LOOK_UPS)
            or (isinstance(node.func, ast.Attribute) and node.func.attr in LOOK_UPS)
        ):
            yield node


def messages() -> list[str]:
    """Every message of the code, sorted."""
    return sorted(
        {
            call.args[0].value
            for _path, module in sources()
            for call in look_ups(module)
            if isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
        }
    )


def catalog_file(lang: str) -> Path:
    """Where the catalog of `lang` is kept."""
    return ROOT / "cluster" / "locale" / f"{lang}.po"


def updated(text: str, lang: str) -> str:
    """The catalog `text` with exactly the messages of the code: new ones without words, old ones gone.

    Its head, everything up to the first blank line, stays as it is.
    """
    known = read_po(io.StringIO(text), locale=lang)
    catalog = Catalog(locale=lang)
    for message in messages():
        old = known.get(message)
        catalog.add(message, old.string if old is not None else "", user_comments=old.user_comments if old else ())
    written = io.BytesIO()
    write_po(written, catalog, width=0, omit_header=True, sort_output=True)
    head, _blank, _rest = text.partition("\n\n")
    return f"{head}\n\n{written.getvalue().decode().strip()}\n"


def untranslated(text: str, lang: str) -> list[str]:
    """The messages of a catalog that have no words yet."""
    return [str(message.id) for message in read_po(io.StringIO(text), locale=lang) if message.id and not message.string]


def main() -> int:
    """Bring every catalog up to date; 1 where something is left to translate."""
    left = 0
    for lang in i18n.LANGUAGES:
        if lang == "en":  # what the code itself speaks
            continue
        path = catalog_file(lang)
        text = updated(path.read_text(encoding="utf-8"), lang)
        temporary = path.with_name(f".{path.name}.new")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)  # noqa: PTH105  # the house rule names it
        missing = untranslated(text, lang)
        left += len(missing)
        sys.stdout.writelines(f"{path.relative_to(ROOT)}: to translate: {message!r}\n" for message in missing)
    return 1 if left else 0


if __name__ == "__main__":
    raise SystemExit(main())
