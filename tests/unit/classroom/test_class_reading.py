"""Which reports of a folder count, and why the others don't."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cluster.errors import UsageProblem
from grader.classroom import reading
from grader.classroom.reading import Class, read_class
from grader.report.json import utc
from tests.classes import BEGIN, Learner, check, ordinary, sealed_at, start


def why(found: Class) -> dict[str, str]:
    return {one.file: one.why for one in found.left_out}


def test_each_learner_of_a_folder_at_any_depth(tmp_path: Path) -> None:
    Learner("Lee", 2).write(tmp_path / "a.json")
    Learner("Kim", 1).write(tmp_path / "group" / "deep" / "b.JSON")
    (tmp_path / "notes.txt").write_text("not mine")
    (tmp_path / ".hidden.json").write_text("{}")
    found = read_class(tmp_path)
    assert [(report.name, report.file) for report in found.reports] == [("Kim", "group/deep/b.JSON"), ("Lee", "a.json")]
    assert (found.left_out, found.suspicions, found.others) == ([], [], 1)


def test_links_are_not_followed(tmp_path: Path) -> None:
    Learner().write(tmp_path / "away" / "a.json")
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "a.json").symlink_to(tmp_path / "away" / "a.json")
    (folder / "round").symlink_to(folder)
    assert read_class(folder).reports == []


def test_what_is_no_report_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "cut.json").write_text(json.dumps(Learner().report())[:-20])
    (tmp_path / "other.json").write_text('{"schema": "batchlab/check/v1"}')
    (tmp_path / "twice.json").write_text('{"a": 1, "a": 2}')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "nan.json").write_text('{"a": NaN}')
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(tmp_path / "pipe.json")
    Learner().write(tmp_path / "good.json")
    found = read_class(tmp_path)
    assert [report.file for report in found.reports] == ["good.json"]
    assert set(why(found).values()) == {"no report"}
    assert len(found.left_out) == 8
    assert all(one.says for one in found.left_out)


def test_a_changed_report_is_left_out_with_its_entry(tmp_path: Path) -> None:
    report = Learner().report()
    report["labs"][0]["record"]["entries"][1]["steps"]["groups"]["groups-check"] = "passed"
    (tmp_path / "a.json").write_text(json.dumps(report))
    [one] = read_class(tmp_path).left_out
    assert (one.why, one.learner) == ("changed", "Kim")
    assert one.says[0].startswith("lab-toy entry 1: was changed")


def test_a_report_without_a_record_is_left_out(tmp_path: Path) -> None:
    report = Learner().report()
    for name in ("seal", "learner"):
        del report[name]
    del report["labs"][0]["record"]
    (tmp_path / "old.json").write_text(json.dumps(report))
    assert why(read_class(tmp_path)) == {"old.json": "no record"}


def test_of_two_reports_of_a_learner_the_later_counts(tmp_path: Path) -> None:
    told = ordinary(3)
    (tmp_path / "1.json").write_text(json.dumps(sealed_at(Learner(told=told[:4]), 100)))
    (tmp_path / "2.json").write_text(json.dumps(sealed_at(Learner(told=told), 200)))
    found = read_class(tmp_path)
    assert [report.file for report in found.reports] == ["2.json"]
    assert why(found) == {"1.json": "older"}
    assert found.suspicions == []


def test_a_key_under_two_names(tmp_path: Path) -> None:
    told = ordinary(3)
    (tmp_path / "1.json").write_text(json.dumps(sealed_at(Learner("Kim", told=told), 100)))
    (tmp_path / "2.json").write_text(json.dumps(sealed_at(Learner("Lee", told=told), 200)))
    found = read_class(tmp_path)
    assert why(found) == {"1.json": "duplicate"}
    assert found.suspicions == ["one learner key under two names: Kim (1.json), Lee (2.json)"]


def test_a_record_that_was_begun_anew_is_seen_by_the_earlier_report(tmp_path: Path) -> None:
    from tests.classes import key

    (tmp_path / "1.json").write_text(json.dumps(sealed_at(Learner(told=ordinary(1)), 100)))
    (tmp_path / "2.json").write_text(json.dumps(sealed_at(Learner(told=ordinary(3), session=key(9)), 200)))
    assert read_class(tmp_path).suspicions == [
        "Kim, lab-toy: the record handed in with 1.json is not in 2.json: a new one was begun"
    ]


def test_two_stories_of_one_session(tmp_path: Path) -> None:
    # An old copy of the session folder was put back, and the failures since then never were.
    one = [start(at=0), check(at=60), check(at=120)]
    other = [start(at=0), check(at=60), check("groups", at=130)]
    (tmp_path / "1.json").write_text(json.dumps(sealed_at(Learner(told=one), 100)))
    (tmp_path / "2.json").write_text(json.dumps(sealed_at(Learner(told=other), 200)))
    assert read_class(tmp_path).suspicions == ["Kim, lab-toy: 1.json and 2.json tell two stories of one session"]


def test_one_session_in_the_reports_of_two(tmp_path: Path) -> None:
    from tests.classes import key

    class Unbound(Learner):
        """Whose record began inside the lab, where no learner's key is."""

        def record(self) -> dict[str, object]:
            from grader.record.chain import new_entry, new_head
            from grader.record.keys import digest

            session = key(9)
            head = new_head(self.lab, session, None)
            entry = new_entry(0, digest(head), self.told[0], session)
            end = {"next": 1, "last": digest(entry), "kept": True}
            return {"head": head, "entries": [entry], "end": end}

    for name, seed in (("Kim", 1), ("Lee", 2)):
        Unbound(name, seed, session=key(9)).write(tmp_path / f"{name}.json")
    found = read_class(tmp_path)
    assert found.suspicions == ["lab-toy: one session in two reports: Kim (Kim.json), Lee (Lee.json)"]
    assert found.reports[0].notes == (
        "lab-toy: no learner's key vouches for this record",
        "lab-toy: step groups is told as passed, and no check of this record passed it",
        "lab-toy: step names is told as passed, and no check of this record passed it",
    )


def test_two_of_one_name_are_two(tmp_path: Path) -> None:
    for seed in (1, 2):
        Learner("Kim", seed).write(tmp_path / f"{seed}.json")
    found = read_class(tmp_path)
    assert len({reading.whose(report, ["Kim", "Kim"]) for report in found.reports}) == 2


def test_many_are_read_by_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "FEW", 3)
    for seed in range(1, 8):
        Learner(f"L{seed}", seed).write(tmp_path / f"{seed}.json")
    (tmp_path / "0.json").write_text("no")
    heard: list[tuple[int, int]] = []
    found = read_class(tmp_path, lambda done, total: heard.append((done, total)))
    assert [report.name for report in found.reports] == [f"L{seed}" for seed in range(1, 8)]
    assert heard == [(done, 8) for done in range(1, 9)]


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_what_is_no_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageProblem, match="is no folder"):
        read_class(tmp_path / name)


def test_times_are_those_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text(json.dumps(sealed_at(Learner(), 100)))
    assert read_class(tmp_path).reports[0].at == utc(BEGIN + 100)
