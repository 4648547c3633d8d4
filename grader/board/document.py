"""A board as one JSON document, schema `batchlab/board/v1`.

Owns that schema: the models below are what is written, `docs/schemas/board-v1.json` is made from them, and
`docs/json.md` says it in words. A key may be added within v1; one that changes or goes makes a v2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from grader.board.model import OwnerLine, QueueLine, QuotaLine, WorkloadLine
from grader.report.json import Model, Text, Time, utc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.board.feed import Look
    from grader.board.model import AnyQueueLine, EventLine, NodeLine, PodLine, Ref

Trusted = Literal["live", "behind", "silent", "starting", "stopped", "dead"]
LevelName = Literal["ok", "moving", "waiting", "bad"]


class ObjectPart(Model):
    """An object by name, as `grader why` takes it."""

    kind: Text
    namespace: Text = Field(description="Empty for objects of no namespace.")
    name: Text


class LinePart(Model):
    """What every line says."""

    object: ObjectPart
    state: Text = Field(description="The cluster's own word.")
    level: LevelName = Field(description="How well it is: `waiting` for quota, room or a person; `bad` is broken.")


class NodePart(LinePart):
    """A node and its GPUs."""

    fake: bool
    gpus: int
    used: int = Field(description="GPUs that pods have.")
    ending: int = Field(description="Of these, those of pods that are being deleted.")
    pods: int


class GroupPart(LinePart):
    """What makes pods, or one part of it."""

    title: Text
    ready: int
    wanted: int
    gpus: int = Field(description="Of its pods that are on a node.")


class OwnerPart(GroupPart):
    """What makes pods, with its parts."""

    parts: tuple[GroupPart, ...]


class QuotaPart(Model):
    """A quota of a ClusterQueue; amounts as Kubernetes writes them."""

    flavor: Text
    resource: Text
    used: Text
    nominal: Text
    borrowed: Text = Field(description="How much of `used` is others': above nominal.")


class WorkloadPart(LinePart):
    """What waits in a queue, or was admitted."""

    title: Text = Field(description="What it is for, `job/big`.")
    gpus: int
    queue: Text = Field(description="The LocalQueue it names; empty where none.")


class QueuePart(LinePart):
    """A ClusterQueue."""

    cohort: Text = Field(description="Empty where it is in none.")
    admitted: int
    waiting: int
    quotas: tuple[QuotaPart, ...]
    workloads: tuple[WorkloadPart, ...]


class PodPart(LinePart):
    """A pod."""

    node: Text = Field(description="Empty while it is on none.")
    ready: Text = Field(description="Containers, `1/1`.")
    restarts: int
    gpus: int
    born: Time


class EventPart(Model):
    """A Kubernetes event."""

    at: Time
    object: ObjectPart = Field(description="What it is about.")
    reason: Text
    message: Text
    count: int
    warning: bool


class BoardDocument(Model):
    """What `grader board --json` writes."""

    schema_name: Literal["batchlab/board/v1"] = Field("batchlab/board/v1", alias="schema")
    lab: Text
    language: Literal["en", "ko"] = Field(description="Of the sentences.")
    namespace: Text = Field(description="The lab's own.")
    trust: Trusted = Field(description="Whether what is told is what is.")
    says: Text = Field(description="The trust in a sentence.")
    until: Time | None = Field(description="Until when the record is known to be complete; null: there is none.")
    nodes: tuple[NodePart, ...]
    groups: tuple[OwnerPart, ...]
    queues: tuple[QueuePart, ...]
    unqueued: tuple[WorkloadPart, ...] = Field(description="Workloads that are in no ClusterQueue.")
    pods: tuple[PodPart, ...] = Field(description="On no node first, then by node and name.")
    events: tuple[EventPart, ...] = Field(description="The latest first.")


def content(look: Look) -> dict[str, Any]:
    """What the document says of a look."""
    board = look.board
    queues, unqueued = _queues(board.queues)
    return {
        "namespace": board.namespace,
        "trust": look.trust.value,
        "says": look.says,
        "until": utc(look.until) if look.until else None,
        "nodes": list(map(_node, board.nodes)),
        "groups": list(_owners(board.owners)),
        "queues": queues,
        "unqueued": unqueued,
        "pods": list(map(_pod, board.pods)),
        "events": list(map(_event, board.events)),
    }


def _object(ref: Ref) -> dict[str, str]:
    return {"kind": ref.kind, "namespace": ref.namespace, "name": ref.name}


def _line(line: NodeLine | OwnerLine | QueueLine | WorkloadLine | PodLine) -> dict[str, Any]:
    return {"object": _object(line.ref), "state": line.state, "level": line.level.name.lower()}


def _node(line: NodeLine) -> dict[str, Any]:
    figures = {"gpus": line.gpus, "used": line.used, "ending": line.ending, "pods": line.pods}
    return {**_line(line), "fake": line.fake, **figures}


def _owners(lines: Iterable[OwnerLine]) -> Iterator[dict[str, Any]]:
    """Each owner with its parts, which follow it."""
    whole: dict[str, Any] | None = None
    for line in lines:
        figures = {"ready": line.ready, "wanted": line.wanted, "gpus": line.gpus}
        told = {**_line(line), "title": line.title, **figures}
        if line.part and whole is not None:
            whole["parts"].append(told)
            continue
        if whole is not None:
            yield whole
        whole = {**told, "parts": []}
    if whole is not None:
        yield whole


def _queues(lines: Iterable[AnyQueueLine]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Queues with the quotas and Workloads that follow them, and the Workloads of none."""
    queues: list[dict[str, Any]] = []
    unqueued: list[dict[str, Any]] = []
    for line in lines:
        match line:
            case QueueLine():
                figures = {"cohort": line.cohort, "admitted": line.admitted, "waiting": line.waiting}
                queues.append({**_line(line), **figures, "quotas": [], "workloads": []})
            case QuotaLine():
                used, nominal, borrowed = line.amounts
                amounts = {"used": used, "nominal": nominal, "borrowed": borrowed}
                queues[-1]["quotas"].append({"flavor": line.flavor, "resource": line.resource, **amounts})
            case WorkloadLine():
                told = {**_line(line), "title": line.title, "gpus": line.gpus, "queue": line.queue}
                (queues[-1]["workloads"] if queues and line.cluster_queue else unqueued).append(told)
    return queues, unqueued


def _pod(line: PodLine) -> dict[str, Any]:
    figures = {"ready": line.ready, "restarts": line.restarts, "gpus": line.gpus, "born": utc(line.born)}
    return {**_line(line), "node": line.node, **figures}


def _event(line: EventLine) -> dict[str, Any]:
    return {
        "at": utc(line.at),
        "object": _object(line.ref),
        "reason": line.reason,
        "message": line.message,
        "count": line.count,
        "warning": line.level.name == "BAD",
    }
