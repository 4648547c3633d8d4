"""What a version of a Kueue Workload says: whether it waits or may run, and what is new against the version before.

Owns that reading, as `pods` owns that of pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.objects import condition, terminating
from grader.timeline.model import Phase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.checks.objects import Object
    from grader.timeline.pods import Told

_TOLD = ("QuotaReserved", "Admitted", "PodsReady", "Evicted", "Preempted", "Requeued", "Finished")


def phase_of(workload: Object) -> Phase:
    """Where a Workload stands in Kueue."""
    finished = condition(workload, "Finished") or {}
    if terminating(workload):
        return Phase.TERMINATING
    if finished.get("status") == "True":
        return Phase.FAILED if finished.get("reason") == "Failed" else Phase.SUCCEEDED
    if _holds(workload, "Admitted"):
        return Phase.ADMITTED
    return Phase.RESERVED if _holds(workload, "QuotaReserved") else Phase.QUEUED


def news(before: Object | None, after: Object) -> Iterator[Told]:
    """Each condition that changed, with the message that came with it."""
    if before is None:
        queue = (after.get("spec") or {}).get("queueName", "")
        yield _("created, for queue {queue}").format(queue=queue), False
    for kind in _TOLD:
        new, old = condition(after, kind), condition(before or {}, kind)
        if new is None or (old is not None and _gist(old) == _gist(new)):
            continue
        bad = kind in ("Evicted", "Preempted") and new.get("status") == "True"
        yield f"{kind}={new.get('status')}: {new.get('message', '')}".rstrip(": "), bad
    if terminating(after) and not (before and terminating(before)):
        yield _("its deletion began"), False


def _gist(said: dict[str, object]) -> tuple[object, object, object]:
    return said.get("status"), said.get("reason"), said.get("message")


def _holds(workload: Object, kind: str) -> bool:
    return (condition(workload, kind) or {}).get("status") == "True"
