"""The board as data: lines that can be compared, so that only what changed is drawn again.

Owns what a board consists of; knows nothing of where it comes from or how it is drawn. Times are Unix seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


class Level(IntEnum):
    """How well something is; more is worse."""

    OK = 0
    MOVING = 1
    """On its way to another state, by itself."""
    WAITING = 2
    """For quota, for room, for a person."""
    BAD = 3


class Ref(NamedTuple):
    """An object by name, as `grader why` takes it."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLine:
    """A node and its GPUs."""

    ref: Ref
    used: int
    """GPUs that pods have."""
    ending: int
    """Of these, those of pods that are being deleted."""
    gpus: int
    pods: int
    state: str
    """`Ready`, `NotReady`, `Cordoned`."""
    fake: bool
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerLine:
    """What makes pods, or a part of it."""

    ref: Ref
    title: str
    """`lws/llm`; of a part, `group 0`."""
    part: bool
    ready: int
    wanted: int
    gpus: int
    """Of its pods that are on a node."""
    state: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaLine:
    """One resource of a ClusterQueue in one flavor; amounts as Kubernetes writes them."""

    ref: Ref
    flavor: str
    resource: str
    used: int
    nominal: int
    borrowed: int
    amounts: tuple[str, str, str]
    """Used, nominal and borrowed as Kubernetes writes them: `500m`, which the whole numbers can't say."""
    says: str
    """`6 of 4, 2 borrowed`."""
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLine:
    """A ClusterQueue."""

    ref: Ref
    cohort: str
    admitted: int
    waiting: int
    state: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadLine:
    """A Workload in a ClusterQueue, or on its way to one."""

    ref: Ref
    title: str
    """What it is for: `job/big`; a group of a LeaderWorkerSet: `lws/llm 0`."""
    gpus: int
    queue: str
    """The LocalQueue it names."""
    cluster_queue: str = ""
    """The ClusterQueue it is in; empty where it leads to none."""
    state: str
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class PodLine:
    """A pod, as `kubectl get pods` says it."""

    ref: Ref
    state: str
    ready: str
    """`1/1`."""
    restarts: int
    node: str
    gpus: int
    born: float
    level: Level


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLine:
    """An event."""

    ref: Ref
    """What it is about."""
    uid: str
    at: float
    reason: str
    about: str
    """`pod/llm-0`."""
    message: str
    count: int
    level: Level


AnyQueueLine = QueueLine | QuotaLine | WorkloadLine
Line = NodeLine | OwnerLine | QueueLine | QuotaLine | WorkloadLine | PodLine | EventLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """Everything at one moment."""

    nodes: tuple[NodeLine, ...] = ()
    owners: tuple[OwnerLine, ...] = ()
    """Each owner followed by its parts."""
    queues: tuple[AnyQueueLine, ...] = ()
    """Each queue followed by its quotas, then by its Workloads."""
    pods: tuple[PodLine, ...] = ()
    """On no node first, then by node and name."""
    events: tuple[EventLine, ...] = ()
    """The latest first."""
    namespace: str = ""
    """The lab's own."""

    def named(self, ref: Ref) -> str:
        """A name for a person: with the namespace where it is not the lab's."""
        return f"{ref.namespace}/{ref.name}" if ref.namespace not in ("", self.namespace) else ref.name
