"""A lab with values is proved with each of them, and that an answer made for others does not pass."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from grader.lab.values import ValueMatter
from grader.verify import PartOutcome, Phase
from tests.unit.verify.test_verify_procedure import outcomes, part

if TYPE_CHECKING:
    from tests.unit.verify.conftest import Scene


@pytest.fixture
def valued(scene: Scene) -> Scene:
    """The right lab, in which b is right only as this session's `n` has it: 2, 3 or 4."""
    scene.declared = {"n": ValueMatter(one_of=(2, 3, 4))}
    scene.solution["two"] = "file b ok$n"
    return scene


def test_a_right_lab_is_proved_with_every_value(valued: Scene) -> None:
    report = valued.verify()
    assert report.exit_code == 0
    assert list(outcomes(report).items())[-2:] == [("values n=3", "ok"), ("values n=4", "ok")]
    assert [event.total for event in valued.events] == [14] * 28


def test_with_other_values_all_of_it_is_begun_again(valued: Scene) -> None:
    valued.cases = {}
    driver = valued.driver()
    valued.verify(driver)
    assert driver.log[driver.log.index("values n=3") :] == [
        line
        for own in ("n=3", "n=4")
        for line in (
            f"values {own}",
            "reset",
            "check all",
            *("run solution/01-one.sh", "check one"),
            *("run solution/02-two.sh", "check two"),
            *("run solution/03-three.sh", "check three"),
            *("check all", "check all"),
            *("values n=2", "check all", f"values {own}"),
        )
    ]


def test_a_solution_that_is_right_for_one_value_only(valued: Scene) -> None:
    valued.solution["two"] = "file b ok2"
    report = valued.verify()
    assert report.exit_code == 1
    assert part(report, Phase.MEMORY).outcome is PartOutcome.OK
    assert part(report, Phase.VALUES, "n=3").problems == ("b does not pass: it is ok2",)


def test_values_that_decide_nothing(valued: Scene) -> None:
    valued.solution["two"] = "file b ok"
    report = valued.verify()
    assert report.exit_code == 1
    assert part(report, Phase.VALUES, "n=3").problems == (
        "what was made for these values passes with n=2 too: an answer can be copied",
    )


def test_a_wrong_answer_that_is_right_for_another_value(valued: Scene) -> None:
    valued.cases["b-bad"] = ("b", "solved", (), "file b ok3")
    report = valued.verify()
    assert part(report, Phase.WRONG, "b-bad").outcome is PartOutcome.OK
    assert part(report, Phase.VALUES, "n=3").problems == ("b-bad: b passes on this wrong answer",)
    assert part(report, Phase.VALUES, "n=4").outcome is PartOutcome.OK


def test_wrong_answers_on_a_fresh_lab_have_values_of_their_own_always_the_same(valued: Scene) -> None:
    wanted = {name: (2, 3, 4)[crc32(name.encode()) % 3] for name in ("a-bad", "c-bad")}
    assert len(set(wanted.values())) == 2, "else this shows nothing"
    for only in (None, ["a-bad"], ["c-bad"]):
        driver = valued.driver()
        assert valued.verify(driver, only=only).exit_code == 0
        for name in only or wanted:
            before = driver.log[: driver.log.index(f"run {name}/answer.sh")]
            last = next((line for line in reversed(before) if line.startswith("values")), "values n=2")
            assert last == f"values n={wanted[name]}", name


def test_a_lab_that_can_not_be_solved_is_not_tried_with_others(valued: Scene) -> None:
    valued.solution["two"] = "exit 1"
    report = valued.verify()
    assert part(report, Phase.VALUES, "n=3").outcome is PartOutcome.NOT_RUN


def test_cases_alone_need_no_other_values(valued: Scene) -> None:
    report = valued.verify(only=["b-bad"])
    assert not [one for one in report.parts if one.phase is Phase.VALUES]
