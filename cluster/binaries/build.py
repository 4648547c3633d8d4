"""Building everything of a lock with Go, into a folder that appears only when it is whole.

Owns the order of the work and its progress; how Go is run is in `golang`, where the folder lives in `store`.
"""

from __future__ import annotations

import shutil
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cluster.binaries import golang, images, manifests, packages, store
from cluster.binaries.progress import BuildEvent, BuildState, Progress
from cluster.errors import EnvironmentProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from cluster.binaries.lock import Lock, Program

_SCRATCH = "scratch"


def build(
    lock: Lock,
    root: Path,
    on_progress: Progress,
    *,
    preflight: Callable[[], None] = lambda: packages.require("build"),
) -> Path:
    """Build all of `lock` into `<root>/<lock.key>/` and return that folder.

    Takes minutes on a machine that never built it, and gigabytes in Go's own caches; relinking takes a
    second or two a program. Another build going on is waited for, and its result used. EnvironmentProblem
    says what to install, or what the compiler said.
    """
    final = root / lock.key
    preflight()
    go, version = golang.require_go(lock.go, lock.root / lock.programs[0].folder)
    with store.exclusive(root, on_progress):
        if (final / store.INDEX).is_file():  # made by the one we waited for
            return final
        with store.unfinished(root, lock.key) as work:
            making = _Making(lock, work, go, on_progress)
            versions = making.everything()
            shutil.rmtree(work / _SCRATCH)
            index = store.Index(
                lock=lock.digest,
                goarch=lock.goarch,
                go=version,
                built=time.time(),
                versions=versions,
                files=store.index_files(work),
            )
            store.finish(work, final, index)
    return final


class _Making:
    """One build in the folder `work`."""

    def __init__(self, lock: Lock, work: Path, go: str, on_progress: Progress) -> None:
        self._lock, self._work, self._go, self._on_progress = lock, work, go, on_progress
        self._scratch = work / _SCRATCH
        self._total = len(lock.programs) + 2  # and manifests, and images
        self._done = 0
        self._began = time.monotonic()
        for folder in (
            work / "bin",
            work / "manifests",
            work / "images",
            self._scratch / "image",
            self._scratch / "go",
        ):
            folder.mkdir(parents=True)

    def everything(self) -> dict[str, str]:
        """All tasks in order; returns the versions for the index."""
        versions = {program.name: program.version for program in self._lock.programs if program.into == "bin"}
        for program in self._lock.programs:
            with self._task(program.name) as tick:
                self._compile(program, tick)
        with self._task("manifests"):
            for each in self._lock.manifests:
                manifests.render(
                    each,
                    go=self._go,
                    kubectl=self._work / "bin" / "kubectl",
                    root=self._lock.root,
                    out=self._work / "manifests" / f"{each.name}.json",
                )
        with self._task("images"):
            for name in self._lock.images:
                version = images.make_image(
                    self._lock.root / "images" / name,
                    programs=self._scratch / "image",
                    scratch=self._scratch,
                    goarch=self._lock.goarch,
                    out=self._work / "images" / f"{name}.tar",
                )
                versions |= {f"images/{name}": version} if version else {}
        return versions

    @contextmanager
    def _task(self, name: str) -> Iterator[Callable[[], None]]:
        self._done += 1
        index, started = self._done, time.monotonic()

        def say(state: BuildState) -> None:
            now = time.monotonic()
            event = BuildEvent(
                task=name,
                state=state,
                index=index,
                total=self._total,
                seconds=now - started,
                elapsed=now - self._began,
            )
            self._on_progress(event)

        say("started")
        try:
            yield lambda: say("running")
        except BaseException:
            say("failed")
            raise
        say("done")

    def _compile(self, program: Program, tick: Callable[[], None]) -> None:
        folder = self._work / "bin" if program.into == "bin" else self._scratch / program.into
        log = self._scratch / f"{program.name}.log"
        code = golang.run(
            build_command(self._lock, program, self._go, folder / program.name),
            cwd=self._lock.root / program.folder,
            env=golang.build_environment(self._lock.goarch, self._scratch / "go", cgo=program.cgo),
            log=log,
            on_tick=tick,
        )
        if code != 0 or not (folder / program.name).is_file():
            said = golang.last_lines(log)
            raise EnvironmentProblem(
                _("could not build {program} ({package} in {folder}):\n{output}").format(
                    program=program.name, package=program.package, folder=program.folder, output=said
                ),
                golang.advice_for(said),
            )


def build_command(lock: Lock, program: Program, go: str, out: Path) -> list[str]:
    """The `go build` of one program, to be run in its module's folder."""
    tags = ["-tags", ",".join(program.tags)] if program.tags else []
    linked = ["-ldflags", " ".join(program.ldflags)]
    return [go, "build", *lock.flags, *tags, *linked, "-o", str(out), program.package]
