"""What may be taken in from strangers: each rule broken once, by a folder on this disk or name by name."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from cluster.errors import UsageProblem
from grader.collections.intake import Intake, Limits, digest_of, leads_out
from grader.collections.source import fetch, name_for, origin_of
from tests.unit.collections.conftest import write_lab

SMALL = Limits(files=8, file=100, total=250, depth=4, name=40, labs=2, packed=1000)


@pytest.fixture
def intake(tmp_path: Path) -> Intake:
    (tmp_path / "in").mkdir()
    return Intake(tmp_path / "in", "them", SMALL)


class TestNames:
    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("../evil", "a path with '..' in it"),
            ("a/../../evil", "a path with '..' in it"),
            ("a/..", "a path with '..' in it"),
            ("/etc/passwd", "an absolute path"),
            ("a\\..\\b", r"a name with '\\' or ':'"),
            ("C:/x", r"a name with '\\' or ':'"),
            ("a/x\x1b[2J", "a name with control characters"),
            ("a/x\ny", "a name with control characters"),
            ("a/\u202etxt.exe", "a name with control characters"),
            ("a/x\udcff", "a name that is not UTF-8"),
            ("a/b/c/d/e", "more than 4 folders deep"),
            ("x" * 41, "a path of more than 40 bytes"),
            ("a/CON", "a name that some systems take for another"),
            ("a/nul.txt", "a name that some systems take for another"),
            ("a/lab.md ", "a name that some systems take for another"),
        ],
    )
    def test_that_are_none(self, intake: Intake, name: str, why: str) -> None:
        with pytest.raises(UsageProblem, match=why) as raised:
            intake.file(name, 1, [b"x"])
        assert raised.value.message.startswith("them: ")
        assert raised.value.advice == "nothing was added"
        assert list(intake.root.iterdir()) == []

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("a/Lab.md", "a/lab.md"),
            ("A/x", "a/y"),
            ("a/\u00e9", "a/e\u0301"),
            ("a/\ufb01", "a/fi"),
            ("a/stra\u00dfe", "a/STRASSE"),
        ],
    )
    def test_that_are_one_to_some_systems(self, intake: Intake, first: str, second: str) -> None:
        intake.file(first, 1, [b"x"])
        with pytest.raises(UsageProblem, match="are one file to some systems"):
            intake.file(second, 1, [b"y"])

    @pytest.mark.parametrize(("first", "second"), [("a", "a"), ("a", "a/b"), ("a/b", "a"), ("./a", "a")])
    def test_that_come_twice(self, intake: Intake, first: str, second: str) -> None:
        intake.file(first, 1, [b"x"])
        with pytest.raises(UsageProblem, match="twice in it, or a file and a folder at once"):
            intake.file(second, 1, [b"y"])
        assert (intake.root / "a").exists()


class TestSizes:
    def test_a_huge_file(self, intake: Intake) -> None:
        with pytest.raises(UsageProblem, match="them: big: larger than"):
            intake.file("big", 101, [b"x" * 101])
        assert not (intake.root / "big").exists()

    def test_a_file_that_is_larger_than_it_says(self, intake: Intake) -> None:
        with pytest.raises(UsageProblem, match="them: big: larger than"):
            intake.file("big", 1, (b"x" * 10 for _chunk in range(1000)))
        assert (intake.root / "big").stat().st_size <= 100

    def test_all_of_them_together(self, intake: Intake) -> None:
        intake.file("a", 100, [b"x" * 100])
        intake.file("b", 100, [b"x" * 100])
        with pytest.raises(UsageProblem, match="in all"):
            intake.file("c", 100, [b"x" * 100])

    def test_too_many(self, intake: Intake) -> None:
        for number in range(8):
            intake.file(f"f{number}", 0, [])
        with pytest.raises(UsageProblem, match="more than 8 files"):
            intake.file("one-more", 0, [])

    def test_too_many_that_are_left_out_all_the_same(self, intake: Intake) -> None:
        for number in range(8):
            intake.file(f".hidden/{number}", 0, [])
        with pytest.raises(UsageProblem, match="more than 8 files"):
            intake.folder("d")


class TestLinks:
    @pytest.mark.parametrize(
        ("at", "target", "out"),
        [
            ("a", "/etc/passwd", True),
            ("a", "../x", True),
            ("d/a", "../x", False),
            ("d/a", "../../x", True),
            ("d/a", "b/../../../x", True),
            ("d/a", "b/../c", False),
            ("a", "b", False),
            ("a", "..\\x", True),
        ],
    )
    def test_that_lead_out(self, at: str, target: str, out: bool) -> None:
        assert leads_out(tuple(at.split("/")), target) is out

    def test_out_of_a_folder_are_refused(self, tmp_path: Path) -> None:
        lab = write_lab(tmp_path / "labs")
        (lab / "assets").symlink_to("/etc")
        with pytest.raises(UsageProblem, match="lab-x/assets: a link that leads out of the collection, to /etc"):
            fetch(origin_of(str(tmp_path / "labs")), _empty(tmp_path))

    def test_within_a_folder_are_left_out_and_told(self, tmp_path: Path) -> None:
        write_lab(tmp_path / "labs")
        (tmp_path / "labs" / "lab-y").symlink_to("lab-x")
        fetched = fetch(origin_of(str(tmp_path / "labs")), _empty(tmp_path))
        assert fetched.labs == ("lab-x",)
        assert fetched.links == ("lab-y",)
        assert not (fetched.tree / "lab-y").is_symlink()


class TestFolders:
    def test_that_hold_what_is_no_file(self, tmp_path: Path) -> None:
        lab = write_lab(tmp_path / "labs")
        os.mkfifo(lab / "pipe")
        with pytest.raises(UsageProblem, match="lab-x/pipe: no plain file"):
            fetch(origin_of(str(tmp_path / "labs")), _empty(tmp_path))
        (lab / "pipe").unlink()
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(str(lab / "socket"))
            with pytest.raises(UsageProblem, match="lab-x/socket: no plain file"):
                fetch(origin_of(str(tmp_path / "labs")), _empty(tmp_path, "two"))

    def test_without_compiled_python_and_hidden_files(self, tmp_path: Path) -> None:
        lab = write_lab(tmp_path / "labs")
        (lab / "checks.py").write_text("")
        for name in ("__pycache__/checks.cpython-311.pyc", "checks.pyc", ".git/config", ".env"):
            (lab / name).parent.mkdir(exist_ok=True)
            (lab / name).write_text("evil")
        fetched = fetch(origin_of(str(tmp_path / "labs")), _empty(tmp_path))
        files = {path.relative_to(fetched.tree).as_posix() for path in fetched.tree.rglob("*") if path.is_file()}
        assert files == {"lab-x/lab.md", "lab-x/checks.py"}

    def test_are_copied_and_not_linked(self, tmp_path: Path) -> None:
        lab = write_lab(tmp_path / "labs")
        fetched = fetch(origin_of(str(tmp_path / "labs")), _empty(tmp_path))
        before = digest_of(fetched.tree)
        (lab / "lab.md").write_text("changed")
        assert digest_of(fetched.tree) == before == fetched.digest


class TestLabs:
    def test_beside_one_another_or_below_labs_or_one_alone(self, tmp_path: Path) -> None:
        for name, where in (("one", "."), ("two", "labs"), ("three", "a/b/labs")):
            write_lab(tmp_path / name / where, "lab-a")
            write_lab(tmp_path / name / where, "lab-b")
            (tmp_path / name / "README.md").write_text("about it") if name != "three" else None
            fetched = fetch(origin_of(str(tmp_path / name)), _empty(tmp_path, f"in-{name}"))
            assert fetched.labs == ("lab-a", "lab-b"), name
            assert sorted(path.name for path in fetched.tree.iterdir()) == ["lab-a", "lab-b"]
        alone = write_lab(tmp_path / "alone", "lab-c").rename(tmp_path / "checkout-of-lab-c")
        assert fetch(origin_of(str(alone)), _empty(tmp_path, "in-alone")).labs == ("lab-c",)

    def test_none(self, tmp_path: Path) -> None:
        (tmp_path / "nothing").mkdir()
        with pytest.raises(UsageProblem, match="no lab in it"):
            fetch(origin_of(str(tmp_path / "nothing")), _empty(tmp_path))

    def test_one_that_names_itself_by_a_path(self, tmp_path: Path) -> None:
        lab = write_lab(tmp_path / "alone", "lab-c")
        (lab / "lab.md").write_text((lab / "lab.md").read_text().replace("lab: lab-c", "lab: ../../lab-c"))
        with pytest.raises(UsageProblem, match="does not say which lab it is"):
            fetch(origin_of(str(lab)), _empty(tmp_path))

    def test_too_many(self, tmp_path: Path) -> None:
        for number in range(3):
            write_lab(tmp_path / "labs", f"lab-{number}")
        with pytest.raises(UsageProblem, match="more than 2 labs"):
            fetch(origin_of(str(tmp_path / "labs")), _empty(tmp_path), Limits(labs=2))


class TestSource:
    @pytest.mark.parametrize(
        ("location", "name"),
        [
            ("https://example.org/acme/Batch_Labs.git", "batch-labs"),
            ("ssh://git@example.org/acme/labs", "labs"),
            ("git@example.org:acme/k8s-labs.git", "k8s-labs"),
        ],
    )
    def test_names_a_collection(self, location: str, name: str) -> None:
        assert name_for(origin_of(location)) == name

    def test_of_an_archive_names_it_without_its_ending(self, tmp_path: Path) -> None:
        (tmp_path / "course-1.2.tar.gz").touch()
        assert name_for(origin_of(str(tmp_path / "course-1.2.tar.gz"))) == "course-1-2"

    def test_that_gives_no_name(self) -> None:
        with pytest.raises(UsageProblem, match="is no name for a collection"):
            name_for(origin_of("https://example.org/한글"))

    def test_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(UsageProblem, match="there is no"):
            origin_of(str(tmp_path / "nowhere"))

    def test_that_is_a_bare_repository_is_told_how_to_be_fetched(self, tmp_path: Path) -> None:
        (tmp_path / "objects").mkdir()
        (tmp_path / "HEAD").write_text("ref: refs/heads/main\n")
        with pytest.raises(UsageProblem) as raised:
            origin_of(str(tmp_path))
        assert raised.value.advice == f"fetch from it: grader lab add file://{tmp_path}"

    def test_ref_without_git(self, tmp_path: Path) -> None:
        with pytest.raises(UsageProblem, match="--ref goes with"):
            origin_of(str(tmp_path), "main")


def _empty(tmp_path: Path, name: str = "scratch") -> Path:
    folder = tmp_path / name
    folder.mkdir()
    return folder
