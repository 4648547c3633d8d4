"""A timeline as one JSON document, schema `batchlab/timeline/v1`.

Owns that schema: the models below are what is written, `docs/schemas/timeline-v1.json` is made from them, and
`docs/json.md` says it in words. A key may be added within v1; one that changes or goes makes a v2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from grader.report.json import Model, Text, Time, utc
from grader.timeline.model import Phase, Source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.timeline.model import Group, Life, Moment, Row, Timeline


class SpanPart(Model):
    """A time in one phase."""

    phase: Phase
    start: Time
    end: Time | None = Field(description="Null while it lasts.")


class MomentPart(Model):
    """Something that happened."""

    at: Time
    source: Source = Field(description="`change`: the object itself; `event`: a Kubernetes event about it.")
    says: Text = Field(description="In `language`; messages of the cluster as they are.")
    warning: bool


class LifePart(Model):
    """One object, from its creation to its end."""

    uid: Text
    name: Text
    attempt: Text = Field(description="The JobSet's restart attempt that made it; empty for all else.")
    born: Time
    gone: Time | None = Field(description="Null: it is still there.")
    spans: tuple[SpanPart, ...]
    restarts: tuple[Time, ...] = Field(description="When containers of it were started again.")
    moments: tuple[MomentPart, ...]


class RowPart(Model):
    """A place, and all that ever took it."""

    label: Text
    kind: Text = Field(description="Pod or Workload.")
    lives: tuple[LifePart, ...] = Field(description="Oldest first.")


class GroupPart(Model):
    """Rows of one owner."""

    kind: Text = Field(description="The owner's; empty for pods of nobody.")
    namespace: Text
    name: Text
    part: Text = Field(description="Which part of the owner; empty for the whole.")
    rows: tuple[RowPart, ...]
    moments: tuple[MomentPart, ...] = Field(description="What was said about the owner.")


class UnseenPart(Model):
    """A time in which changes may have been missed."""

    start: Time
    end: Time
    says: Text


class TimelineDocument(Model):
    """What `grader timeline --json` writes."""

    schema_name: Literal["batchlab/timeline/v1"] = Field("batchlab/timeline/v1", alias="schema")
    lab: Text
    language: Literal["en", "ko"] = Field(description="Of the sentences.")
    start: Time
    end: Time = Field(description="Until when it is complete.")
    live: bool = Field(description="Whether more may come.")
    groups: tuple[GroupPart, ...]
    unseen: tuple[UnseenPart, ...]


def content(timeline: Timeline) -> dict[str, Any]:
    """What the document says of a timeline."""
    return {
        "start": utc(timeline.start),
        "end": utc(timeline.end),
        "live": timeline.live,
        "groups": [_group(group) for group in timeline.groups],
        "unseen": [{"start": utc(gap.start), "end": utc(gap.end), "says": gap.says} for gap in timeline.unseen],
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "namespace": group.namespace,
        "name": group.name,
        "part": group.part,
        "rows": [_row(row) for row in group.rows],
        "moments": _moments(group.moments),
    }


def _row(row: Row) -> dict[str, Any]:
    return {"label": row.label, "kind": row.kind, "lives": [_life(life) for life in row.lives]}


def _life(life: Life) -> dict[str, Any]:
    return {
        "uid": life.uid,
        "name": life.name,
        "attempt": life.attempt,
        "born": utc(life.born),
        "gone": _maybe(life.gone),
        "spans": [{"phase": span.phase, "start": utc(span.start), "end": _maybe(span.end)} for span in life.spans],
        "restarts": [utc(at) for at in life.restarts],
        "moments": _moments(life.moments),
    }


def _moments(moments: Iterable[Moment]) -> list[dict[str, Any]]:
    return [
        {"at": utc(moment.at), "source": moment.source, "says": moment.says, "warning": moment.warning}
        for moment in moments
    ]


def _maybe(at: float | None) -> str | None:
    return None if at is None else utc(at)
