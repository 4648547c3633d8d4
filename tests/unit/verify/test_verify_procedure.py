"""A right lab is proved; each kind of defect is found and named; failures of the machine are nobody's defect."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cluster.errors import EnvironmentProblem
from grader.results import Finding, Result, State
from grader.verify import PartOutcome, Phase, bench
from grader.verify.model import Spent

if TYPE_CHECKING:
    from grader.verify import Part, VerifyReport
    from tests.unit.verify.conftest import MakeCheck, Scene


def part(report: VerifyReport, phase: Phase, name: str = "") -> Part:
    (found,) = (one for one in report.parts if (one.phase, one.name) == (phase, name))
    return found


def outcomes(report: VerifyReport) -> dict[str, str]:
    return {f"{one.phase.value} {one.name}".strip(): one.outcome.value for one in report.parts}


def error(check: str, step: int, step_id: str, our_bug: bool = False) -> Result:
    finding = Finding(saw="the cluster is away")
    return Result(check=check, step=step, step_id=step_id, says="", state=State.ERROR, finding=finding, our_bug=our_bug)


# -- a right lab --------------------------------------------------------------------------------------------


def test_a_right_lab_is_proved(scene: Scene) -> None:
    report = scene.verify()
    assert list(outcomes(report).items()) == [
        ("text", "ok"),
        ("start", "ok"),
        ("solution one", "ok"),
        ("solution two", "ok"),
        ("solution three", "ok"),
        ("memory", "ok"),
        ("answers", "ok"),
        ("wrong b-bad", "ok"),
        ("wrong d-bad", "ok"),
        ("reset", "ok"),
        ("wrong a-bad", "ok"),
        ("wrong c-bad", "ok"),
    ]
    assert (report.exit_code, report.unproven, report.only_by_achievement) == (0, (), ())
    assert not any(one.problems or one.notes for one in report.parts)
    assert all(one.seconds > 0 for one in report.parts)


def test_what_it_does_and_nothing_more(scene: Scene) -> None:
    driver = scene.driver()
    report = scene.verify(driver)
    assert driver.log == [
        "check all",
        *("run solution/01-one.sh", "check one"),
        *("run solution/02-two.sh", "check two"),
        *("run solution/03-three.sh", "check three"),
        *("check all", "check all", "answers"),
        *("run b-bad/answer.sh", "check all", "check all"),
        *("run d-bad/answer.sh", "check all", "check all"),
        *("reset", "check all"),
        *("run a-bad/answer.sh", "check one"),
        *("reset", "run solution/01-one.sh", "check one", "run c-bad/answer.sh", "check one,three"),
    ]
    # Half a second for everything that is done, by the clock of these tests.
    assert (report.resets, report.spent) == (2, Spent(resets=1.0, scripts=4.0, checks=7.0))


def test_events_announce_and_end_each_part(scene: Scene) -> None:
    report = scene.verify()
    begun = [event for event in scene.events if event.part is None]
    ended = [event for event in scene.events if event.part is not None]
    assert [event.part for event in ended] == list(report.parts)
    assert [(event.phase, event.name) for event in begun] == [(one.phase, one.name) for one in report.parts]
    assert [event.number for event in ended] == list(range(1, 13))
    assert {event.total for event in scene.events} == {12}


def test_achievements_that_do_not_hold_are_noted_not_refused(scene: Scene) -> None:
    # Step three takes away what `b` was achieved with.
    scene.solution["three"] = "set c ok\nfile d ok\nfile b gone"
    del scene.cases["b-bad"]
    report = scene.verify()
    assert report.exit_code == 0
    assert report.only_by_achievement == ("b",)
    assert part(report, Phase.MEMORY).notes == ("b passes only because it once did",)
    # d's wrong answer is still told apart, though b would fail when looked at anew.
    assert outcomes(report)["wrong d-bad"] == "ok"
    assert report.unproven == ("b",)


def test_checks_without_a_wrong_answer_are_listed_as_unproven(scene: Scene) -> None:
    del scene.cases["a-bad"], scene.cases["d-bad"]
    report = scene.verify()
    assert report.unproven == ("a", "d")
    assert report.exit_code == 0


def test_a_check_is_not_proved_by_a_wrong_answer_that_is_not_caught(scene: Scene) -> None:
    scene.cases["d-bad"] = ("d", "solved", (), "file other bad")
    assert scene.verify().unproven == ("d",)


def test_slow_controllers_are_noted(scene: Scene) -> None:
    driver = scene.driver()
    driver.pending = {"c": 2}
    report = scene.verify(driver)
    assert report.exit_code == 0
    assert part(report, Phase.SOLUTION, "three").notes == ("c needed more than one look: `within` is short",)


def test_no_fresh_case_still_proves_the_reset(scene: Scene) -> None:
    del scene.cases["a-bad"], scene.cases["c-bad"]
    report = scene.verify()
    assert outcomes(report)["reset"] == "ok"
    assert report.resets == 1


# -- defects ------------------------------------------------------------------------------------------------


def test_check_that_passes_untouched(scene: Scene, make_check: MakeCheck) -> None:
    scene.checks["two"].append(make_check("free", key="always"))
    driver = scene.driver()
    driver.facts, driver.stubborn = {"always": "ok"}, {"always": "ok"}
    report = scene.verify(driver)
    for phase in (Phase.START, Phase.RESET):
        assert part(report, phase).outcome is PartOutcome.DEFECT
        assert part(report, phase).problems == ("free passes although nothing has been done",)
    assert report.exit_code == 1


def test_reset_that_leaves_something(scene: Scene) -> None:
    driver = scene.driver()
    driver.stubborn = {"a": "ok"}
    report = scene.verify(driver)
    assert part(report, Phase.START).outcome is PartOutcome.OK
    assert part(report, Phase.RESET).problems == ("a passes although nothing has been done",)


def test_solution_script_that_fails_is_told_with_its_last_lines(scene: Scene) -> None:
    lines = [f"say line {number}" for number in range(40)]
    scene.solution["two"] = "\n".join([*lines, "exit 7"])
    report = scene.verify()
    broken = part(report, Phase.SOLUTION, "two")
    assert broken.outcome is PartOutcome.DEFECT
    assert broken.problems[0] == "solution/02-two.sh ended with exit code 7"
    assert broken.problems[1:] == tuple(f"  line {number}" for number in range(25, 40))
    # What does not need step two is still proved.
    assert outcomes(report) == {
        "text": "ok",
        "start": "ok",
        "solution one": "ok",
        "solution two": "defect",
        "solution three": "not run",
        "memory": "not run",
        "answers": "not run",
        "wrong b-bad": "not run",
        "wrong d-bad": "not run",
        "reset": "ok",
        "wrong a-bad": "ok",
        "wrong c-bad": "ok",
    }
    assert report.exit_code == 1


def test_solution_that_does_not_solve(scene: Scene) -> None:
    scene.solution["one"] = "set a almost"
    report = scene.verify()
    assert part(report, Phase.SOLUTION, "one").problems == ("a does not pass: it is almost",)
    assert outcomes(report)["wrong c-bad"] == "not run"
    assert outcomes(report)["wrong a-bad"] == "ok"


def test_condition_that_a_later_step_breaks(scene: Scene) -> None:
    # `a` is hold: now, and step three undoes it.
    scene.solution["three"] = "set c ok\nfile d ok\nset a gone"
    report = scene.verify()
    assert part(report, Phase.MEMORY).problems == ("a does not pass: it is gone",)
    assert outcomes(report)["wrong b-bad"] == "not run"
    assert report.exit_code == 1


def test_wrong_answer_that_is_not_caught(scene: Scene) -> None:
    scene.cases["b-bad"] = ("b", "solved", (), "file unseen bad")
    scene.cases["a-bad"] = ("a", "fresh", (), "set a ok")
    report = scene.verify()
    assert part(report, Phase.WRONG, "b-bad").problems == ("b passes on this wrong answer",)
    assert part(report, Phase.WRONG, "a-bad").problems == ("a passes on this wrong answer",)
    assert part(report, Phase.WRONG, "b-bad").says == "b-bad is wrong"
    assert outcomes(report)["wrong d-bad"] == "ok"


def test_wrong_answer_that_fails_another_check_too(scene: Scene) -> None:
    scene.cases["b-bad"] = ("b", "solved", (), "file b bad\nfile d bad")
    report = scene.verify()
    assert part(report, Phase.WRONG, "b-bad").problems == ("d does not pass either: it is bad",)


def test_wrong_answer_that_fails_a_check_before_the_named_one(scene: Scene) -> None:
    scene.cases["c-bad"] = ("d", "fresh", ("one",), "set c bad")
    report = scene.verify()
    assert part(report, Phase.WRONG, "c-bad").problems == (
        "c does not pass either: it is bad",
        "d does not fail on this wrong answer, it is skipped: skipped: not yet",
    )


def test_dependents_must_be_skipped(scene: Scene) -> None:
    driver = scene.driver()
    driver.broken["d"] = Result(check="d", step=3, step_id="three", says="", state=State.PASSED)
    report = scene.verify(driver)
    assert part(report, Phase.WRONG, "c-bad").problems == ("d comes after c and should be skipped, it is passed",)


def test_wrong_answer_for_solved_that_changes_the_cluster(scene: Scene) -> None:
    scene.cases["b-bad"] = ("b", "solved", (), "file b bad\nset c gone")
    driver = scene.driver()
    report = scene.verify(driver)
    bad = part(report, Phase.WRONG, "b-bad")
    assert bad.problems == (
        "c does not pass either: it is gone",
        "d does not pass either: skipped: not yet",
        "with its files put back not all passes: it changes more than files, use `on: fresh`",
        "c does not pass: it is gone",
        "d does not pass: skipped: not yet",
    )
    # The next one gets a lab that was solved anew.
    assert outcomes(report)["wrong d-bad"] == "ok"
    after = driver.log[driver.log.index("run b-bad/answer.sh") :]
    assert after[3:5] == ["reset", "run solution/01-one.sh"]
    assert report.resets == 3


def test_wrong_answer_for_solved_of_a_check_that_no_longer_holds(scene: Scene) -> None:
    scene.solution["three"] = "set c ok\nfile d ok\nfile b gone"
    report = scene.verify()
    assert part(report, Phase.WRONG, "b-bad").problems == (
        "b does not pass anew on the solved lab, nothing shows here: use `on: fresh`",
    )


def test_answer_script_that_fails(scene: Scene) -> None:
    scene.cases["b-bad"] = ("b", "solved", (), "file b bad\nsay kubectl: no\nexit 1")
    scene.cases["c-bad"] = ("c", "fresh", ("one",), "exit 2")
    report = scene.verify()
    assert part(report, Phase.WRONG, "b-bad").problems == (
        "b-bad/answer.sh ended with exit code 1",
        "  kubectl: no",
    )
    assert part(report, Phase.WRONG, "c-bad").problems == ("c-bad/answer.sh ended with exit code 2",)
    # Its files were put back all the same.
    assert outcomes(report)["wrong d-bad"] == "ok"


def test_steps_played_before_a_wrong_answer_must_be_solved(scene: Scene) -> None:
    # `b` comes after `a`: without step one it is skipped.
    scene.cases["c-bad"] = ("c", "fresh", ("two",), "set c bad")
    report = scene.verify()
    assert part(report, Phase.WRONG, "c-bad").problems == (
        "step two, which comes before the wrong answer, is not solved",
        "b does not pass: skipped: not yet",
    )


def test_check_that_waits_for_ever(scene: Scene) -> None:
    driver = scene.driver()
    driver.pending = {"c": 1000}
    report = scene.verify(driver)
    assert part(report, Phase.SOLUTION, "three").problems[0] == ("c does not pass: still waiting after 3 s: it moves")
    assert driver.log.count("check three") == bench.LOOKS


def test_named_check_that_waits_is_not_caught(scene: Scene) -> None:
    driver = scene.driver()
    scene.cases["a-bad"] = ("a", "fresh", (), "set a ok")
    original = driver.check

    def check(steps, achievements):  # type: ignore[no-untyped-def]
        if driver.log and driver.log[-1] == "run a-bad/answer.sh":
            driver.pending["a"] = 1000
        return original(steps, achievements)

    driver.check = check  # type: ignore[method-assign]
    (problem,) = part(scene.verify(driver), Phase.WRONG, "a-bad").problems
    assert problem == "a does not fail on this wrong answer, it is waiting: still waiting after 3 s: it moves"


# -- failures of the machine, the cluster, ourselves --------------------------------------------------------


@pytest.mark.parametrize(("our_bug", "code", "fault"), [(False, 3, "environment"), (True, 4, "bug")])
def test_check_that_cannot_be_judged_is_no_defect(scene: Scene, our_bug: bool, code: int, fault: str) -> None:
    driver = scene.driver()
    driver.broken["b"] = error("b", 2, "two", our_bug)
    report = scene.verify(driver)
    assert report.exit_code == code
    start = part(report, Phase.START)
    assert (start.outcome, start.fault) == (PartOutcome.ERROR, fault)
    assert start.problems == ("b could not be judged: the cluster is away",)


def test_machine_that_fails_once_costs_only_that_part(scene: Scene) -> None:
    driver = scene.driver()
    driver.refuse = {"answer.sh": [EnvironmentProblem("the machine is gone", "start it")]}
    report = scene.verify(driver)
    failed = part(report, Phase.WRONG, "b-bad")
    assert (failed.outcome, failed.fault) == (PartOutcome.ERROR, "environment")
    assert failed.problems == ("the machine is gone\nstart it",)
    # Nobody knows in what state it is: the next part begins from a reset.
    assert outcomes(report)["wrong d-bad"] == "ok"
    assert report.exit_code == 3
    assert report.resets == 3


def test_reset_that_fails_ends_it_and_no_part_is_missing(scene: Scene) -> None:
    driver = scene.driver()
    driver.refuse = {"reset": [EnvironmentProblem("no space left")]}
    report = scene.verify(driver)
    assert list(outcomes(report).items())[9:] == [
        ("reset", "error"),
        ("wrong a-bad", "not run"),
        ("wrong c-bad", "not run"),
    ]
    assert part(report, Phase.RESET).problems == ("no space left",)
    assert report.exit_code == 3


def test_lab_that_cannot_be_solved_again_ends_it(scene: Scene) -> None:
    scene.cases["b-bad"] = ("b", "solved", (), "file b bad\nset c gone")
    driver = scene.driver()
    original = driver.reset

    def reset() -> None:
        original()
        driver.broken["b"] = error("b", 2, "two")

    driver.reset = reset  # type: ignore[method-assign]
    report = scene.verify(driver)
    assert part(report, Phase.WRONG, "d-bad").problems == (
        "the lab could not be solved a second time\nb could not be judged: the cluster is away",
    )
    assert outcomes(report)["wrong a-bad"] == "not run"
    assert len(report.parts) == 12


def test_engine_that_forgets_a_check_is_our_bug(scene: Scene) -> None:
    driver = scene.driver()
    original = driver.check
    driver.check = lambda steps, achievements: original(steps, achievements)[1:]  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="asked for"):
        scene.verify(driver)


# -- only some ----------------------------------------------------------------------------------------------


def test_only_a_fresh_case_solves_nothing_else(scene: Scene) -> None:
    driver = scene.driver()
    report = scene.verify(driver, only=["c-bad"])
    assert outcomes(report) == {"wrong c-bad": "ok"}
    assert driver.log == ["run solution/01-one.sh", "check one", "run c-bad/answer.sh", "check one,three"]
    assert (report.whole, report.unproven, report.exit_code, report.resets) == (False, (), 0, 0)


def test_only_a_solved_case_needs_the_solution(scene: Scene) -> None:
    report = scene.verify(only=["b-bad"])
    assert list(outcomes(report)) == ["solution one", "solution two", "solution three", "memory", "wrong b-bad"]
    assert report.exit_code == 0


def test_two_fresh_cases_do_not_share_dirt(scene: Scene) -> None:
    scene.cases["a-bad"] = ("a", "fresh", (), "set a bad\nset c ok\nfile d ok")
    scene.cases["c-bad"] = ("c", "fresh", ("one",), "file d ok")
    report = scene.verify(only=["a-bad", "c-bad"])
    assert outcomes(report) == {"wrong a-bad": "ok", "wrong c-bad": "ok"}
    assert report.resets == 1


# -- the text -----------------------------------------------------------------------------------------------


def test_what_the_text_lacks_is_a_defect_of_its_own(scene: Scene) -> None:
    report = scene.verify(lacks=["lab.md:3:1: step 'one' has no check"])
    assert part(report, Phase.TEXT).problems == ("lab.md:3:1: step 'one' has no check",)
    assert (report.exit_code, report.count(PartOutcome.DEFECT)) == (1, 1)


def test_a_text_that_tells_an_answer_of_the_solved_lab(scene: Scene) -> None:
    driver = scene.driver()
    driver.right = [("d", "gpu-b-7f3a"), ("b", "another word")]
    (scene.folder / "lab.md").write_text("---\nlab: lab-x\n---\nHello.\n\n## One {#one}\n\nIt is `gpu-b-7f3a`.\n")
    report = scene.verify(driver)
    assert part(report, Phase.ANSWERS).problems == (f"{scene.folder}/lab.md:8:8: tells the answer of d: gpu-b-7f3a",)
    # They are asked for where everything is solved, and nothing is wrong yet.
    asked = driver.log.index("answers")
    assert driver.log[:asked].count("run solution/03-three.sh") == 1
    assert not any(entry.startswith("run b-bad") for entry in driver.log[:asked])
    assert [name for name, outcome in outcomes(report).items() if outcome != "ok"] == ["answers"]


def test_answers_that_can_not_be_asked_for_are_no_defect(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = scene.driver()

    def fails() -> list[tuple[str, str]]:
        raise EnvironmentProblem("there is no history")

    monkeypatch.setattr(driver, "answers", fails)
    report = scene.verify(driver)
    assert (part(report, Phase.ANSWERS).outcome, report.exit_code) == (PartOutcome.ERROR, 3)


# -- keeping --------------------------------------------------------------------------------------------------


def test_the_first_part_that_fails_is_the_last_and_its_lab_is_kept_as_it_is(scene: Scene) -> None:
    scene.cases["b-bad"] = ("b", "solved", (), "file b ok\nfile c found")
    driver = scene.driver()
    report = scene.verify(driver, keep=True)
    assert part(report, Phase.WRONG, "b-bad").outcome is PartOutcome.DEFECT
    assert {one.outcome for one in report.parts[8:]} == {PartOutcome.NOT_RUN}
    assert (driver.was_kept, report.kept) == (True, "/state/verify/lab-x")
    assert driver.files["c"] == "found"  # not put back


def test_what_stands_in_files_keeps_no_lab(scene: Scene) -> None:
    driver = scene.driver()
    report = scene.verify(driver, keep=True, lacks=["something"])
    assert (driver.was_kept, report.kept) == (False, "")
    assert report.count(PartOutcome.NOT_RUN) == 0


def test_a_right_lab_is_not_kept(scene: Scene) -> None:
    driver = scene.driver()
    assert scene.verify(driver, keep=True).exit_code == 0
    assert not driver.was_kept


def test_of_what_was_not_run_nobody_says_that_it_proves_nothing(scene: Scene) -> None:
    scene.cases["b-bad"] = ("b", "solved", (), "file b ok")
    del scene.cases["a-bad"]
    report = scene.verify(keep=True)
    # b's wrong answer was not caught, a has none, those of c and d were not reached.
    assert report.unproven == ("a", "b")
