"""Which articles a reader has opened, and when first: `articles.json`.

Owns that file; knows nothing of which articles exist. In which folder it is kept is the caller's to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, FiniteFloat

from cluster.i18n import _
from grader.progress.files import StoredFile, locked, read_stored, write_stored

if TYPE_CHECKING:
    from pathlib import Path

FILE = "articles.json"


class _File(StoredFile):
    articles: dict[str, FiniteFloat] = Field(default={})


def read_articles(folder: Path) -> dict[str, float]:
    """Article id → Unix time it was first read."""
    if not folder.is_dir():
        return {}
    with locked(folder):
        return _load(folder)[0]


def record_article(article: str, at: float, folder: Path) -> str:
    """Note that the article was read at `at`.

    Returns a sentence for the person if the file was damaged and set aside, else "".
    """
    with locked(folder):
        seen, note = _load(folder)
        if article not in seen:
            write_stored(folder / FILE, {"articles": {**seen, article: at}})
    return note


def _load(folder: Path) -> tuple[dict[str, float], str]:
    content, note = read_stored(folder / FILE, _File, _("upgrade batchlab; until then nothing is recorded"))
    return content.articles, note
