"""What `grader start`, `stop`, `reset` and `status` do: one function each, to be read from top to bottom.

Owns the order of things and what is left behind when one of them fails. Knows nothing of how a machine is
made (`cluster.local`), of the examiner's protocol, or of terminals: whoever calls is told by `BootEvent`s.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from cluster import local
from cluster.binaries import cache
from cluster.binaries.lock import read_lock
from cluster.binaries.progress import Progress, silent
from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import _
from cluster.machine import BootEvent, Layout, MachineConfig, MachineStatus
from cluster.snapshots.shelf import default_folder
from cluster.supervisor.events import FAILED
from cluster.timings import turned_to
from grader.collections.store import in_use
from grader.collections.trust import refuse_untrusted
from grader.progress import begin_progress, forget_progress, record_start
from grader.record.telling import note_start
from grader.session.admission import admitted
from grader.session.files import place_files
from grader.session.machine import machine_config
from grader.session.model import Session, load_session, save_session
from grader.session.places import (
    forget_history,
    last_lines,
    locked,
    move_work_aside,
    session_home,
    session_ids,
    work_folder,
)
from grader.session.values import settled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.lab.model import Lab

    OnEvent = Callable[[BootEvent], None]

SESSION_TASK = "session"
"""The task of events that are about the session, not about a component; also the part of the host's time that goes
into its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """What `start_session` and `reset_session` leave behind."""

    lab: str
    home: Path
    work: Path
    already: bool = False
    """It ran before; nothing was done."""
    kept_work: Path | None = None
    """Where a reset put the learner's files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """One session as `grader status` sees it. `session` is None where it was never started to the end."""

    lab: str
    home: Path
    machine: MachineStatus
    session: Session | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Programs:
    """Where a start takes the cluster's programs from: a folder or a bundle of the user's, else the cache or
    a build, which `on_progress` is told of. `cold`: no snapshot of an earlier start is used or kept."""

    bin_dir: Path | None = None
    bundle: Path | None = None
    on_progress: Progress = silent
    cold: bool = False


def start_session(
    lab: Lab, *, on_event: OnEvent, programs: Programs | None = None, home: Path | None = None
) -> Started:
    """Bring the lab's machine up and return when it is ready; a running one is left as it is.

    `home`: another session folder than the learner's (its name is the lab's id).

    A session whose processes died is cleared and started again. Whatever goes wrong, nothing is left
    running. Raises EnvironmentProblem where the machine can't be had; KeyboardInterrupt passes through.
    """
    refuse_untrusted(lab)
    _refuse_without_root(lab)
    on_event(turned_to(SESSION_TASK))
    tell = _teller(on_event)
    home = home or session_home(lab.id)
    with locked(home, tell), in_use(lab.id):
        refuse_untrusted(lab)  # again: it may have been updated since
        state = local.status(home).state
        if state == "running":
            return Started(lab=lab.id, home=home, work=work_folder(home), already=True)
        if state != "stopped":
            tell(_("the processes of this session died or were cut short; cleaning up and starting again"))
            on_event(turned_to("stop"))
            local.stop(home)
        with admitted(lab, home):
            return _start(settled(lab, home, tell), home, on_event, programs)


def stop_session(lab_id: str, *, on_event: OnEvent, home: Path | None = None) -> bool:
    """End the machine of a session; False where none was there. The learner's files and progress stay."""
    home = home or session_home(lab_id)
    if not home.is_dir():
        return False
    with locked(home, _teller(on_event)):
        if local.status(home).state == "stopped":
            return False
        with uninterrupted():
            local.stop(home)
        return True


def reset_session(
    lab: Lab,
    *,
    on_event: OnEvent,
    programs: Programs | None = None,
    home: Path | None = None,
    new_values: bool = False,
) -> Started:
    """Begin the lab again: a new cluster, an empty work folder, no achievements; then as `start_session`.

    The learner's files are moved aside, not deleted; hints that were shown stay shown, and so do the lab's values,
    unless `new_values` are asked for.
    """
    refuse_untrusted(lab)
    _refuse_without_root(lab)
    on_event(turned_to(SESSION_TASK))
    tell = _teller(on_event)
    home = home or session_home(lab.id)
    with locked(home, tell), in_use(lab.id):
        refuse_untrusted(lab)
        # A machine that runs is followed by another in its own place.
        place = nullcontext() if (state := local.status(home).state) == "running" else admitted(lab, home)
        with place:
            if state != "stopped":
                tell(_("stopping the running lab"))
                on_event(turned_to("stop"))
                local.stop(home)
                on_event(turned_to(SESSION_TASK))
            kept = move_work_aside(home)
            forget_history(home)
            note = forget_progress(home, time.time()).note
            if note:
                tell(note)
            lab = settled(lab, home, tell, anew=new_values)
            return replace(_start(lab, home, on_event, programs, begin=True), kept_work=kept)


def session_states(on_note: Callable[[str], None]) -> list[SessionState]:
    """Every session of this user, by lab id."""
    return [session_state(lab_id, on_note) for lab_id in session_ids()]


def session_state(lab_id: str, on_note: Callable[[str], None], home: Path | None = None) -> SessionState:
    """One session; `on_note` is told of a damaged file that was set aside."""
    home = home or session_home(lab_id)
    session, note = load_session(home)
    if note:
        on_note(note)
    return SessionState(lab=lab_id, home=home, machine=local.status(home), session=session)


def dry_run(lab: Lab, *, bin_dir: Path | None = None, cold: bool = False) -> str:
    """The shell equivalent of a start; nothing is built, written or started."""
    # A folder that isn't there yet is named all the same: it is where a start would have them built.
    binaries = cache.locate(bin_dir) or cache.default_root() / read_lock().key
    return local.dry_run(machine_config(lab, session_home(lab.id), binaries), None if cold else default_folder())


# -- beneath ------------------------------------------------------------------------------------------


def _start(lab: Lab, home: Path, on_event: OnEvent, programs: Programs | None, *, begin: bool = False) -> Started:
    programs = programs or Programs()
    tell = _teller(on_event)
    on_event(turned_to("programs"))
    binaries = cache.ensure(programs.bin_dir, programs.bundle, programs.on_progress)
    on_event(turned_to(SESSION_TASK))
    now = time.time()
    before, note = load_session(home)
    if note:
        tell(note)
    created = before.created if before and not begin else now
    session = Session(lab=lab.id, workdir=lab.workdir, binaries=str(binaries), created=created, started=now)
    # The recorder must not go on from a cluster that is gone: its objects would seem to be this one's.
    forget_history(home)
    work_folder(home).mkdir(exist_ok=True)
    place_files(lab.folder, work_folder(home))
    _boot(machine_config(lab, home, binaries), on_event, None if programs.cold else default_folder())
    on_event(turned_to(SESSION_TASK))
    save_session(home, session)
    recorded = note_start(home, lab, now, again=begin)
    for note in (begin_progress(home, now).note, record_start(lab.id, now, home), recorded):
        if note:
            tell(note)
    return Started(lab=lab.id, home=home, work=work_folder(home))


def _boot(config: MachineConfig, on_event: OnEvent, snapshots: Path | None) -> None:
    failed: list[str] = []

    def watch(event: BootEvent) -> None:
        if event.state == "failed" and event.task != FAILED:
            failed.append(event.task)
        on_event(event)

    try:
        local.start(config, watch, snapshots)
    except BaseException as error:
        with uninterrupted():
            local.stop(config.home)
        if isinstance(error, Problem):
            raise _with_log(error, config.home, failed) from error
        raise


def _with_log(error: Problem, home: Path, failed: list[str]) -> Problem:
    """The same problem, with the last log lines of the component that failed unless it says them itself."""
    message = error.message
    # The first failure is the cause; what failed later, failed for want of it.
    log = Layout(home).log(failed[0] if failed else "supervisor")
    lines = [line for line in last_lines(log) if line.strip()]
    if lines and lines[-1] not in message:
        title = _("the last lines of {path}:").format(path=log)
        message = "\n".join([message, title, *(f"  {line}" for line in lines)])
    advice = error.advice or _(
        "nothing was left running; `grader doctor` looks at the machine, the logs are in {path}"
    ).format(path=Layout(home).logs)
    return EnvironmentProblem(message, advice)


def _refuse_without_root(lab: Lab) -> None:
    if not lab.needs_root or os.geteuid() == 0:
        return
    found = shutil.which(sys.argv[0])
    program = Path(found).resolve() if found else "grader"
    raise EnvironmentProblem(
        _("{lab} has a node that runs real containers; only root can start it").format(lab=lab.id),
        _("run it, and every later command of this lab, as root: sudo {program} start {lab}").format(
            program=program, lab=lab.id
        ),
    )


def _teller(on_event: OnEvent) -> Callable[[str], None]:
    started = time.monotonic()

    def tell(sentence: str) -> None:
        seconds = time.monotonic() - started
        on_event(BootEvent(task=SESSION_TASK, state="note", seconds=seconds, detail=sentence))

    return tell


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C and TERM back while things are put away: a second one must not leave the rest."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals reach the main thread only
        return
    held = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in held}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
