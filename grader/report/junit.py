"""A run as JUnit XML, for CI systems: one testsuite for each step, one testcase for each check.

Owns that mapping: failed and waiting are failures (told apart by `type`), skipped is skipped, error is an
error. Knows nothing of who reads it. The dialect is the one that Jenkins, GitLab and GitHub readers share.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.report.json import utc
from grader.report.layout import clean, one_line
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.report.model import CheckReport, RunReport, StepReport


def render_junit(report: RunReport) -> str:
    """The XML document for `report`, ended by a new line."""
    root = ET.Element("testsuites", {"name": report.lab, "time": seconds(report.seconds)})
    for step in report.steps:
        root.append(_suite(report, step))
    return write_xml(root)


def write_xml(root: ET.Element) -> str:
    """A whole document with sums on the root, indented."""
    for count in ("tests", "failures", "errors", "skipped"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def count_cases(suite: ET.Element) -> None:
    """Set the sums on one suite from the cases in it."""
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(case.find(tag) is not None for case in cases)))


def outcome(case: ET.Element, tag: str, kind: str, message: str, lines: Iterable[str] = ()) -> None:
    """Put a failure, error or skip into a case; what XML can't hold is written as an escape."""
    found = ET.SubElement(case, tag)
    if kind:
        found.set("type", kind)
    found.set("message", one_line(message))
    found.text = "\n".join(clean(line) for line in lines) or None


def seconds(value: float) -> str:
    """A duration as JUnit readers want it."""
    return f"{value:.3f}"


def _suite(report: RunReport, step: StepReport) -> ET.Element:
    suite = ET.Element(
        "testsuite",
        {
            "name": f"{step.number} {step.id}",
            "timestamp": utc(report.at).partition(".")[0],
            "time": seconds(sum(check.result.seconds for check in step.checks)),
        },
    )
    for check in step.checks:
        suite.append(_case(report, step, check))
    count_cases(suite)
    return suite


def _case(report: RunReport, step: StepReport, check: CheckReport) -> ET.Element:
    result, finding = check.result, check.result.finding
    case = ET.Element(
        "testcase",
        {
            "name": one_line(result.check),
            "classname": f"{report.lab}.{step.id}",
            "time": seconds(result.seconds),
        },
    )
    told = [
        f"{label}: {text}"
        for label, text in (
            (_("says"), result.says),
            (_("wanted"), finding.wanted),
            (_("saw"), finding.saw),
            (_("why"), finding.why),
            (_("where"), " · ".join(finding.where)),
            (_("look at"), finding.look_at),
        )
        if text
    ]
    if result.state in (State.FAILED, State.WAITING):
        outcome(case, "failure", result.state.value, finding.saw or result.says, told)
    elif result.state is State.ERROR:
        whose = "bug" if result.our_bug else "lab" if result.lab_fault else "environment"
        outcome(case, "error", whose, finding.saw or result.says, told)
    elif result.state is State.SKIPPED:
        outcome(case, "skipped", "", _skipped(check))
    return case


def _skipped(check: CheckReport) -> str:
    return _("after {check}").format(check=check.blocked_by) if check.blocked_by else check.result.finding.saw
