"""The arithmetic of the benchmarks and what they print, on figures made up here."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.timings import Leg
from tests.bench import __main__ as command
from tests.bench import table
from tests.bench.figures import Figure, Ratio, Report, Route, fit_to_keep, load, save, spread
from tests.bench.starts import middle

START = Figure(id="start", part="start", title="a start", unit="s", target=8.0)
PASS = Figure(id="pass", part="start", title="nothing", unit="s")
MEMORY = Figure(id="memory", part="idle", title="a session", unit="MB", target=900.0)


def report(*starts: float) -> Report:
    made = Report(machine={"cores": "2", "Python": "3.11"}, ratios=[Ratio("start ÷ nothing", "start", "pass")])
    for seconds in starts:
        made.add(START, seconds)
    made.add(PASS, 0.05)
    made.add(MEMORY, 812.4)
    return made


def test_a_spread_is_the_least_the_middle_and_the_most() -> None:
    assert spread([3.0, 1.0, 10.0]) == spread([10.0, 3.0, 1.0])
    found = spread([3.0, 1.0, 10.0, 4.0])
    assert (found.low, found.middle, found.high, found.count) == (1.0, 3.5, 10.0, 4)
    with pytest.raises(ValueError, match="no samples"):
        spread([])


def test_a_figure_that_is_declared_once_keeps_no_samples_of_a_report() -> None:
    first, second = report(1.0, 2.0), report(9.0)
    assert first.figures["start"].samples == [1.0, 2.0]
    assert second.figures["start"].samples == [9.0]
    assert START.samples == []


def test_a_ratio_is_of_medians_and_absent_where_a_side_is() -> None:
    made = report(1.0, 2.0, 90.0)
    assert made.quotient(made.ratios[0]) == pytest.approx(40.0)
    assert made.quotient(Ratio("", "start", "gone")) is None
    assert made.quotient(Ratio("", "gone", "start")) is None
    made.add(Figure(id="zero", part="start", title="", unit="s"), 0.0)
    assert made.quotient(Ratio("", "start", "zero")) is None


def test_text_is_aligned_and_says_the_target_beside_what_was_measured() -> None:
    made = report(7.25, 6.5, 12.0)
    made.by_component("etcd", "RSS", "MB", 61.0)
    made.by_component("kube-apiserver", "RSS", "MB", 414.0)
    made.by_component("etcd", "processor", "s", 0.8)
    made.routes.append(Route(title="where it goes", legs=[Leg("etcd", 0.9), Leg("READY", 0.004)]))
    made.notes.append("reset: no root")
    assert table.text(made).splitlines() == [
        "start",
        "  what     unit  target    min  median    max  runs",
        "  a start     s     ≤ 8   6.50    7.25  12.00     3",
        "  nothing     s          0.050   0.050  0.050     1",
        "",
        "idle",
        "  what       unit  target  min  median  max  runs",
        "  a session    MB   ≤ 900  812     812  812     1",
        "",
        "components (medians)",
        "                  RSS, MB  processor, s",
        "  kube-apiserver      414",
        "  etcd                 61         0.800",
        "",
        "ratios of medians",
        "  start ÷ nothing  145.00",
        "",
        "where it goes",
        "  etcd   0.90 s",
        "  READY  0.00 s",
        "",
        "machine",
        "  cores 2; Python 3.11",
        "",
        "notes",
        "  reset: no root",
    ]


def test_markdown_has_the_same_rows() -> None:
    made = report(7.25, 6.5, 12.0)
    made.add(Figure(id="odd", part="idle", title="a | b", unit="% core"), 4.56)
    lines = table.markdown(made).splitlines()
    assert "| what | unit | target | min | median | max | runs |" in lines
    assert "|---|---:|---:|---:|---:|---:|---:|" in lines
    assert "| a start | s | ≤ 8 | 6.50 | 7.25 | 12.00 | 3 |" in lines
    assert r"| a \| b | % core |  | 4.6 | 4.6 | 4.6 | 1 |" in lines
    assert "| start ÷ nothing | 145.00 |" in lines


def test_a_run_is_kept_whole(tmp_path: Path) -> None:
    made = report(7.25, 6.5)
    made.routes.append(Route(title="where it goes", legs=[Leg("etcd", 0.9)]))
    made.notes.append("a note")
    save(made, tmp_path / "run.json")
    assert load(tmp_path / "run.json") == made
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_what_is_kept_has_five_digits_and_nothing_of_the_machine() -> None:
    made = report(7.123456, 1234.5678)
    made.notes.append("reset: exit code 1: /home/me/batchlab/.venv/bin/grader reset / see /home/me/logs")
    kept = fit_to_keep(made, {"/home/me/batchlab": ".", "/home/me": "~"})
    assert kept.figures["start"].samples == [7.1235, 1234.6]
    assert kept.notes == ["reset: exit code 1: ./.venv/bin/grader reset / see ~/logs"]
    assert made.figures["start"].samples == [7.123456, 1234.5678], "a copy"


def test_a_kept_run_has_a_line_for_each_figure(tmp_path: Path) -> None:
    save(report(7.25, 6.5), tmp_path / "run.json")
    lines = (tmp_path / "run.json").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith(' "') and '"samples"' in line for line in lines) == 3


@pytest.mark.parametrize("content", ["", "[]", '{"schema": "batchlab/check/v1"}'])
def test_another_file_is_no_kept_run(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ValueError, match=r"schema|Expecting"):
        load(tmp_path / "run.json")


def test_only_what_is_between_the_comments_of_a_page_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Above\n\n{table.BEGIN}\nold\n{table.END}\n\nBelow\n", encoding="utf-8")
    for content in ("first\n", "second\n"):
        table.write_between(page, content)
        assert page.read_text(encoding="utf-8") == f"# Above\n\n{table.BEGIN}\n\n{content}\n{table.END}\n\nBelow\n"
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]


@pytest.mark.parametrize("text", ["nothing", table.BEGIN, f"{table.END} {table.BEGIN}"])
def test_a_page_without_its_comments_is_left_alone(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.md"):
        table.write_between(page, "new")
    assert page.read_text(encoding="utf-8") == text


def test_the_route_shown_is_a_real_one_of_middling_length() -> None:
    routes = [[Leg("a", 9.0)], [Leg("a", 1.0), Leg("b", 1.0)], [Leg("c", 3.0)], [Leg("d", 4.0)]]
    assert middle(routes) == [Leg("c", 3.0)]


def test_what_is_asked_for_is_measured_once_and_in_order() -> None:
    options = command._options(["--only", "memory,stop,cpu", "--sessions", "4,1,4"])
    assert options.only == ["start", "idle"]
    assert options.sessions == [1, 4]
    assert command._options([]).only == [
        "start",
        "busy",
        "check",
        "watch",
        "reset",
        "idle",
        "sessions",
        "density",
        "tui",
        "board",
    ]


@pytest.mark.parametrize(
    "argv", [["--only", "stpo"], ["--runs", "0"], ["--learners", "3"], ["--against", "/gone"], ["--write", "/gone"]]
)
def test_a_wrong_command_line_is_refused_before_anything_is_started(argv: list[str]) -> None:
    with pytest.raises(SystemExit) as end:
        command._options(argv)
    assert end.value.code == 2


def test_a_kept_run_is_printed_and_written_without_measuring(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(report(7.0), tmp_path / "run.json")
    page = tmp_path / "page.md"
    page.write_text(f"{table.BEGIN}{table.END}", encoding="utf-8")
    assert command.main(["--kept", str(tmp_path / "run.json"), "--alone", "--markdown", "--write", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "| a start | s | ≤ 8 | 7.00 | 7.00 | 7.00 | 1 |" in printed
    assert page.read_text(encoding="utf-8") == f"{table.BEGIN}\n\n{printed}\n{table.END}"
    assert load(tmp_path / "page.json") == report(7.0), "the run that the page shows is kept beside it"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A run that would measure 10 s, on a machine as that of `report`, and the page of the repository."""
    page = tmp_path / "docs.md"
    page.write_text(f"{table.BEGIN}old{table.END}", encoding="utf-8")
    monkeypatch.setattr(command, "PAGE", page)
    monkeypatch.setattr(command, "machine", lambda: report().machine)

    def measure(_options: object, into: Report) -> int:
        for seconds in (10.0, 10.1):
            into.add(START, seconds)
        return 0

    monkeypatch.setattr(command, "_measure", measure)
    return page


def test_a_run_without_options_is_shown_beside_the_kept_one(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(report(5.0, 5.1), measured.with_suffix(".json"))
    assert command.main([]) == 0
    said = capsys.readouterr().out
    assert "  worse: a start [start]: 5.05 s (5.00 to 5.10), now 10.05 s (10.00 to 10.10)" in said.splitlines()
    assert measured.read_text(encoding="utf-8") == f"{table.BEGIN}old{table.END}"
    assert command.main(["--alone"]) == 0
    assert "kept run" not in capsys.readouterr().out


def test_another_run_may_be_named_to_compare_with(
    measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(report(5.0, 5.1), measured.with_suffix(".json"))
    save(report(10.0, 10.2), tmp_path / "other.json")
    assert command.main(["--against", str(tmp_path / "other.json")]) == 0
    assert "worse: " not in capsys.readouterr().out


@pytest.mark.parametrize("content", [None, "damaged", "{}"])
def test_without_a_kept_run_there_is_nothing_beside(
    measured: Path, capsys: pytest.CaptureFixture[str], content: str | None
) -> None:
    if content is not None:
        measured.with_suffix(".json").write_text(content)
    assert command.main([]) == 0
    said = capsys.readouterr()
    assert "kept run" not in said.out
    assert ("there is nothing to compare with" in said.err) == (content is not None)


def test_writing_updates_the_page_and_the_kept_run(measured: Path) -> None:
    save(report(5.0, 5.1), measured.with_suffix(".json"))
    assert command.main(["--write", str(measured)]) == 0
    assert "| a start | s | ≤ 8 | 10.00 | 10.05 | 10.10 | 2 |" in measured.read_text(encoding="utf-8")
    assert "then" not in measured.read_text(encoding="utf-8"), "a page shows one run"
    assert load(measured.with_suffix(".json")).figures["start"].samples == [10.0, 10.1]


@pytest.mark.parametrize("code", [3, 130])
def test_a_run_that_is_not_whole_replaces_nothing(
    measured: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], code: int
) -> None:
    monkeypatch.setattr(command, "_measure", lambda _options, _report: code)
    save(report(5.0), measured.with_suffix(".json"))
    assert command.main(["--write", str(measured)]) == code
    assert measured.read_text(encoding="utf-8") == f"{table.BEGIN}old{table.END}"
    assert load(measured.with_suffix(".json")) == report(5.0)
    assert "this run is not whole" in capsys.readouterr().err


def test_the_page_of_the_repository_shows_the_run_that_is_kept_beside_it() -> None:
    docs = Path(__file__).resolve().parents[3] / "docs"
    before, after = table.parts_of(docs / "benchmarks.md")
    kept = load(docs / "benchmarks.json")
    shown = f"{before}{table.BEGIN}\n\n{table.markdown(kept).strip()}\n\n{table.END}{after}"
    assert shown == (docs / "benchmarks.md").read_text(encoding="utf-8")
    assert fit_to_keep(kept, {}) == kept
