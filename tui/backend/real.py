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
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import _, language
from cluster.machine import MachineStatus
from grader.session.places import examiner_socket, session_home, work_folder
from grader.session.values import FILE as VALUES
from tui.backend.asking import answer, asking, complaint, own_environment
from tui.backend.model import Look, Standing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from grader.content.model import Article
    from grader.lab.model import Lab
    from grader.report.progress_report import Row
    from grader.session.lifecycle import Started
    from tui.backend.model import Catalogue, OnBoot, OnBuild


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

    async def report(self) -> list[Row]:
        """As `grader report`."""
        from grader.cli.common import all_attempts, books
        from grader.lab.catalogue import every_lab_id
        from grader.report.progress_report import progress_rows

        return await asyncio.to_thread(lambda: progress_rows(every_lab_id(), books(), all_attempts()))

    async def standing(self, lab_id: str) -> Standing:
        """How the lab is now: its machine, its progress, its files."""
        return await asyncio.to_thread(self._standing, lab_id)

    async def start(self, lab: Lab, on_boot: OnBoot, on_build: OnBuild, *, again: bool = False) -> Started:
        """`grader start`, or `grader reset`, in a thread."""
        from tui.backend.starting import start

        return await start(lab, on_boot, on_build, again=again)

    async def watch(self, lab: Lab, *, explain: bool = False) -> AsyncIterator[Look]:
        """`grader check --watch --json`, as long as it is wanted."""
        argv = ["check", "--watch", "--json", *(["--explain"] if explain else [])]
        try:
            async with asking(examiner_socket(session_home(lab.id)), argv) as process:
                assert process.stdout is not None
                assert process.stderr is not None
                said = asyncio.create_task(_lines(process.stderr))
                async for line in process.stdout:
                    yield _look(lab, line.decode(errors="replace"))
                text = await said
                if process.returncode or await process.wait():
                    yield Look(problem=complaint(text))
        except (OSError, ValueError) as error:
            yield Look(problem=EnvironmentProblem(_("checks can't be made now: {why}").format(why=error)))

    async def check(self, lab: Lab, step_id: str | None = None) -> Look:
        """`grader check --json`."""
        argv = ["check", "--json", *(["--step", step_id] if step_id else [])]
        try:
            text, said = await answer(examiner_socket(session_home(lab.id)), argv)
        except Problem as problem:
            return Look(problem=problem)
        return replace(_look(lab, text), notes=tuple(said))

    async def hint(self, lab: Lab, step_id: str) -> int:
        """As `grader hint`."""
        from grader.session.hints import show_more

        notes: list[str] = []
        shown = await asyncio.to_thread(
            lambda: show_more(lab, lab.step(step_id), session_home(lab.id), on_note=notes.append)
        )
        if notes:
            raise EnvironmentProblem("\n".join(notes))
        return shown

    def shell_command(self, lab_id: str) -> tuple[list[str], dict[str, str]]:
        """`grader shell`, by this very interpreter and these very packages."""
        program = "from grader.cli import main; main()"
        return [sys.executable, "-c", program, "--lang", language(), "shell", lab_id], own_environment()

    def may_start(self, lab_id: str, *, needs_root: bool) -> Sequence[str]:
        """Labs with a real node are for root, those of a collection for who accepted it."""
        if refused := _not_accepted(lab_id, needs_root=needs_root):
            return refused
        if not needs_root or os.geteuid() == 0:
            return ()
        program = shutil.which(sys.argv[0]) or sys.argv[0]
        return (
            _("{lab} has a node that runs real containers; only root can start it").format(lab=lab_id),
            _("leave, and come back as root: sudo {program}").format(program=Path(program).resolve()),
        )

    # -- in a thread ----------------------------------------------------------------------------------

    def _lab(self, lab_id: str) -> Lab:
        from grader.lab.catalogue import load_lab
        from grader.session.values import values_of

        stamp = _stamp(lab_id, session_home(lab_id))
        known = self._labs.get((lab_id, language()))
        if known is not None and known[0] == stamp:
            return known[1]
        lab = load_lab(lab_id, language(), values_of(lab_id))
        self._labs[lab_id, language()] = (stamp, lab)
        return lab

    def _standing(self, lab_id: str) -> Standing:
        from cluster import local
        from grader.progress import load_progress, read_book

        home = session_home(lab_id)
        stamp = _stamp(lab_id, home)
        if not home.is_dir():
            return Standing(machine=MachineStatus(state="stopped"), stamp=stamp)
        progress = load_progress(home)
        record = read_book(home).get(lab_id)
        return Standing(
            machine=local.status(home),
            hints=progress.hints,
            passed=frozenset(record.steps) if record else frozenset(),
            finished=progress.finished is not None,
            work=work_folder(home),
            stamp=stamp,
            free=_free(home),
        )

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


def _free(folder: Path) -> int | None:
    """Bytes of disk that are left to this user, in whole MiB; above 1 GiB it is all the same."""
    try:
        left = os.statvfs(folder)
    except OSError:
        return None
    return min(left.f_bavail * left.f_frsize, 1 << 30) >> 20 << 20


def _not_accepted(lab_id: str, *, needs_root: bool) -> tuple[str, ...]:
    """Why nothing of the lab may run, in lines; empty where it may, or where it is ours."""
    from grader.collections.address import collection_of
    from grader.collections.store import find
    from grader.collections.trust import refusal

    name = collection_of(lab_id)
    problem = refusal(lab_id, find(name), needs_root=needs_root) if name else None
    return (problem.message, problem.advice) if problem else ()


def _stamp(lab_id: str, home: Path) -> tuple[int, ...]:
    """Changes when a file of the lab does, or the values of its session."""
    from grader.lab.catalogue import lab_folder

    folder = lab_folder(lab_id)
    if folder is None:
        return ()
    files = sorted([*folder.glob("*.md"), *folder.glob("*.py"), *folder.glob("start/*"), *home.glob(VALUES)])
    return tuple(value for path in files for found in (path.stat(),) for value in (found.st_mtime_ns, found.st_size))


async def _lines(stream: asyncio.StreamReader) -> str:
    return (await stream.read()).decode(errors="replace")


def _look(lab: Lab, text: str) -> Look:
    """The verdict in a document of `grader check --json`, by the steps of `lab`."""
    from grader.report.json import CheckDocument, parse_results, parse_utc
    from grader.report.model import make_report

    try:
        found = CheckDocument.model_validate_json(text)
        report = make_report(lab, parse_results(text), at=parse_utc(found.at), seconds=found.seconds)
    except (KeyError, ValueError):
        # The lab's files were changed: the examiner has read them, and we have not yet.
        return Look(problem=EnvironmentProblem(_("the files of {lab} were changed").format(lab=lab.id)))
    return Look(report=report)
