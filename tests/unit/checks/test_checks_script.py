"""`script`: whose fault the end of a lab's script is, and what a learner reads of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cluster.errors import EnvironmentProblem
from cluster.scripts import Cause, Ending, Order, Script, why_ended
from grader.checks.recorded import Trace
from grader.checks.script import ScriptCheck, read_library
from grader.results import Verdict
from tests.unit.checks.conftest import check


@dataclass
class Cells:
    """Ends every script alike and remembers what it was asked."""

    answer: Ending
    asked: list[Order] = field(default_factory=list)

    def run(self, order: Order) -> Ending:
        self.asked.append(order)
        return self.answer


POD_CHECK = "{file: pod.sh, seconds: 7, env: {A: b}}"
Judge = Callable[..., tuple[Verdict, list[Order]]]


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """What a check says where its script ends so."""
    scripts = tmp_path / "lab" / "scripts"
    scripts.mkdir(parents=True)
    (scripts / "pod.sh").write_text("echo here\r\n")
    (scripts / "other.sh").write_text("true\n")
    (scripts / ".hidden").write_text("no\n")

    def judged(
        exit_code: int | None,
        output: str = "",
        cause: Cause = "",
        text: str = "{file: pod.sh, seconds: 7, env: {A: b}}",
    ) -> tuple[Verdict, list[Order]]:
        cells = Cells(Ending(script="pod.sh", exit=exit_code, cause=cause, output=output))
        world = Trace().world(tmp_path, lab_folder=tmp_path / "lab", scripts=cells)
        verdict = check(f"script: {text}").kind.evaluate(world)
        assert world.commanded
        return verdict, cells.asked

    return judged


def test_passed_where_it_ends_with_0(judge: Judge) -> None:
    verdict, [order] = judge(0)
    assert verdict.passed
    assert order.scripts == (Script(name="pod.sh", text="echo here\n", seconds=7),)
    assert (order.env, sorted(order.library), order.keeps) == ({"A": "b"}, ["other.sh", "pod.sh"], False)


def test_its_text_may_stand_in_the_check(judge: Judge) -> None:
    _verdict, [order] = judge(0, text="{run: 'test -e a.txt'}")
    assert order.scripts == (Script(name="check.sh", text="test -e a.txt", seconds=30),)


def test_failed_with_its_last_words(judge: Judge) -> None:
    verdict, _asked = judge(1, "one\ntwo\n\nthree\x1b[31m\nfour\nfive\n")
    assert not verdict.passed
    assert not verdict.moving
    assert verdict.finding.wanted == "pod.sh to end with 0"
    assert verdict.finding.saw == "two / three\\x1b[31m / four / five"
    assert verdict.finding.plain


def test_failed_without_a_word(judge: Judge) -> None:
    assert judge(3)[0].finding.saw == "exit code 3, and not a word"


@pytest.mark.parametrize(
    ("exit_code", "output", "cause", "told"),
    [
        (126, "", "", "pod.sh could not run something (exit code 126)"),
        (127, "x: docker: command not found", "", "(exit code 127): x: docker: command not found"),
        (None, "half", "time", "pod.sh was ended: it took too long: half"),
        (None, "", "output", "it said more than 1 MiB"),
        (None, "", "memory", "pod.sh ran out of memory"),
        (None, "", "processes", "pod.sh started more processes than it may"),
        (None, "", "files", "the work folder holds more than 48 MiB"),
        (None, "", "start", "its place could not be made"),
        (1, "dd: writing: No space left on device", "", "pod.sh ran into the bounds of its place"),
        (1, "bash: fork: retry: Resource temporarily unavailable", "", "ran into the bounds"),
        (
            1,
            'pods is forbidden: User "lab-script" cannot create resource "pods" in API group ""',
            "",
            "pod.sh may only look at the cluster, and wants to create pods",
        ),
    ],
)
def test_what_is_never_the_learners_failure(
    exit_code: int | None, output: str, cause: Cause, told: str, judge: Judge
) -> None:
    with pytest.raises(EnvironmentProblem) as raised:
        judge(exit_code, output, cause)
    assert told in raised.value.message
    assert raised.value.message.endswith("; the lab's author has to mend it")


def test_what_the_cluster_refused_is_known_though_the_script_is_silent(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    refused = 'pods is forbidden: User "lab-script" cannot create resource "pods" in API group ""'
    cells = Cells(Ending(script="check.sh", exit=1, refused=refused))
    world = Trace().world(tmp_path, scripts=cells)
    with pytest.raises(EnvironmentProblem, match="wants to create pods"):
        check("script: {run: 'false'}").kind.evaluate(world)


def test_a_script_that_is_not_there(judge: Judge) -> None:
    with pytest.raises(EnvironmentProblem, match=r"the lab has no scripts/none\.sh"):
        judge(0, text="{file: none.sh}")


def test_nowhere_to_run(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="no script can be run here"):
        check("script: {run: 'true'}").kind.evaluate(Trace().world(tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{file: a.sh, run: 'true'}",
        "{file: ../a.sh}",
        "{file: .a.sh}",
        "{run: ' '}",
        "{run: 'true', seconds: 121}",
        "{run: 'true', env: {1A: x}}",
        '{run: "a\\0b"}',
    ],
)
def test_what_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="validation error"):
        check(f"script: {text}")


def test_pods_that_move_may_still_turn_it() -> None:
    assert ScriptCheck(run="true").kinds() == {"Pod"}


def test_a_library_is_bounded_and_text(tmp_path: Path) -> None:
    (tmp_path / "a.sh").write_bytes(b"\xff")
    (tmp_path / "b.sh").write_text("b")
    (tmp_path / "folder").mkdir()
    assert read_library(tmp_path) == {"b.sh": "b"}
    assert read_library(tmp_path / "none") == {}


def test_orders_and_endings_cross_a_process() -> None:
    order = Order(scripts=(Script(name="a", text="é\n", seconds=1.5),), env={"A": "b"}, library={"c": "d"}, keeps=True)
    assert Order.from_json(order.to_json()) == order
    ending = Ending(script="a", exit=None, cause="time", output="x")
    assert Ending.from_json(ending.to_json()) == ending
    assert why_ended(ending) == "a was ended: it took too long"
    assert [Ending(script="a", exit=code).good for code in (0, 1, None)] == [True, False, False]
