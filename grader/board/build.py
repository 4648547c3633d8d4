"""From the objects there are to a board.

Owns which lines there are and in what order; each kind of line is another module's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.board.model import Board, EventLine, Level, Ref
from grader.board.owners import owner_lines
from grader.board.pods import node_lines, see_pod
from grader.board.queues import queue_lines
from grader.diagnosis.scene import said_at
from grader.timeline.text import short

if TYPE_CHECKING:
    from grader.board.store import Store
    from grader.checks.objects import Object

KINDS = (
    *("Pod", "Node", "Event", "Job", "JobSet", "LeaderWorkerSet", "StatefulSet", "Deployment"),
    *("TrainJob", "PyTorchJob", "MPIJob", "Workload", "ClusterQueue", "LocalQueue", "Cohort", "ResourceFlavor"),
)
"""What a board is made of; each is followed by the recorder, whose record is the board's only source."""


def build_board(store: Store, namespace: str) -> Board:
    """Everything as it is. `namespace`: the lab's own."""
    pods = store.each("Pod", see_pod)
    return Board(
        nodes=tuple(node_lines(store.all("Node"), pods)),
        owners=tuple(owner_lines(store)),
        queues=tuple(queue_lines(store)),
        pods=tuple(sorted((pod.line for pod in pods), key=lambda line: (line.node, line.ref))),
        events=tuple(reversed(store.each("Event", event_line))),
        namespace=namespace,
    )


def event_line(event: Object) -> EventLine:
    """What an event says."""
    about = event.get("involvedObject") or {}
    kind, name = str(about.get("kind", "")), str(about.get("name", ""))
    series = event.get("series") or {}
    return EventLine(
        ref=Ref(kind, str(about.get("namespace") or ""), name),
        uid=str((event.get("metadata") or {}).get("uid", "")),
        at=said_at(event),
        reason=str(event.get("reason") or ""),
        about=f"{short(kind)}/{name}",
        message=" ".join(str(event.get("message") or "").split()),
        count=int(series.get("count") or event.get("count") or 1),
        level=Level.BAD if event.get("type") == "Warning" else Level.OK,
    )
