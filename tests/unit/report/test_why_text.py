"""A diagnosis as a person reads it."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from grader.diagnosis import Cause, Diagnosis, Fault, Link
from grader.report import render_text
from grader.report.why_text import render_why
from grader.results import Finding, State
from tests.unit.conftest import Golden
from tests.unit.report.conftest import Answer, Run

CHAIN = (
    Link(object="Job team-a/big", says="suspended: it has no pods; queue small"),
    Link(
        object="Workload team-a/job-big-95806",
        says="QuotaReserved is False (Pending): couldn't assign flavors to pod set main: insufficient quota for "
        "nvidia.com/gpu in flavor small-flavor, previously considered podsets requests (0) + current podset request "
        "(16) > maximum capacity (8)",
    ),
    Link(object="LocalQueue team-a/small", says="leads to ClusterQueue small; Active: True"),
)
CAUSE = Cause(
    id="never-fits",
    says="Job team-a/big can never be admitted: it asks for 16 nvidia.com/gpu, of which ClusterQueue small can have 8 "
    "at most",
    where=("Workload team-a/job-big-95806",),
    look_at="kubectl get clusterqueue small -o yaml",
)


def diagnosis(cause: Cause | None = CAUSE, *, healthy: bool = False) -> Diagnosis:
    return Diagnosis(of="Job team-a/big", state="suspended", chain=CHAIN, cause=cause, healthy=healthy)


def test_golden(golden: Golden) -> None:
    golden("report/why.txt", render_why(diagnosis()))


@pytest.mark.parametrize("width", [40, 80, 100])
def test_lines_fit(width: int) -> None:
    assert max(map(cell_len, render_why(diagnosis(), width=width).splitlines())) <= width


@pytest.mark.parametrize(
    ("healthy", "words"), [(True, "nothing is wrong: suspended"), (False, "no well-known cause: suspended")]
)
def test_without_a_cause_the_state_is_told(healthy: bool, words: str) -> None:
    assert render_why(diagnosis(None, healthy=healthy)).splitlines()[-1] == f" {words}"


def test_what_is_ours_is_said_as_ours() -> None:
    ours = Cause(id="webhook-not-answering", says="the webhook x does not answer", fault=Fault.ENVIRONMENT)
    assert " why      our fault, not yours: the webhook x does not answer\n" in render_why(diagnosis(ours))


def test_nothing_in_a_message_moves_the_cursor() -> None:
    chain = (Link(object="Job a/\x1b[2J", says="\x1b[31mred\u202e"),)
    assert "\x1b" not in render_why(Diagnosis(of="x", state="x", chain=chain))


def test_colour_changes_no_word() -> None:
    import re

    coloured = render_why(diagnosis(), colour=True)
    assert coloured != render_why(diagnosis())
    assert re.sub(r"\x1b\[\d*m", "", coloured) == render_why(diagnosis())


def test_a_verdict_has_the_cause_in_a_line_of_its_own(run: Run, answer: Answer) -> None:
    finding = Finding(wanted="it runs", saw="it is suspended", why="it can never be admitted", where=("Job a/b",))
    lines = render_text(run(answer("names-match", State.FAILED, finding))).splitlines()
    labels = [line.split()[0] for line in lines if line.startswith("       ") and line[7] != " "]
    assert labels == ["wanted", "saw", "why", "where"]
    assert any(line.split() == ["why", "it", "can", "never", "be", "admitted"] for line in lines)
