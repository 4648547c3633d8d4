"""`grader report`: progress over labs."""

from __future__ import annotations

import csv
import io
import json
import time
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len

from grader.progress import Attempt, LabRecord
from grader.report import progress_rows, render_progress, render_progress_csv, render_progress_json
from grader.report.progress_report import COLUMNS, duration
from grader.results import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.conftest import Golden

DAY = 86400.0
START = 1764500000.0

BOOK = {
    "lab-lws": LabRecord(
        lab="lab-lws",
        started=START,
        last=START + DAY,
        finished=START + DAY,
        seconds_at_work=3900.4,
        attempts=12,
        hints=3,
        steps={f"s{number}": START + number for number in range(8)},
        total=8,
    ),
    "lab-gone": LabRecord(lab="lab-gone", started=START, last=START, attempts=1, steps={"a": START}, total=5),
    "lab-begun": LabRecord(lab="lab-begun", started=START, last=START),
}
ATTEMPTS = [Attempt(lab="lab-gone", at=START, seconds=0.75, steps={"a": State.PASSED, "b": State.WAITING}, total=5)]
IDS = ["lab-jobset", "lab-lws", "lab-kueue", "lab-begun"]


@pytest.fixture(autouse=True)
def seoul(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_golden_table(golden: Golden) -> None:
    golden("report/progress.txt", render_progress(progress_rows(IDS, BOOK, ATTEMPTS)))


def test_golden_csv(golden: Golden) -> None:
    golden("report/progress.csv", render_progress_csv(progress_rows(IDS, BOOK, ATTEMPTS)))


def test_golden_json(golden: Golden) -> None:
    golden("report/report-v1.json", render_progress_json(progress_rows(IDS, BOOK, ATTEMPTS), at=START))


def test_catalogue_order_then_labs_only_the_book_knows() -> None:
    rows = progress_rows(IDS, BOOK)
    assert [row.record.lab for row in rows] == [*IDS, "lab-gone"]
    assert [row.state for row in rows] == ["not begun", "finished", "not begun", "begun", "begun"]


def test_finished_once_is_finished_for_good_whatever_steps_the_lab_has_now() -> None:
    record = LabRecord(lab="x", last=2.0, finished=1.0, steps={"old": 1.0, "older": 1.0}, total=1)
    (row,) = progress_rows(["x"], {"x": record})
    assert (row.state, row.steps_passed) == ("finished", 1)


def test_csv_has_the_columns_and_empty_cells_for_what_never_was() -> None:
    (line,) = csv.DictReader(io.StringIO(render_progress_csv(progress_rows(["lab-jobset"], {}))))
    assert tuple(line) == COLUMNS
    assert line == {
        **dict.fromkeys(COLUMNS, "0"),
        "lab": "lab-jobset",
        "state": "not begun",
        "started": "",
        "last": "",
        "finished": "",
    }


def test_json_holds_the_attempts_of_each_lab() -> None:
    labs = json.loads(render_progress_json(progress_rows(IDS, BOOK, ATTEMPTS), at=START))["labs"]
    kept = {lab["lab"]: lab["kept"] for lab in labs}
    assert kept["lab-lws"] == []
    assert kept["lab-gone"] == [
        {
            "at": "2025-11-30T10:53:20.000Z",
            "seconds": 0.75,
            "passed": 1,
            "total": 5,
            "steps": {"a": "passed", "b": "waiting"},
        }
    ]


def test_nothing_started_says_so() -> None:
    assert render_progress(progress_rows(IDS[:2], {})) == (
        "No lab has been started yet.\nnot begun: lab-jobset, lab-lws\n"
    )


@pytest.mark.parametrize("width", [80, 100])
def test_long_names_give_way(width: int) -> None:
    name = "lab-" + "x" * 60
    record = LabRecord(lab=name, started=START, last=START, finished=START, attempts=99, total=8)
    lines = render_progress(progress_rows([], {name: record}), width=width).splitlines()
    assert [cell_len(line) for line in lines] == [width - 2, width]
    assert lines[1].startswith("lab-xxx")
    assert "…" in lines[1]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 s"),
        (59.4, "59 s"),
        (59.9, "1 min"),
        (3540.0, "59 min"),
        (3590.0, "1 h 00 min"),
        (3900.0, "1 h 05 min"),
        (360000.0, "100 h 00 min"),
    ],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words
