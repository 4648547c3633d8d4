"""What two runs of the benchmarks say about each other."""

from __future__ import annotations

import pytest

from tests.bench import table
from tests.bench.comparison import Comparison
from tests.bench.figures import Figure, Ratio, Report

HERE = {"cores": "2 (Quick)", "load before": "0.4", "other machines of ours": "0"}


def run(machine: dict[str, str] = HERE, **samples: list[float]) -> Report:
    made = Report(machine=machine, ratios=[Ratio("start ÷ nothing", "start", "nothing")])
    for name, each in samples.items():
        unit = "MB" if name == "memory" else "s"
        for sample in each:
            made.add(Figure(id=name, part="start", title=f"a {name}", unit=unit), sample)  # type: ignore[arg-type]
    return made


def worse(now: Report, then: Report) -> list[str]:
    return [one.title for one in Comparison(now, then).worse()]


@pytest.mark.parametrize(
    ("now", "found"),
    [
        ([6.3, 6.4, 6.5], ["a start [start]"]),  # 1.4 more, and neither run's samples are so far apart
        ([5.7, 5.8, 5.9], []),  # 0.8 more, as far as the samples of then are apart
        ([5.9, 5.95, 6.0], ["a start [start]"]),
        ([5.0, 6.4, 9.0], []),  # 1.4 more, with samples 4 apart
        ([4.0, 4.1, 4.2], []),  # better
    ],
)
def test_worse_is_what_is_further_up_than_samples_lie_apart(now: list[float], found: list[str]) -> None:
    assert worse(run(start=now), run(start=[4.6, 5.0, 5.4])) == found


def test_one_sample_says_nothing_of_how_far_samples_lie_apart() -> None:
    comparison = Comparison(run(start=[9.0], memory=[1.0, 2.0]), run(start=[5.0, 5.1], memory=[1.0, 2.0]))
    assert comparison.worse() == []
    assert comparison.unsaid() == 1
    assert worse(run(start=[9.0, 9.1]), run(start=[5.0])) == []


def test_figures_of_one_run_alone_are_left_out() -> None:
    comparison = Comparison(run(start=[9.0, 9.1]), run(memory=[5.0, 5.1]))
    assert (comparison.worse(), comparison.unsaid()) == ([], 0)


def test_the_worst_comes_first() -> None:
    now = run(start=[6.0, 6.0], memory=[900.0, 900.0], nothing=[1.0, 1.0])
    then = run(start=[5.0, 5.0], memory=[300.0, 300.0], nothing=[1.0, 1.0])
    assert worse(now, then) == ["a memory [memory]", "a start [start]", "start ÷ nothing"]


THERE = {**HERE, "cores": "8 (Slow)"}


class TestAnotherMachine:
    def test_only_ratios_compare(self) -> None:
        now = run(THERE, start=[20.0, 20.1], nothing=[0.10, 0.10])
        then = run(start=[5.0, 5.1], nothing=[0.05, 0.05])
        comparison = Comparison(now, then)
        assert not comparison.same_machine
        assert comparison.before(now.figures["start"]) is None
        assert comparison.ratio_before(now.ratios[0]) == pytest.approx(101.0)
        assert [one.title for one in comparison.worse()] == ["start ÷ nothing"]

    def test_it_is_said_and_no_column_compares_seconds(self) -> None:
        now = run(THERE, start=[20.0, 20.1], nothing=[0.10, 0.10])
        lines = table.text(now, Comparison(now, run(start=[5.0, 5.1], nothing=[0.05, 0.05]))).splitlines()
        assert lines[1].split()[-1] == "runs"
        assert "  start ÷ nothing  200.50  then 101.00" in lines
        assert "  measured on another machine: seconds and megabytes can't be compared, only ratios are" in lines
        assert "  worse: start ÷ nothing: 101.00 (100.00 to 102.00), now 200.50 (200.00 to 201.00)" in lines

    def test_a_ratio_is_as_wide_as_its_sides_allow(self) -> None:
        then = run(start=[5.0, 5.0], nothing=[0.04, 0.05, 0.06])  # 100, from 83 to 125
        assert worse(run(THERE, start=[7.0, 7.0], nothing=[0.05, 0.05]), then) == []
        assert worse(run(THERE, start=[7.2, 7.2], nothing=[0.05, 0.05]), then) == ["start ÷ nothing"]

    def test_a_ratio_of_which_a_side_is_missing_or_nothing_is_left_out(self) -> None:
        there = run(THERE, start=[7.2, 7.2], nothing=[0.0, 0.0])
        assert worse(there, run(start=[5.0, 5.0], nothing=[0.05, 0.05])) == []
        assert worse(run(THERE, start=[7.2, 7.2]), run(start=[5.0, 5.0], nothing=[0.05, 0.05])) == []


def test_a_kept_run_stands_beside_in_columns() -> None:
    now = run(start=[10.0, 10.0], memory=[800.0, 810.0])
    lines = table.text(now, Comparison(now, run(start=[5.0, 5.0], nothing=[0.05, 0.05]))).splitlines()
    assert lines[1].split()[-5:] == ["runs", "then", "now", "÷", "then"]
    assert next(line for line in lines if "a start" in line).split()[-2:] == ["5.00", "2.00"]
    memory = next(line for line in lines if "a memory" in line)
    assert memory.split()[-1] == "2"  # the number of runs: there is nothing to compare with
    block = lines[lines.index("beside the kept run") :]
    assert block == [
        "beside the kept run",
        "  then: cores 2 (Quick); load before 0.4; other machines of ours 0",
        "  worse: a start [start]: 5.00 s (5.00 to 5.00), now 10.00 s (10.00 to 10.00)",
    ]


def test_where_nothing_is_worse_it_is_said() -> None:
    now = run(start=[5.0, 5.0], memory=[1.0])
    text = table.markdown(now, Comparison(now, run(start=[5.0, 5.0], memory=[1.0])))
    assert "- nothing got worse by more than the samples of a run lie apart\n" in text
    assert "- figures with too few samples to say so: 1\n" in text


@pytest.mark.parametrize("more", [{"load before": "7.5"}, {"other machines of ours": "2"}])
def test_a_busy_machine_is_said(more: dict[str, str]) -> None:
    idle, busy = run(start=[5.0, 5.0]), run({**HERE, **more}, start=[5.0, 5.0])
    for now, then in ((idle, busy), (busy, idle)):
        assert "measured on a busy machine" in table.text(now, Comparison(now, then))
    assert "busy" not in table.text(idle, Comparison(idle, idle))
