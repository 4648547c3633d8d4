"""Which articles a reader has opened, and when first: `articles.json`.

Owns that file; knows nothing of which articles exist. In which folder it is kept is the caller's to say.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, FiniteFloat, ValidationError

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.progress.files import locked, read_whole, set_aside, write_whole

if TYPE_CHECKING:
    from pathlib import Path

FILE = "articles.json"
SCHEMA = 1


class _File(BaseModel):
    model_config = ConfigDict(strict=True)

    articles: dict[str, FiniteFloat] = {}


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
            content = {"schema": SCHEMA, "articles": {**seen, article: at}}
            write_whole(folder / FILE, json.dumps(content, ensure_ascii=False, indent=1) + "\n")
    return note


def _load(folder: Path) -> tuple[dict[str, float], str]:
    path = folder / FILE
    try:
        data = read_whole(path)
        if data is None:
            return {}, ""
        stored = json.loads(data)
        number = stored.get("schema") if isinstance(stored, dict) else None
        if isinstance(number, int) and number > SCHEMA:
            raise EnvironmentProblem(
                _("{path} was written by a newer Batchlab (schema {number}, this one knows {known})").format(
                    path=path, number=number, known=SCHEMA
                ),
                _("upgrade batchlab; until then nothing is recorded"),
            )
        if number != SCHEMA:
            raise ValueError(_("it has no schema number"))
        return _File.model_validate(stored).articles, ""
    except ValidationError as error:
        first = error.errors()[0]
        return {}, set_aside(path, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except (ValueError, RecursionError) as error:
        return {}, set_aside(path, str(error))
