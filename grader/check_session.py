"""`grader check`, from a lab to a verdict: read `check_session` from top to bottom.

Owns that flow, which runs inside the sandbox (`grader.session.examiner`); what each part does, it does itself.
Knows nothing of command lines or terminals.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.api import Api
from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.machine import Layout
from grader.checks.engine import run_checks
from grader.checks.python import Python
from grader.checks.work import WorkFolder
from grader.checks.world import World
from grader.collections.trust import refuse_untrusted
from grader.diagnosis.of_check import Explainer
from grader.history.kinds import RECORDED
from grader.history.reader import HistoryReader
from grader.history.synced import wait_synced
from grader.progress import load_progress, record_run, remember_results
from grader.record.telling import note_check
from grader.report.model import RunReport, make_report
from grader.results import State
from grader.session.executor import SessionExecutor
from grader.session.places import history_file, recorder_socket, work_folder
from grader.session.scripts import SessionScripts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from grader.checks.base import Check
    from grader.lab.model import Lab
    from grader.results import Result

RECORDER_SECONDS = 5.0
"""How long the recorder may take to catch up; it takes milliseconds unless the machine is overwhelmed."""
_TRACED = frozenset((kind.api_version, kind.name) for kind in RECORDED)
_SOME = frozenset({"Namespace"})
"""What the recorder is asked about where no history decides: that it answers has to be known all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A verdict, and what the person should know beside it (a damaged file that was set aside, …)."""

    report: RunReport
    notes: tuple[str, ...] = ()
    untraced: bool = False
    """Whether it was judged by something that the history knows nothing of (a command, a kind that is not recorded,
    trouble), so that nobody notices when that changes."""


def check_session(
    home: Path,
    lab: Lab,
    *,
    steps: Collection[str] | None = None,
    patience: bool = True,
    counted: bool = True,
    anew: bool = False,
    on_result: Callable[[Result], None] | None = None,
) -> Checked:
    """Look at what the learner did in the session folder `home`, and remember what passed.

    `steps`: ids of the steps to look at, None for all. With `patience`, checks that may still turn true are
    waited for. A run that is not `counted` (one of many, made because something changed) is no attempt unless
    everything passes. `on_result` hears each result as soon as it is known. EnvironmentProblem: the cluster or
    the recorder can't be asked at all. UsageProblem: nothing of the lab may run (`grader.collections.trust`).
    """
    refuse_untrusted(lab)
    began = time.monotonic()
    achievements, notes = _remembered(home)
    worlds: list[World] = []
    with connect(home, lab) as look:

        def look_anew() -> World:
            worlds.append(look())
            return worlds[-1]

        notes += _await_recorder(home, _kinds(lab, achievements))
        results = run_checks(
            lab,
            look_anew,
            only=_checks_of(lab, steps),
            achievements=achievements,
            patience=patience,
            anew=anew,
            on_result=on_result,
            explain=Explainer(),
        )
    report = make_report(lab, results, at=time.time(), seconds=time.monotonic() - began)
    notes += _save(home, lab, report, counted=counted or report.exit_code == 0)
    untraced = any(world.commanded or world.listed - _TRACED for world in worlds)
    untraced |= any(result.state is State.ERROR for result in results)
    return Checked(report=report, notes=tuple(notes), untraced=untraced)


@contextmanager
def connect(home: Path, lab: Lab) -> Iterator[Callable[[], World]]:
    """What checks may look at: each call of what is yielded takes a fresh look."""
    cluster = Api.from_kubeconfig(Layout(home).grader_kubeconfig)
    checks = {check.id: check for step in lab.steps for check in step.checks}
    asked = frozenset(file for check in checks.values() for file in _files(check))
    executor, scripts = SessionExecutor(home), SessionScripts(home)
    with HistoryReader(history_file(home)) as history:

        def look() -> World:
            return World(
                cluster=cluster,
                history=history,
                work=WorkFolder(work_folder(home), asked),
                namespace=lab.namespace,
                lab_folder=lab.folder,
                checks=checks,
                executor=executor,
                confined=bool(lab.collection),
                scripts=scripts,
            )

        yield look


def _files(check: Check) -> tuple[str, ...]:
    """The learner's files a check asks for; a function of the lab is told its own as `file`."""
    named = check.kind.arguments.get("file") if isinstance(check.kind, Python) else None
    return (named,) if isinstance(named, str) else check.kind.files()


def _checks_of(lab: Lab, steps: Collection[str] | None) -> frozenset[str] | None:
    if steps is None:
        return None
    return frozenset(check.id for step in lab.steps if step.id in steps for check in step.checks)


def _kinds(lab: Lab, achievements: Collection[str]) -> frozenset[str]:
    """The kinds whose history decides; empty: any may. What passed for good is not looked at."""
    checks = [check for step in lab.steps for check in step.checks]
    left = [check for check in checks if check.hold != "once" or check.id not in achievements]
    named = {name for check in left for name in check.kind.references()}
    found: set[str] = set()
    for check in checks:
        if check in left or check.id in named:
            kinds = check.kind.kinds()
            if check.kind.uses_history and not kinds:
                return frozenset()
            found |= kinds
    return frozenset(found) or _SOME


def _await_recorder(home: Path, kinds: frozenset[str]) -> list[str]:
    """The recorder is a step behind the cluster; a check of what happened must not be."""
    synced = wait_synced(recorder_socket(home), RECORDER_SECONDS, kinds)
    if not synced.answered:
        raise EnvironmentProblem(
            _("the recorder of this lab does not answer, so that nobody could say what happened"),
            _("it is restarted by itself: try again; `grader status` says how it is"),
        )
    if synced.synced:
        return []
    behind = ", ".join(synced.behind)
    return [_("the record of {kinds} was behind the cluster: check again").format(kinds=behind)]


def _remembered(home: Path) -> tuple[dict[str, float], list[str]]:
    """What was achieved before; a progress file that can't be used costs a note, not the verdict."""
    try:
        progress = load_progress(home)
    except EnvironmentProblem as problem:
        return {}, [problem.message]
    return dict(progress.achievements), [progress.note] if progress.note else []


def _save(home: Path, lab: Lab, report: RunReport, *, counted: bool) -> list[str]:
    results = report.results
    try:
        notes = [remember_results(home, results, at=report.at, whole_lab=report.whole_lab).note]
        if counted:
            taken = {"at": report.at, "seconds": report.seconds}
            notes.append(record_run(lab.id, results, steps_in_lab=len(lab.steps), **taken, folder=home))
        notes.append(note_check(home, lab, results, report.at, counted=counted))
    except EnvironmentProblem as problem:
        return [problem.message]
    return [text for text in notes if text]
