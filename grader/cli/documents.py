"""What `--json` prints where no other module owns it: list, show, start, hint, status, lint, doctor, binaries.

Owns these schemas, as `grader.report.json` owns the verdict's: `docs/schemas/` is made from them, `docs/json.md`
says them in words. A key may be added within v1; one that changes or goes makes a v2.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from grader.report.json import Count, Model, Seconds, Text, Time, utc


def _written(at: object) -> object:
    return utc(at) if isinstance(at, int | float) else at


Number = Annotated[int, Field(ge=1)]
Moment = Annotated[Time, BeforeValidator(_written)]
"""A Unix time, written as RFC 3339 in UTC."""


class StepPassed(Model):
    """A step, and whether it ever passed."""

    id: Text
    title: Text
    passed: bool


class LabListed(Model):
    """One lab of the catalogue."""

    id: Text
    title: Text
    minutes: Count = Field(description="What it takes a learner.")
    after: tuple[Text, ...] = Field(description="Labs to do before.")
    needs_root: bool = Field(description="Whether it has a node that runs real containers.")
    collection: Text | None = Field(description="The collection it is of; None for a lab that came with Batchlab.")
    accepted: bool = Field(description="Whether it may be run: false for one of a collection that is not accepted.")
    steps: tuple[StepPassed, ...]


class ListDocument(Model):
    """What `grader list --json` writes."""

    schema_name: Literal["batchlab/list/v1"] = Field("batchlab/list/v1", alias="schema")
    labs: tuple[LabListed, ...] = Field(description="In the order to do them, ours first, then each collection's.")


class Promise(Model):
    """One check of a step."""

    id: Text
    says: Text = Field(description="What is true when it passes.")


class StepShown(Model):
    """One step, without hints and without what its checks compare with."""

    number: Number
    id: Text
    title: Text
    body: Text = Field(description="Markdown.")
    checks: tuple[Promise, ...]
    hints: Count = Field(description="How many there are.")


class ShowDocument(Model):
    """What `grader show --json` writes."""

    schema_name: Literal["batchlab/show/v1"] = Field("batchlab/show/v1", alias="schema")
    id: Text
    title: Text
    language: Literal["en", "ko"] = Field(description="Of the lab's text.")
    minutes: Count
    after: tuple[Text, ...]
    needs_root: bool
    namespace: Text = Field(description="The default one in the lab's shell.")
    workdir: Text = Field(description="Name of the work folder in the lab's shell.")
    values: dict[Text, int | Text] = Field(default={}, description="What was drawn for this session, by name.")
    examples: tuple[Text, ...] = Field((), description="Names of values that no session has drawn yet.")
    intro: Text = Field(description="Markdown.")
    steps: tuple[StepShown, ...] = Field(description="All, or the one asked for.")


class HintDocument(Model):
    """What `grader hint --json` writes."""

    schema_name: Literal["batchlab/hint/v1"] = Field("batchlab/hint/v1", alias="schema")
    lab: Text
    step: Text
    hints: tuple[Text, ...] = Field(description="Every hint shown so far, in markdown.")
    left: Count = Field(description="How many are still to be asked for.")


class SteeredPod(Model):
    """One pod that was told to end."""

    pod: Text = Field(description="namespace/name.")
    becomes: Literal["Failed", "Succeeded", "Restarted"]
    exit_code: Annotated[int, Field(ge=0, le=255)]


class FaultDocument(Model):
    """What `grader fail --json` and `grader complete --json` write."""

    schema_name: Literal["batchlab/fault/v1"] = Field("batchlab/fault/v1", alias="schema")
    lab: Text
    pods: tuple[SteeredPod, ...]


class TaskTimed(Model):
    """One task of a boot."""

    task: Text
    kind: Literal["program", "step"] = Field(description="A program that is kept running, or an action with an end.")
    wave: Count = Field(description="From 1: one more than the last of what it needs. 0: it had no plan.")
    needs: tuple[Text, ...] = Field(description="Tasks that come first.")
    began: Seconds = Field(description="Since the machine's first moment.")
    seconds: Seconds = Field(description="From its launch until it was ready.")
    objects: Count | None = Field(description="How many objects it applied; None where it applies none.")


class LegTimed(Model):
    """One stretch of a critical path."""

    task: Text
    seconds: Seconds = Field(description="By which it held up the next one.")


class BootTimed(Model):
    """The boot of a machine, by its own clock."""

    seconds: Seconds = Field(description="From the machine's first moment to READY.")
    tasks: tuple[TaskTimed, ...] = Field(description="Wave by wave, in the order in which they began.")
    after_ready: tuple[str, ...] = Field(description="What READY did not wait for, and was not done by then.")
    critical_path: tuple[LegTimed, ...] = Field(description="What READY waited for; together they last that long.")


class PartTimed(Model):
    """One part of a command."""

    part: Text
    seconds: Seconds


class TimingsPart(Model):
    """Where the time of a start went."""

    seconds: Seconds = Field(description="Of the command, until it wrote this.")
    parts: tuple[PartTimed, ...] = Field(description="Of the command, in the order in which they began; they add up.")
    boot: BootTimed | None = Field(description="Of the start that brought the lab up, or None.")


class StartDocument(Model):
    """What `grader start --json` writes."""

    schema_name: Literal["batchlab/start/v1"] = Field("batchlab/start/v1", alias="schema")
    lab: Text
    already: bool = Field(description="It ran before; nothing was done.")
    folder: Text
    work: Text = Field(description="The folder of the learner's files.")
    timings: TimingsPart


class Progress(Model):
    """Steps that passed at some time, or stops that are done."""

    passed: Count
    total: Count


class Component(Model):
    """One program of a lab's machine."""

    name: Text
    state: Literal["waiting", "starting", "running", "restarting", "failed", "stopped"]
    pid: int | None = Field(description="In the sandbox's numbering.")
    restarts: Count = Field(description="How often it was started again after a crash.")
    since: Moment
    note: Text = Field(description="What happened last, for example how it ended before.")


class Node(Model):
    """One node of a lab's cluster."""

    name: Text
    ready: bool
    real: bool = Field(description="Whether it runs containers; the others only pretend.")
    gpus: Count


class SessionPart(Model):
    """One session."""

    lab: Text
    state: Literal["running", "starting", "stopped", "dead"] = Field(description="dead: it ended without a stop.")
    since: Moment | None
    pid: int | None = Field(description="Of the process that keeps its sandbox.")
    folder: Text
    work: Text = Field(description="The folder of the learner's files.")
    progress: Progress | None = Field(description="None before the first check.")
    notes: tuple[Text, ...] = Field(description="What happened to its components.")
    components: tuple[Component, ...]
    nodes: tuple[Node, ...] | None = Field(description="None where they were not asked for, or not to be had.")


class StatusDocument(Model):
    """What `grader status --json` writes."""

    schema_name: Literal["batchlab/status/v1"] = Field("batchlab/status/v1", alias="schema")
    sessions: tuple[SessionPart, ...]


class Mistake(Model):
    """One mistake in a lab's file."""

    file: Text
    line: Number
    column: Number
    message: Text


class LabLinted(Model):
    """One lab."""

    lab: Text
    folder: Text
    problems: tuple[Mistake, ...]


class ContentLinted(Model):
    """Articles, courses and glossary."""

    folder: Text
    problems: tuple[Mistake, ...]


class LintDocument(Model):
    """What `grader lint --json` writes."""

    schema_name: Literal["batchlab/lint/v1"] = Field("batchlab/lint/v1", alias="schema")
    labs: tuple[LabLinted, ...]
    content: ContentLinted | None = Field(description="None where only labs were looked at.")


class PurposePart(Model):
    """Whether the machine can do one thing."""

    purpose: Literal["fake-nodes", "real-node", "build"]
    state: Literal["ready", "needs-root", "not-ready"]
    blocked_by: tuple[Text, ...] = Field(description="Names of findings.")


class FindingPart(Model):
    """One thing looked at."""

    name: Text
    ok: bool
    detail: Text
    remedy: Text = Field(description="What to do about it; empty if nothing is to be done.")
    needed_for: tuple[Literal["fake-nodes", "real-node", "build"], ...]


class DoctorDocument(Model):
    """What `grader doctor --json` writes."""

    schema_name: Literal["batchlab/doctor/v1"] = Field("batchlab/doctor/v1", alias="schema")
    verdicts: tuple[PurposePart, ...]
    findings: tuple[FindingPart, ...]
    install: Text = Field(description="The one command that installs what is missing; empty if nothing is.")


class Program(Model):
    """One pinned program."""

    name: Text
    version: Text
    module: Text = Field(description="The Go module it is built from.")
    size: Count | None = Field(description="Bytes; None while it is not there.")


class BinariesDocument(Model):
    """What `grader binaries list --json` writes."""

    schema_name: Literal["batchlab/binaries/v1"] = Field("batchlab/binaries/v1", alias="schema")
    lock: Text = Field(description="Digest of everything that decides what is built.")
    folder: Text | None = Field(description="Where they are; None while they are not built.")
    built: Moment | None
    go: Text | None = Field(description="The Go that built them.")
    size: Count = Field(description="Bytes of everything in the folder.")
    programs: tuple[Program, ...]
