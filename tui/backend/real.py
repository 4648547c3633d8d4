"""`Backend` as it is: labs, articles and progress from `grader`, machines of this host.

Owns where blocking work runs (a thread), and what is kept between two questions. Decides nothing about labs.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import Problem
from cluster.i18n import _, language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.content.model import Article
    from grader.lab.model import Lab
    from tui.backend.model import Catalogue


class RealBackend:
    """One for the life of the application."""

    def __init__(self) -> None:
        self._labs: dict[tuple[str, str], tuple[tuple[int, ...], Lab]] = {}
        self._articles: dict[tuple[str, str], Article] = {}

    async def catalogue(self) -> Catalogue:
        """What there is, and how far the learner is."""
        from tui.backend.shelves import read_catalogue

        return await asyncio.to_thread(read_catalogue, self._lab, self._article)

    async def lab(self, lab_id: str) -> Lab:
        """The lab, read again where its files changed."""
        return await asyncio.to_thread(self._lab, lab_id)

    async def article(self, article_id: str) -> Article:
        """The article, noted as read as `grader read` does it."""
        return await asyncio.to_thread(self._read_article, article_id)

    async def stop(self, lab_id: str) -> bool:
        """End the lab's machine."""
        from grader.session.lifecycle import stop_session

        return await asyncio.to_thread(lambda: stop_session(lab_id, on_event=lambda _event: None))

    def may_start(self, lab_id: str, *, needs_root: bool) -> Sequence[str]:
        """Labs with a real node are for root."""
        if not needs_root or os.geteuid() == 0:
            return ()
        program = shutil.which(sys.argv[0]) or sys.argv[0]
        return (
            _("{lab} has a node that runs real containers; only root can start it").format(lab=lab_id),
            _("leave, and come back as root: sudo {program}").format(program=Path(program).resolve()),
        )

    # -- in a thread ----------------------------------------------------------------------------------

    def _lab(self, lab_id: str) -> Lab:
        from grader.lab.catalogue import labs_dir, load_lab

        stamp = _stamp(labs_dir() / lab_id)
        known = self._labs.get((lab_id, language()))
        if known is not None and known[0] == stamp:
            return known[1]
        lab = load_lab(lab_id, language())
        self._labs[lab_id, language()] = (stamp, lab)
        return lab

    def _article(self, article_id: str) -> Article:
        from grader.content.catalogue import load_article

        key = (article_id, language())
        if key not in self._articles:
            self._articles[key] = load_article(article_id, language())
        return self._articles[key]

    def _read_article(self, article_id: str) -> Article:
        from grader.cli.common import reading_folder
        from grader.progress.reading import record_article

        article = self._article(article_id)
        with suppress(Problem):  # what was read is read, though nobody can write it down
            record_article(article.id, time.time(), reading_folder())
        return article


def _stamp(folder: Path) -> tuple[int, ...]:
    """Changes when a file of the lab does."""
    files = sorted([*folder.glob("*.md"), *folder.glob("*.py"), *folder.glob("start/*")])
    return tuple(value for path in files for found in (path.stat(),) for value in (found.st_mtime_ns, found.st_size))
