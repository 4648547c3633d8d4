"""A run as one JSON document, schema `batchlab/check/v1`.

Owns that schema: the models below are what is written, `docs/schemas/check-v1.json` is made from them, and
`docs/json.md` says it in words. A key may be added within v1; one that changes or goes makes a v2.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from cluster.i18n import language
from grader.results import State

if TYPE_CHECKING:
    from grader.report.model import RunReport, StepReport
    from grader.results import Result

SCHEMA = "batchlab/check/v1"


def readable(text: object) -> object:
    """Text as UTF-8 can hold it: a file name that is no UTF-8 comes to us with lone surrogates."""
    return text.encode("utf-8", "backslashreplace").decode() if isinstance(text, str) else text


def utc(at: float) -> str:
    """A Unix time as RFC 3339 in UTC, to the millisecond."""
    whole, milliseconds = divmod(round(at * 1000), 1000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(whole))}.{milliseconds:03d}Z"


Text = Annotated[str, BeforeValidator(readable)]
Time = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
Seconds = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]


class Model(BaseModel):
    """Part of a document: nothing in it but what the schema names."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class FindingPart(Model):
    """Why a check did not pass, in `language`; never the answer."""

    wanted: Text
    saw: Text
    where: tuple[Text, ...] = Field(description="Object paths, file:line, spans of history.")
    look_at: Text = Field(description="A command or field to look at next.")
    why: Text = Field("", description="The well-known cause behind it; empty where there is none.")


class CheckPart(Model):
    """One check."""

    id: Text
    says: Text = Field(description="What is true when it passes, in `language`.")
    state: State
    seconds: Seconds = Field(description="How long it was looked at, waiting included.")
    weight: Annotated[int, Field(ge=1)]
    achieved: Time | None = Field(description="When it first passed, if it is one that stays passed.")
    after: Text | None = Field(description="With skipped: the check that must pass first.")
    fault: Literal["environment", "bug", "lab"] | None = Field(description="With error: whose. Never the learner's.")
    finding: FindingPart | None = Field(description="None with passed and skipped.")
    evidence: tuple[Text, ...] = Field(description="What was looked at, one line each.")
    read: tuple[Text, ...] = Field(
        (), description="What was read: objects with resourceVersions, files with digests, entries of the history."
    )
    decided: tuple[Text, ...] = Field((), description="Which comparison decided; never an answer.")


class StepPart(Model):
    """One step; its state is the worst of its checks': error, failed, waiting, skipped, passed."""

    number: Annotated[int, Field(ge=1)]
    id: Text
    title: Text
    state: State
    checks: tuple[CheckPart, ...]


class Sum(Model):
    """How much of how much passed."""

    passed: Count
    total: Count


class Totals(Model):
    """Over everything that was looked at."""

    steps: Sum
    checks: Sum
    weight: Sum = Field(description="Checks counted by their weight.")


class CheckDocument(Model):
    """What `grader check --json` writes."""

    schema_name: Literal["batchlab/check/v1"] = Field(alias="schema")
    lab: Text
    title: Text
    language: Literal["en", "ko"] = Field(description="Of findings and messages.")
    at: Time = Field(description="When the run ended.")
    seconds: Seconds
    exit_code: Literal[0, 1, 3, 4] = Field(
        description="0 all passed, 1 not all passed, 3 the cluster or machine failed, 4 the grader failed."
    )
    whole_lab: bool = Field(description="False where only some steps were asked for.")
    steps: tuple[StepPart, ...]
    totals: Totals


def render_json(report: RunReport) -> str:
    """The document for `report`, indented, ended by a new line."""
    return document(report).model_dump_json(by_alias=True, indent=2) + "\n"


def document(report: RunReport) -> CheckDocument:
    """The report as the document's model."""
    results = report.results
    passed = [result for result in results if result.state is State.PASSED]
    return CheckDocument.model_validate(
        {
            "schema": SCHEMA,
            "lab": report.lab,
            "title": report.title,
            "language": language(),
            "at": utc(report.at),
            "seconds": round(report.seconds, 3),
            "exit_code": report.exit_code,
            "whole_lab": report.whole_lab,
            "steps": [_step(step) for step in report.steps],
            "totals": {
                "steps": {"passed": report.steps_passed, "total": len(report.steps)},
                "checks": {"passed": len(passed), "total": len(results)},
                "weight": {
                    "passed": sum(result.weight for result in passed),
                    "total": sum(result.weight for result in results),
                },
            },
        }
    )


def _step(step: StepReport) -> dict[str, object]:
    return {
        "number": step.number,
        "id": step.id,
        "title": step.title,
        "state": step.state,
        "checks": [_check(check.result, check.blocked_by) for check in step.checks],
    }


def _check(result: Result, after: str) -> dict[str, object]:
    finding = result.finding
    whose = "bug" if result.our_bug else "lab" if result.lab_fault else "environment"
    fault = whose if result.state is State.ERROR else None
    return {
        "id": result.check,
        "says": result.says,
        "state": result.state,
        "seconds": round(result.seconds, 3),
        "weight": result.weight,
        "achieved": None if result.achieved is None else utc(result.achieved),
        "after": after or None,
        "fault": fault,
        "finding": None
        if result.state in (State.PASSED, State.SKIPPED)
        else {
            "wanted": finding.wanted,
            "saw": finding.saw,
            "where": finding.where,
            "look_at": finding.look_at,
            "why": finding.why,
        },
        "evidence": result.evidence,
        "read": result.read,
        "decided": result.decided,
    }


def parse_results(text: str) -> list[Result]:
    """The results in a document that `render_json` wrote; ValueError where it is none."""
    from grader.results import Finding, Result

    found = CheckDocument.model_validate_json(text)
    return [
        Result(
            check=check.id,
            step=step.number,
            step_id=step.id,
            says=check.says,
            state=check.state,
            finding=Finding(**check.finding.model_dump()) if check.finding else Finding(),
            seconds=check.seconds,
            weight=check.weight,
            achieved=None if check.achieved is None else parse_utc(check.achieved),
            evidence=check.evidence,
            read=check.read,
            decided=check.decided,
            our_bug=check.fault == "bug",
            lab_fault=check.fault == "lab",
        )
        for step in found.steps
        for check in step.checks
    ]


def parse_utc(text: str) -> float:
    """The inverse of `utc`."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC).timestamp()
