"""Which labs there are, in which order, and how one is loaded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cluster.errors import UsageProblem
from grader.lab import catalogue
from grader.lab.catalogue import lab_ids, labs_dir, load_lab


@pytest.fixture
def labs(lab: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A catalogue of lab-hello, lab-a after it, and what is no lab."""
    folder = lab.parent
    shutil.copytree(lab, folder / "lab-a")
    path = folder / "lab-a" / "lab.md"
    text = path.read_text().replace("lab: lab-hello", "lab: lab-a")
    path.write_text(text.replace("minutes: 10", "minutes: 10\nafter: [lab-hello]"))
    (folder / "notes").mkdir()
    (folder / "file").write_text("")
    monkeypatch.setattr(catalogue, "labs_dir", lambda: folder)
    return folder


def test_the_labs_stand_beside_the_package() -> None:
    assert labs_dir() == Path(catalogue.__file__).resolve().parents[2] / "labs"


def test_labs_in_a_wheel_lie_inside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data" / "labs").mkdir(parents=True)
    monkeypatch.setattr(catalogue, "_PACKAGE", tmp_path)
    assert labs_dir() == tmp_path / "data" / "labs"


def test_order_is_by_what_comes_before(labs: Path) -> None:
    assert lab_ids() == ["lab-hello", "lab-a"]


@pytest.mark.parametrize("text", ["", "---\nformat: 99\n---\n", "---\nafter: 3\n---\n", "---\n[\n---\n"])
def test_a_broken_lab_is_still_in_the_list(labs: Path, text: str) -> None:
    (labs / "lab-a" / "lab.md").write_text(text)
    assert lab_ids() == ["lab-a", "lab-hello"]


def test_no_labs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(catalogue, "labs_dir", lambda: tmp_path / "gone")
    assert lab_ids() == []
    with pytest.raises(UsageProblem) as raised:
        load_lab("x")
    assert (raised.value.message, raised.value.advice) == ("no lab x", "")


def test_loading(labs: Path) -> None:
    assert load_lab("lab-a").id == "lab-a"
    assert load_lab("lab-hello", "ko").title == "첫 파드"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lab-helo", "no lab lab-helo (did you mean 'lab-hello'?)"),
        ("../labs/lab-a", "no lab ../labs/lab-a"),
        ("notes", "no lab notes"),
        ("", "no lab "),
    ],
)
def test_a_lab_there_is_not(labs: Path, name: str, message: str) -> None:
    with pytest.raises(UsageProblem) as raised:
        load_lab(name)
    assert raised.value.message == message
    assert raised.value.advice == "labs there are: lab-a, lab-hello"


def test_a_lab_that_is_wrong_is_refused_with_all_that_is_wrong(labs: Path) -> None:
    path = labs / "lab-a" / "lab.md"
    path.write_text(path.read_text().replace("minutes: 10", "minutes: x").replace("within: 20", "within: x"))
    with pytest.raises(UsageProblem) as raised:
        load_lab("lab-a")
    assert raised.value.message.splitlines() == [
        f"{path}:5:10: minutes: must be a whole number, not 'x'",
        f"{path}:40:11: within: must be a whole number, not 'x'",
    ]
    assert raised.value.exit_code == 2


def test_an_authors_own_folder_takes_the_place_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("BATCHLAB_LABS", str(tmp_path))
    assert labs_dir() == tmp_path
    assert lab_ids() == []
