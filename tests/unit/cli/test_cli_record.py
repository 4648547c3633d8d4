"""`grader report --export`, `grader report verify` and `grader class`, from sessions on disk to a class."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from grader.lab.catalogue import load_lab
from grader.progress import record_run, record_start
from grader.record.journal import FILE
from grader.record.telling import note_check, note_start
from grader.results import Result, State
from tests.classes import Learner
from tests.unit.cli.conftest import Grader


@pytest.fixture
def home(grader: Grader, state_home: Path) -> Path:
    """A session of the toy lab in which all passed at the second check."""
    folder = state_home / "sessions" / "lab-toy"
    folder.mkdir(parents=True)
    (folder / "lock").write_text("")
    lab = load_lab("lab-toy")
    record_start(lab.id, 1000.0, folder)
    note_start(folder, lab, 1000.0, again=False)
    for at, state in ((1100.0, State.FAILED), (1200.0, State.PASSED)):
        results = [
            Result(check=check.id, step=step.number, step_id=step.id, says=check.says, state=state)
            for step in lab.steps
            for check in step.checks
        ]
        record_run(lab.id, results, steps_in_lab=len(lab.steps), at=at, seconds=1.0, folder=folder)
        note_check(folder, lab, results, at, counted=True)
    return folder


def test_a_report_is_exported_and_intact(grader: Grader, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "kim.json"
    ran = grader("report", "--name", " 김지수 ", "--export", str(file))
    assert (ran.code, ran.out) == (0, f"the report is in {file}\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    document = json.loads(file.read_text())
    assert document["learner"]["name"] == "김지수"
    [toy] = [lab for lab in document["labs"] if lab["lab"] == "lab-toy"]
    assert [entry["what"] for entry in toy["record"]["entries"]] == ["start", "check", "check"]

    ran = grader("report", "verify", str(file))
    assert ran.code == 0
    assert ran.out.startswith(f"{file}: intact, the report of 김지수 (")
    assert "3 entries" in ran.out


def test_the_name_is_kept(grader: Grader, home: Path) -> None:
    grader("report", "--name", "Kim")
    assert json.loads(grader("report", "--json").out)["learner"]["name"] == "Kim"


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 81, "\x1b[31m"])
def test_what_is_no_name(grader: Grader, home: Path, name: str) -> None:
    ran = grader("report", "--name", name)
    assert ran.code == 2
    assert "a name is one line of 1 to 80 characters" in ran.err


def test_a_changed_report_is_named_by_its_entry(grader: Grader, home: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "kim.json", tmp_path / "lee.json"
    grader("report", "--export", str(file))
    Learner("Lee", 2).write(other)
    document = json.loads(file.read_text())
    [toy] = [lab for lab in document["labs"] if lab["lab"] == "lab-toy"]
    first = next(iter(toy["record"]["entries"][1]["steps"].values()))
    first[next(iter(first))] = "passed"
    file.write_text(json.dumps(document))
    ran = grader("report", "verify", str(file), str(other))
    assert ran.code == 1
    assert ran.out.splitlines()[0].startswith(f"{file}: changed")
    assert ran.out.splitlines()[1].startswith("  lab-toy entry 1: was changed, or was never written by this session")
    assert f"{other}: intact" in ran.out

    as_json = json.loads(grader("report", "verify", "--json", str(file), str(other)).out)
    assert as_json["schema"] == "batchlab/report-verify/v1"
    assert [(one["state"], [fault["entry"] for fault in one["faults"]]) for one in as_json["reports"]] == [
        ("changed", [1]),
        ("intact", []),
    ]


def test_what_is_no_report_outranks_what_was_changed(grader: Grader, home: Path, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    ran = grader("report", "verify", str(tmp_path / "a.json"), str(tmp_path / "nowhere.json"))
    assert ran.code == 2
    assert "no report: it is no report of `grader report`" in ran.out
    assert "no report: it can't be read: No such file or directory" in ran.out


def test_a_report_without_a_record_is_said_to_be_one(grader: Grader, tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text('{"schema": "batchlab/report/v1", "at": "2026-01-01T00:00:00.000Z", "labs": []}')
    ran = grader("report", "verify", str(file))
    assert (ran.code, ran.out) == (1, f"{file}: has no record, so nobody can tell whether it was changed\n")
    assert json.loads(grader("report", "verify", "--json", str(file)).out)["reports"][0]["state"] == "no record"


def test_figures_that_were_changed_on_disk_are_not_in_the_record(grader: Grader, home: Path, tmp_path: Path) -> None:
    lines = (home / FILE).read_bytes().splitlines(keepends=True)
    (home / FILE).write_bytes(b"".join(lines[:3]))
    file = tmp_path / "kim.json"
    grader("report", "--export", str(file))
    ran = grader("report", "verify", str(file))
    assert ran.code == 1
    assert "lab-toy entry 2: is missing, and all behind it: 1" in ran.out


def test_a_class(grader: Grader, home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    grader("report", "--name", "Kim", "--export", str(folder / "kim.json"))
    Learner("Lee", 2).write(folder / "lee.json")
    csv, page = tmp_path / "class.csv", tmp_path / "class.html"
    ran = grader("class", str(folder), "--csv", str(csv), "--html", str(page))
    assert (ran.code, ran.err) == (0, "")
    assert "learners: 2, labs: 1" in ran.out
    assert "Kim" in ran.out
    assert csv.read_text().startswith("learner,key,lab,step,")
    assert page.read_text().startswith("<!doctype html>")
    document = json.loads(grader("class", "--json", str(folder)).out)
    assert document["schema"] == "batchlab/class/v1"
    learners = {one["learner"]: one for lab in document["labs"] for one in lab["learners"]}
    assert learners["Kim"]["finished"] is not None
    assert learners["Kim"]["steps_passed"] == learners["Kim"]["steps_total"]


def test_a_folder_without_reports(grader: Grader, tmp_path: Path) -> None:
    ran = grader("class", str(tmp_path))
    assert ran.code == 2
    assert "grader report --export FILE.json" in ran.err
    assert grader("class", str(tmp_path / "nowhere")).code == 2


def test_where_a_file_can_not_be_written(grader: Grader, home: Path, tmp_path: Path) -> None:
    ran = grader("report", "--export", str(tmp_path / "nowhere" / "kim.json"))
    assert ran.code == 3
    assert "can't use" in ran.err
    assert "progress" not in ran.err


@pytest.mark.parametrize(
    "argv", [("report", "--export", "x.json"), ("report", "--name", "Kim"), ("report", "verify", "x"), ("class", ".")]
)
def test_inside_a_lab_nothing_is_signed_and_no_file_is_opened(
    grader: Grader, inside: Path, argv: tuple[str, ...], tmp_path: Path
) -> None:
    ran = grader(*argv)
    assert ran.code == 2
    assert "leave the lab's shell first" in ran.err


def test_inside_a_lab_a_report_has_no_record(grader: Grader, inside: Path) -> None:
    document = json.loads(grader("report", "--json").out)
    assert "seal" not in document
    assert not any("record" in lab for lab in document["labs"])


def test_options_of_the_report_before_verify(grader: Grader) -> None:
    assert grader("report", "--csv", "verify", "x").code == 2
    assert "no command 'verfy'" in grader("report", "verfy", "x").err
