"""A verification for programs: JSON `batchlab/verify/v1`, and JUnit for CI systems.

Owns both formats: `docs/schemas/verify-v1.json` is made from the models below; `docs/json.md` says it in words.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from cluster.i18n import _
from grader.report.json import Count, Model, Seconds, Text, Time, utc
from grader.report.junit import count_cases, outcome, seconds, write_xml
from grader.verify.model import PartOutcome, Phase

if TYPE_CHECKING:
    from grader.verify.model import Part, VerifyReport

SCHEMA: Final = "batchlab/verify/v1"


class PartPart(Model):
    """One thing a lab must prove."""

    phase: Phase = Field(
        description="text: it says what the solution needs, and each step has a check. start: untouched, nothing "
        "passes. solution: one step. memory: solved, with and without what was achieved before. answers: the text "
        "tells none. wrong: one wrong answer. reset: the start again. "
        "values: all of it with other values."
    )
    name: Text = Field(description="The step of a solution, the folder of a wrong answer, the values; else empty.")
    check: Text | None = Field(description="With wrong: the check that must fail.")
    says: Text | None = Field(description="With wrong: what is wrong with the answer.")
    outcome: PartOutcome = Field(description="defect: the lab's. error: the machine's, the cluster's or ours.")
    fault: Literal["environment", "bug"] | None = Field(description="With error: whose.")
    problems: tuple[Text, ...]
    notes: tuple[Text, ...]
    seconds: Seconds


class Resets(Model):
    """What beginning again cost."""

    count: Count
    seconds: Seconds


class SpentPart(Model):
    """Where the time went; the little that is left is the grader's own."""

    start: Seconds = Field(description="Until the lab was ready for the first time.")
    resets: Seconds
    scripts: Seconds = Field(description="Solutions and wrong answers.")
    checks: Seconds
    pauses: Seconds = Field(description="Before another look at a check that still waited.")
    stop: Seconds


class VerifyDocument(Model):
    """What `grader verify --json` writes for each lab."""

    schema_name: Literal["batchlab/verify/v1"] = Field(alias="schema")
    lab: Text
    title: Text
    at: Time = Field(description="When it ended.")
    seconds: Seconds = Field(description="From the start of the lab to its stop.")
    exit_code: Literal[0, 1, 3, 4] = Field(
        description="0 proved, 1 the lab has a defect, 3 the machine or cluster failed, 4 the grader failed."
    )
    whole: bool = Field(description="False where only some wrong answers were asked for.")
    parts: tuple[PartPart, ...] = Field(description="In the order they ran.")
    unproven: tuple[Text, ...] = Field(
        description="Checks that no wrong answer made fail, but for those not run; empty unless whole."
    )
    only_by_achievement: tuple[Text, ...] = Field(
        description="Checks that the solved lab passes only because they once did."
    )
    resets: Resets
    spent: SpentPart
    kept: Text = Field(
        description="The session folder that `--keep` left running after a part failed; empty if none was."
    )
    trouble: Text = Field(description="What went wrong when the lab was stopped; empty if nothing did.")


def render_verify_json(report: VerifyReport) -> str:
    """The document for `report`, indented, ended by a new line."""
    content = {
        "schema": SCHEMA,
        "lab": report.lab,
        "title": report.title,
        "at": utc(report.at),
        "seconds": round(report.seconds, 3),
        "exit_code": report.exit_code,
        "whole": report.whole,
        "parts": [_part(part) for part in report.parts],
        "unproven": report.unproven,
        "only_by_achievement": report.only_by_achievement,
        "resets": {"count": report.resets, "seconds": round(report.spent.resets, 3)},
        "spent": {what: round(seconds, 3) for what, seconds in asdict(report.spent).items()},
        "kept": report.kept,
        "trouble": report.trouble,
    }
    return VerifyDocument.model_validate(content).model_dump_json(by_alias=True, indent=2) + "\n"


def render_verify_junit(*reports: VerifyReport) -> str:
    """One document for any number of labs: a testsuite for each phase of each, a testcase for each part."""
    total = sum(report.seconds for report in reports)
    root = ET.Element("testsuites", {"name": "grader verify", "time": seconds(total)})
    for report in reports:
        for phase in Phase:
            parts = [part for part in report.parts if part.phase is phase]
            if parts:
                root.append(_suite(report, phase, parts))
    return write_xml(root)


def _part(part: Part) -> dict[str, object]:
    return {
        "phase": part.phase,
        "name": part.name,
        "check": part.check or None,
        "says": part.says or None,
        "outcome": part.outcome,
        "fault": part.fault or None,
        "problems": part.problems,
        "notes": part.notes,
        "seconds": round(part.seconds, 3),
    }


def _suite(report: VerifyReport, phase: Phase, parts: list[Part]) -> ET.Element:
    suite = ET.Element(
        "testsuite",
        {
            "name": f"{report.lab} {phase.value}",
            "timestamp": utc(report.at).partition(".")[0],
            "time": seconds(sum(part.seconds for part in parts)),
        },
    )
    for part in parts:
        case = ET.SubElement(
            suite,
            "testcase",
            {
                "name": part.name or phase.value,
                "classname": f"{report.lab}.{phase.value}",
                "time": seconds(part.seconds),
            },
        )
        lines = [*([part.says] if part.says else []), *part.problems]
        first = part.problems[0] if part.problems else ""
        match part.outcome:
            case PartOutcome.DEFECT:
                outcome(case, "failure", "defect", first, lines)
            case PartOutcome.ERROR:
                outcome(case, "error", part.fault, first, lines)
            case PartOutcome.NOT_RUN:
                outcome(case, "skipped", "", _("not run: what it needs failed before"))
    count_cases(suite)
    return suite
