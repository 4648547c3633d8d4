"""Asking a lab's examiner without waiting for it: one process for each question, which can be given up at any time.

Owns these processes and how their complaints become a `Problem`; the protocol is `grader.session.examiner_client`'s.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import grader
from cluster.errors import EnvironmentProblem
from cluster.i18n import _, language

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

LONGEST_LINE = 8 * 1024 * 1024
"""Bytes of one document: a verdict on a large lab with everything that was looked at."""
GRACE_SECONDS = 2.0
_PREFIX = "grader: "


def own_environment() -> dict[str, str]:
    """For programs of ours that this one starts: they find the same packages."""
    return {**os.environ, "PYTHONPATH": str(Path(grader.__file__).resolve().parents[1]), "PYTHONSAFEPATH": "1"}


@asynccontextmanager
async def asking(socket: Path, argv: Sequence[str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """`grader <argv>`, answered by the examiner at `socket`; ended when the block is left."""
    client = [sys.executable, "-m", "grader.session.examiner_client", str(socket), "--lang", language(), *argv]
    process = await asyncio.create_subprocess_exec(
        *client,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LONGEST_LINE,
        env=own_environment(),
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(process.wait(), GRACE_SECONDS)
            except TimeoutError:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()


async def answer(socket: Path, argv: Sequence[str]) -> tuple[str, list[str]]:
    """The whole answer, and what was said beside it. EnvironmentProblem where there is none."""
    async with asking(socket, argv) as process:
        out, said = await process.communicate()
    if not out.strip():
        raise complaint(said.decode(errors="replace"))
    return out.decode(errors="replace"), notes(said.decode(errors="replace"))


def notes(said: str) -> list[str]:
    """The sentences of `grader: …` lines."""
    return [line.removeprefix(_PREFIX) for line in said.splitlines() if line.startswith(_PREFIX)]


def complaint(said: str) -> EnvironmentProblem:
    """What a command that gave no answer said instead."""
    lines = [line for line in said.splitlines() if line.strip()]
    first = next((number for number, line in enumerate(lines) if line.startswith(_PREFIX)), None)
    if first is None:
        return EnvironmentProblem(lines[-1].strip() if lines else _("the lab's examiner gave no answer"))
    advice = [line.strip() for line in lines[first + 1 :] if line.startswith("        ")]
    return EnvironmentProblem(lines[first].removeprefix(_PREFIX), " ".join(advice))
