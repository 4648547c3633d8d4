"""The verdict as a learner reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from cluster import i18n
from grader.report import make_report, render_text, step_line
from grader.results import Finding, Result, State

if TYPE_CHECKING:
    from grader.lab.model import Lab
    from tests.unit.conftest import Golden
    from tests.unit.report.conftest import Answer, Run

SKIPS = ("group-recreated", "other-untouched", "wide-placed")


@pytest.fixture
def mixed(answer: Answer) -> list[Result]:
    """One of everything: a lone failure, a step half done, one that waits, one skipped, one in error."""
    names = Finding(
        wanted="one line for each of llm-0, llm-0-1, llm-1 and llm-1-1",
        saw="no line for llm-1-1; line 3 says worker=2, and no pod of group 1 has the worker index 2",
        where=("names.txt:3", "Pod infer/llm-1-1"),
        look_at="kubectl -n infer get pods -L leaderworkerset.sigs.k8s.io/group-index",
    )
    restart = Finding(
        wanted="every pod of group 0 new after restart.txt was written",
        saw="llm-0 is new, llm-0-1 is the same pod as before (a2ecc70a)",
        where=("restart.txt:1", "Pod infer/llm-0-1", "history 12:03:11 to 12:03:40"),
        look_at="kubectl -n infer get events --field-selector involvedObject.kind=LeaderWorkerSet",
    )
    return [
        answer("names-match", State.FAILED, names),
        answer("group-recreated", State.FAILED, restart),
        answer("other-untouched", State.SKIPPED),
        answer("one-by-one", State.WAITING, Finding(saw="1 of 2 groups runs the new revision"), seconds=4.2),
        answer("same-set", State.PASSED),
        answer("wide-placed", State.SKIPPED),
        answer(
            "half-started",
            State.ERROR,
            Finding(saw="the recorder was down 12:05:02 to 12:05:09", look_at="grader reset lab-lws"),
        ),
    ]


@pytest.fixture
def untouched(lab: Lab, answer: Answer) -> list[Result]:
    """The first run: nothing is done yet."""
    missing = Finding(wanted="lws.yaml in the work folder", saw="there is no file lws.yaml", where=("lws.yaml",))
    return [
        answer(check.id, State.SKIPPED if check.id in SKIPS else State.FAILED, missing)
        for step in lab.steps
        for check in step.checks
    ]


def plain(text: str) -> str:
    return re.sub(r"\x1b\[\d+m", "", text)


def test_golden_mixed(run: Run, mixed: list[Result], golden: Golden) -> None:
    golden("report/mixed.txt", render_text(run(mixed)))


def test_golden_mixed_in_full(run: Run, mixed: list[Result], golden: Golden) -> None:
    golden("report/mixed-full.txt", render_text(run(mixed), full=True))


def test_golden_first_run(run: Run, untouched: list[Result], golden: Golden) -> None:
    golden("report/first-run.txt", render_text(run(untouched)))


def test_golden_all_passed(run: Run, golden: Golden) -> None:
    golden("report/all-passed.txt", render_text(run()))


def test_golden_one_step(run: Run, answer: Answer, golden: Golden) -> None:
    finding = Finding(wanted="both UIDs", saw="no line group1_before=", where=("restart.txt",))
    report = run(answer("before-right", State.FAILED, finding), steps=["restart"])
    golden("report/one-step.txt", render_text(report, full=True))


def test_golden_korean_lab(run: Run, answer: Answer, golden: Golden) -> None:
    """Korean titles, sentences and labels in the same columns."""
    i18n.set_language("ko")
    finding = Finding(
        wanted="restart.txt가 기록된 뒤 그룹 0의 모든 파드가 새것이어야 한다",
        saw="llm-0은 새 파드이지만 llm-0-1은 이전과 같은 파드이고(a2ecc70a) 아직 이전 노드에서 실행되고 있다",
        where=("restart.txt:1", "Pod infer/llm-0-1", "기록 12:03:11~12:03:40"),
        look_at="kubectl -n infer get events --field-selector involvedObject.kind=LeaderWorkerSet",
    )
    report = run(
        answer("group-recreated", State.FAILED, finding, says="그룹 0이 하나로 다시 떴다"),
        answer("other-untouched", State.SKIPPED, says="그룹 1은 그대로 남았다"),
        language="ko",
    )
    golden("report/korean.txt", render_text(report))


def test_golden_korean_words(run: Run, mixed: list[Result], golden: Golden) -> None:
    i18n.set_language("ko")
    golden("report/korean-words.txt", render_text(run(mixed, language="ko")))


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_line_is_wider_than_asked(run: Run, mixed: list[Result], width: int, full: bool, language: str) -> None:
    lines = render_text(run(mixed, language=language), width=width, full=full).splitlines()
    too_wide = [line for line in lines if cell_len(line) > width]
    # A word of a command is never broken: what is copied must still run.
    assert all(line.split()[-1].startswith(("leaderworkerset.sigs", "involvedObject")) for line in too_wide)
    assert not too_wide or width == 60
    assert not any(line != line.rstrip() for line in lines)


@pytest.mark.parametrize("full", [False, True])
def test_colour_adds_nothing_but_colour(run: Run, mixed: list[Result], full: bool) -> None:
    coloured = render_text(run(mixed), full=full, colour=True)
    assert coloured != render_text(run(mixed), full=full)
    assert plain(coloured) == render_text(run(mixed), full=full)


def test_first_run_is_no_wall(run: Run, untouched: list[Result]) -> None:
    lines = render_text(run(untouched)).splitlines()
    assert sum(line.startswith((" FAIL", " SKIP")) for line in lines) == 8
    # Told in full: the first step only.
    assert sum("wanted" in line for line in lines) == 1
    assert len(lines) <= 24
    assert "grader check lab-lws --step 2" in lines[-1]


def test_no_hint_is_offered_for_another_step(run: Run, untouched: list[Result]) -> None:
    # The first failing step of the example has no hints.
    assert "grader hint" not in render_text(run(untouched))


def test_hint_of_the_first_failing_step_is_offered(run: Run, mixed: list[Result]) -> None:
    assert render_text(run(mixed)).endswith("a hint: grader hint lab-lws names\n")


def test_step_that_is_half_done_is_told_though_an_earlier_one_fails(run: Run, mixed: list[Result]) -> None:
    text = render_text(run(mixed))
    assert "every pod of group 0 new" in text
    assert "more on a step" not in text


def test_further_failing_checks_of_a_step_are_named(run: Run, answer: Answer) -> None:
    report = run(
        answer("file-right", State.FAILED, Finding(saw="size is 4")),
        answer("live-right", State.FAILED, Finding(saw="hidden detail")),
        answer("four-running", State.WAITING, Finding(saw="2 run")),
    )
    text = render_text(report)
    assert "also       the live LWS llm has GPUs" in text
    assert "four pods of llm run on the real node (waiting)" in text
    assert "hidden detail" not in text
    assert "hidden detail" in render_text(report, full=True)


@pytest.mark.parametrize(
    ("our_bug", "words"),
    [(False, "our fault, not yours: x went wrong"), (True, "our bug, not your fault: x went wrong")],
)
def test_an_error_never_reads_as_a_failure(run: Run, answer: Answer, our_bug: bool, words: str) -> None:
    error = answer("dns-match", State.ERROR, Finding(saw="x went wrong"), our_bug=our_bug)
    for full in (False, True):
        text = render_text(run(error), full=full)
        assert words in text
        assert "FAIL" not in text
        assert "that is not a failure of yours" in text
        assert "passed." not in text


def test_error_in_a_step_shows_over_its_failures(run: Run, answer: Answer) -> None:
    text = render_text(
        run(
            answer("half-started", State.ERROR, Finding(saw="the cluster is away")),
            answer("reason-quoted", State.FAILED, Finding(saw="nothing")),
        )
    )
    assert " ERR   8 orphan   our fault, not yours: the cluster is away" in text


def test_skipped_names_what_it_waits_for(run: Run, answer: Answer) -> None:
    by_step = run(answer("one-by-one", State.FAILED), answer("wide-placed", State.SKIPPED))
    assert step_line(by_step.steps[6]) == "after step 6"
    # Also where that step was not asked for.
    alone = run(answer("wide-placed", State.SKIPPED), steps=["wide"])
    assert step_line(alone.steps[0]) == "after step 6"
    within = run(answer("before-right", State.FAILED), answer("group-recreated", State.SKIPPED))
    assert "group 0 came back as one (after before-right)" in render_text(within, full=True)
    # A check that is skipped for a reason we don't know of says it itself.
    other = run(answer("names-match", State.SKIPPED, Finding(saw="not in this run")))
    assert step_line(other.steps[1]) == "not in this run"


def test_waiting_says_what_is_waited_for_what_there_is_and_how_long(run: Run, answer: Answer) -> None:
    def told(finding: Finding, seconds: float) -> list[str]:
        lines = render_text(run(answer("one-by-one", State.WAITING, finding, seconds=seconds))).splitlines()
        first = lines.index(" WAIT  6 rollout  the groups rolled one after the other")
        return [line.split(maxsplit=1)[1] for line in lines[first + 1 :] if line.startswith("       saw")]

    # A bare number would say nothing without the sentence of the check.
    assert told(Finding(saw="0", wanted="4"), 30.4) == ["0, waited 30 s"]
    assert told(Finding(saw="0", wanted="4"), 0.3) == ["0"]
    assert told(Finding(), 30.4) == ["waited 30 s"]
    assert told(Finding(), 0.3) == []


def test_what_a_learner_wrote_cannot_rewrite_the_verdict(run: Run, answer: Answer) -> None:
    evil = Finding(saw="line 1 is '\x1b[2J\x1b[H PASS'", where=("na\rme:1",), look_at="cat '\x1b]0;x\x07'")
    text = render_text(run(answer("names-match", State.FAILED, evil)), full=True)
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text) is None
    assert "\\x1b[2J" in text


def test_a_flood_is_cut(run: Run, answer: Answer) -> None:
    text = render_text(run(answer("names-match", State.FAILED, Finding(saw="a " * 1_000_000))))
    assert len(text.splitlines()) < 40


def test_results_of_unknown_checks_are_our_bug(lab: Lab) -> None:
    stray = Result(check="nonesuch", step=1, step_id="groups", says="", state=State.PASSED)
    with pytest.raises(KeyError, match="nonesuch"):
        make_report(lab, [stray], at=0.0, seconds=0.0)


def test_whose_fault_it_is_is_said_once(run: Run, answer: Answer) -> None:
    """The engine says it of a bug, too, and ends the sentence about a gap with the way out."""
    bug = answer("dns-match", State.ERROR, Finding(saw="our fault, not yours: KeyError: 'x'"), our_bug=True)
    gap = answer("env-match", State.ERROR, Finding(saw="a gap; grader reset lab-lws", look_at="grader reset lab-lws"))
    lines = render_text(run(bug, gap)).splitlines()
    assert " ERR   4 dns      our bug, not your fault: KeyError: 'x'" in lines
    assert " ERR   3 env      our fault, not yours: a gap; grader reset lab-lws" in lines
    assert not any("look at" in line for line in lines)
