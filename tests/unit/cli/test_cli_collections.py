"""`grader lab`: from the first look at a collection to its last, and what may be done with its labs in between."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest

from grader.collections import store
from grader.session.places import session_home
from tests.unit.cli.conftest import Grader
from tests.unit.collections.conftest import Repository, write_lab
from tests.unit.session.pretended import PretendedMachines

GOOD = Path(__file__).parents[2] / "data" / "collections" / "good"
NOT_ACCEPTED = (
    "grader: good/lab-first is of the collection good, which you have not accepted yet\n"
    "        see what it would run, and accept it: grader lab accept good\n"
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A collection to be changed by a test."""
    folder = tmp_path / "good"
    shutil.copytree(GOOD, folder)
    return folder


def tree(name: str = "good") -> Path:
    found = store.find(name)
    assert found is not None
    return found.tree


class TestAdd:
    def test_says_what_there_is_and_that_nothing_runs_yet(self, grader: Grader, source: Path) -> None:
        ran = grader("lab", "add", str(source))
        assert ran.code == 0
        digest = store.get("good").digest[:12]
        assert ran.out.splitlines() == [
            f"good: 2 labs from {source}, pinned to content {digest}",
            "  good/lab-first  A note in the cluster · 5 min",
            "  good/lab-second  Containers on a real node · 10 min · needs root",
            "not accepted yet: these labs can be read, and nothing of them runs",
            "  read one     grader show good/lab-first",
            "  accept them  grader lab accept good",
        ]

    def test_a_name_is_given_once(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        ran = grader("lab", "add", str(source))
        assert ran.code == 2
        assert ran.err.startswith("grader: there is a collection good already\n")
        assert grader("lab", "add", str(source), "--name", "other").code == 0
        assert store.names() == ["good", "other"]

    @pytest.mark.parametrize("name", ["../evil", "a/b", "Evil", "", "-x", "a" * 41, "a.b"])
    def test_a_name_that_is_none(self, grader: Grader, source: Path, state_home: Path, name: str) -> None:
        ran = grader("lab", "add", str(source), f"--name={name}")
        assert ran.code == 2
        assert "is no name for a collection" in ran.err
        assert not (state_home / "evil").exists()

    def test_what_is_refused_leaves_nothing(self, grader: Grader, source: Path) -> None:
        (source / "labs/lab-first/passwd").symlink_to("/etc/passwd")
        ran = grader("lab", "add", str(source))
        assert ran.code == 2
        assert "labs/lab-first/passwd: a link that leads out of the collection, to /etc/passwd" in ran.err
        assert [path.name for path in store.collections_dir().iterdir()] == [".locks"]
        assert grader("list").out.count("good/") == 0

    def test_a_lab_that_is_wrong_is_named_with_its_place(self, grader: Grader, source: Path) -> None:
        text = (source / "labs/lab-second/lab.md").read_text()
        (source / "labs/lab-second/lab.md").write_text(text.replace("minutes: 10", "minutes: ten"))
        ran = grader("lab", "add", str(source))
        assert ran.code == 0
        assert f"can't be read: {tree()}/lab-second/lab.md:5:10: minutes: must be a whole number" in ran.out

    def test_files_and_folders_are_the_owners(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        assert store.collections_dir().stat().st_mode & 0o077 == 0


class TestReading:
    def test_is_free(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        assert grader("show", "good/lab-first").out.startswith("# A note in the cluster\n")
        assert grader("show", "good/lab-first", "2").out.startswith("## 2 Say so in a file")
        assert grader("--lang", "ko", "show", "good/lab-first").out.startswith("# 클러스터에 남긴 메모\n")
        assert grader("lint", "good/lab-first").code == 0
        assert "after good/lab-first" in grader("show", "good/lab-second").out

    def test_the_list_has_them_by_collection(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        text = grader("list").out
        assert "\n\ngood  not accepted yet: grader lab accept good\ngood/lab-first " in text
        assert text.index("lab-toy") < text.index("good/lab-first")
        grader("lab", "accept", "good", "--yes")
        assert "\n\ngood\ngood/lab-first " in grader("list").out

    def test_the_list_as_a_document(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        grader("lab", "accept", "good", "--yes")
        labs = {lab["id"]: lab for lab in json.loads(grader("list", "--json").out)["labs"]}
        assert (labs["lab-toy"]["collection"], labs["lab-toy"]["accepted"]) == (None, True)
        assert (labs["good/lab-first"]["collection"], labs["good/lab-first"]["accepted"]) == ("good", True)
        assert labs["good/lab-second"]["accepted"] is False, "its containers run as root"

    def test_a_lab_that_is_not_there(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        ran = grader("show", "good/lab-fist")
        assert (ran.code, "did you mean 'good/lab-first'?" in ran.err) == (2, True)
        assert grader("show", "../../etc/lab-x").code == 2

    def test_show_and_list_as_documents(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        (one,) = json.loads(grader("lab", "list", "--json").out)["collections"]
        assert one["lab_ids"] == ["good/lab-first", "good/lab-second"]
        document = json.loads(grader("lab", "show", "good", "--json").out)
        assert document["schema"] == "batchlab/collection/v1"
        first = document["labs"][0]["runs"]
        assert first["functions"] == ["holds_the_sum"]
        assert first["commands"] == ['test "$(wc -l < answer.txt)" -eq 1']
        assert first["objects"] == {"ConfigMap": 1, "Namespace": 1}
        assert document["labs"][1]["runs"]["real_nodes"] == ["lab"]


class TestNotAccepted:
    @pytest.mark.parametrize("command", ["start", "reset", "verify"])
    def test_nothing_runs(
        self, grader: Grader, source: Path, machines: PretendedMachines, command: str, state_home: Path
    ) -> None:
        grader("lab", "add", str(source))
        ran = grader(command, "good/lab-first")
        assert (ran.code, ran.err) == (2, NOT_ACCEPTED)
        assert not (state_home / "sessions" / "good.lab-first").exists()
        assert machines.configs == []

    def test_nor_by_the_name_of_its_folder(self, grader: Grader, source: Path, machines: PretendedMachines) -> None:
        grader("lab", "add", str(source))
        ran = grader("verify", str(tree() / "lab-first"))
        assert (ran.code, "is named NAME/LAB, not by its folder" in ran.err) == (2, True)
        assert machines.configs == []

    def test_nor_is_anything_checked(self, grader: Grader, source: Path, state_home: Path) -> None:
        from grader.check_session import check_session
        from grader.cli.common import read_lab
        from grader.collections.trust import refuse_untrusted

        grader("lab", "add", str(source))
        lab = read_lab("good/lab-first")
        for judge in (lambda: refuse_untrusted(lab), lambda: check_session(state_home / "sessions", lab)):
            with pytest.raises(Exception, match="which you have not accepted yet"):
                judge()

    @pytest.mark.usefixtures("machines")
    def test_containers_as_root_are_accepted_apart(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        said = grader("lab", "accept", "good", "--yes").out
        assert "Not accepted with it, since their containers run as root: good/lab-second" in said
        ran = grader("start", "good/lab-second")
        assert (ran.code, "as root of this machine" in ran.err) == (2, True)
        assert "grader lab accept good --real-nodes" in ran.err
        assert grader("lab", "accept", "good", "--yes", "--real-nodes").code == 0
        assert grader("lab", "list").out.split("  ")[1] == "accepted, with real nodes"


class TestAccept:
    def test_shows_what_would_run(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        said = grader("lab", "accept", "good", "--yes").out
        for line in (
            "  functions of checks.py: holds_the_sum",
            '  commands of checks: test "$(wc -l < answer.txt)" -eq 1',
            "  scripts of grader verify: solution/01-note.sh, solution/02-file.sh, wrong/other-key",
            "  objects at the start: ConfigMap × 1, Namespace × 1",
            "  nodes that run containers: lab",
        ):
            assert line in said.splitlines()

    def test_asks(self, grader: Grader, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        class Person(io.StringIO):
            def isatty(self) -> bool:
                return True

        grader("lab", "add", str(source))
        monkeypatch.setattr(sys, "stdin", Person("\n"))
        ran = grader("lab", "accept", "good")
        assert (ran.code, ran.out.splitlines()[-1]) == (1, f"{_question()} [y/N] good is not accepted")
        monkeypatch.setattr(sys, "stdin", Person("yes\n"))
        assert grader("lab", "accept", "good").code == 0
        assert store.get("good").accepted is not None

    def test_without_anybody_to_ask_is_wrong_usage(
        self, grader: Grader, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        grader("lab", "add", str(source))
        monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
        ran = grader("lab", "accept", "good")
        assert (ran.code, "nobody is here to be asked" in ran.err) == (2, True)
        assert store.get("good").accepted is None

    def test_lets_a_lab_run(self, grader: Grader, source: Path, machines: PretendedMachines) -> None:
        grader("lab", "add", str(source))
        grader("lab", "accept", "good", "--yes")
        ran = grader("start", "good/lab-first")
        assert ran.code == 0, ran.err
        assert session_home("good/lab-first").name == "good.lab-first"
        (config,) = machines.configs
        assert store.collections_dir() / "good" in config.shown
        assert "good/lab-first" in grader("status").out

    def test_is_of_these_very_files(self, grader: Grader, source: Path, machines: PretendedMachines) -> None:
        """Who changes the files where they lie changes what was accepted."""
        grader("lab", "add", str(source))
        grader("lab", "accept", "good", "--yes")
        (tree() / "lab-first/checks.py").write_text("import os\n")
        ran = grader("start", "good/lab-first")
        assert (ran.code, "are not those that were fetched" in ran.err) == (2, True)
        assert machines.configs == []

    def test_is_not_of_others_in_their_place(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        grader("lab", "accept", "good", "--yes")
        path = store.collections_dir() / "good" / "collection.json"
        content = json.loads(path.read_text())
        content["collection"]["accepted"]["digest"] = "0" * 64
        path.write_text(json.dumps(content))
        assert store.get("good").accepted is None


class TestUpdate:
    def test_says_what_changed_and_forgets_the_acceptance(self, grader: Grader, tmp_path: Path) -> None:
        repository = Repository(tmp_path / "acme")
        for lab in ("lab-a", "lab-b", "lab-c"):
            write_lab(repository.folder / "labs", lab)
        first = repository.commit()[:12]
        grader("lab", "add", repository.url)
        grader("lab", "accept", "acme", "--yes")
        assert grader("lab", "update", "acme").out == f"acme has not changed: commit {first}\n"
        assert store.get("acme").accepted is not None
        shutil.rmtree(repository.folder / "labs/lab-a")
        (repository.folder / "labs/lab-b/README.md").write_text("more")
        write_lab(repository.folder / "labs", "lab-d")
        second = repository.commit()[:12]
        before = tree("acme")
        dry = grader("lab", "update", "acme", "--dry-run").out
        assert dry.splitlines() == [
            f"acme: commit {first} → commit {second}",
            "  new  acme/lab-d",
            "  changed  acme/lab-b",
            "  gone  acme/lab-a",
        ]
        assert (tree("acme"), store.get("acme").accepted is None) == (before, False)
        said = grader("lab", "update", "acme").out
        assert said == dry + "what changed is not accepted: grader lab accept acme\n"
        assert (store.get("acme").commit[:12], store.get("acme").accepted) == (second, None)
        assert not before.exists()
        assert grader("start", "acme/lab-b").code == 2

    def test_another_commit_of_the_same_files_stays_accepted(self, grader: Grader, tmp_path: Path) -> None:
        repository = Repository(tmp_path / "acme")
        write_lab(repository.folder / "labs", "lab-a")
        repository.commit()
        grader("lab", "add", repository.url)
        grader("lab", "accept", "acme", "--yes")
        (repository.folder / "README.md").write_text("about it")
        second = repository.commit()
        assert grader("lab", "update", "acme").out == f"acme has not changed: commit {second[:12]}\n"
        assert (store.get("acme").commit, store.get("acme").accepted is None) == (second, False)

    def test_to_another_ref(self, grader: Grader, tmp_path: Path) -> None:
        repository = Repository(tmp_path / "acme")
        write_lab(repository.folder / "labs", "lab-a")
        repository.commit()
        grader("lab", "add", repository.url, "--ref", "main")
        repository.git("switch", "--quiet", "--create", "next")
        write_lab(repository.folder / "labs", "lab-b")
        repository.commit()
        assert "has not changed" in grader("lab", "update", "acme").out
        assert "  new  acme/lab-b" in grader("lab", "update", "acme", "--ref", "next").out
        assert store.get("acme").origin.ref == "next"

    def test_that_is_refused_leaves_all_as_it_was(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        grader("lab", "accept", "good", "--yes")
        before = store.get("good")
        (source / "labs/lab-first/up").symlink_to("../../../..")
        assert grader("lab", "update", "good").code == 2
        assert store.get("good") == before
        shutil.rmtree(source)
        ran = grader("lab", "update", "good")
        assert (ran.code, "any more" in ran.err) == (2, True)
        assert store.get("good") == before
        assert (before.tree / "lab-first/lab.md").is_file()


class TestRemove:
    @pytest.mark.usefixtures("machines")
    def test_keeps_files_and_progress(self, grader: Grader, source: Path) -> None:
        grader("lab", "add", str(source))
        grader("lab", "accept", "good", "--yes")
        grader("start", "good/lab-first")
        work = session_home("good/lab-first") / "work"
        (work / "answer.txt").write_text("42")
        for words in (("remove", "good"), ("update", "good")):
            ran = grader("lab", *words)
            assert (ran.code, ran.err.splitlines()[0]) == (2, "grader: a lab of good runs: good/lab-first")
        grader("stop", "good/lab-first")
        assert grader("lab", "remove", "good").code == 0
        assert store.names() == []
        assert (work / "answer.txt").read_text() == "42"
        assert "good/lab-first" in grader("report", "--csv").out
        assert grader("lab", "remove", "good").code == 2

    def test_two_collections_with_one_lab(self, grader: Grader, source: Path, machines: PretendedMachines) -> None:
        """And one of ours of that name: each has its own session and its own progress."""
        for name in ("one", "two"):
            grader("lab", "add", str(source), "--name", name)
            grader("lab", "accept", name, "--yes")
            assert grader("start", f"{name}/lab-first").code == 0
        homes = {session_home(lab) for lab in ("one/lab-first", "two/lab-first", "lab-first")}
        assert len(homes) == 3
        assert {config.home for config in machines.configs} == homes - {session_home("lab-first")}


class TestDamage:
    @pytest.mark.parametrize("content", ["", "{", "[]", '{"schema": 1, "collection": {"digest": "x"}}'])
    def test_of_its_file_is_told_and_kept(self, grader: Grader, source: Path, content: str) -> None:
        grader("lab", "add", str(source))
        home = store.collections_dir() / "good"
        (home / "collection.json").write_text(content)
        ran = grader("lab", "list")
        assert ran.code == 0
        assert "collection.json" in ran.err
        assert "add the collection again" in ran.err
        assert list(home.glob("collection.json.damaged-*"))
        assert grader("start", "good/lab-first").code == 2
        assert grader("lab", "add", str(source)).code == 0
        assert store.get("good").accepted is None

    def test_a_command_that_was_killed_leaves_nothing_for_good(
        self, grader: Grader, source: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        left = store.collections_dir() / ".new-abc"
        (left / "received").mkdir(parents=True)
        monkeypatch.setattr(store, "_LEFT_SECONDS", -1.0)
        grader("lab", "add", str(source))
        assert not left.exists()
        assert store.names() == ["good"]


def test_completion_knows_labs_and_collections(grader: Grader, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grader("lab", "add", str(source))
    for words, expected in (("grader start goo", "good/lab-first"), ("grader lab accept g", "good")):
        monkeypatch.setenv("_GRADER_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
        assert f"plain,{expected}\n" in grader().out


def _question() -> str:
    return f"Accept good at content {store.get('good').digest[:12]}?"
