"""Labs by others, from outside: a good collection and an evil one, from the first look to the last."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.blackbox.conftest import CHECKOUT
from tests.blackbox.person import Person

GOOD = CHECKOUT / "tests" / "data" / "collections" / "good"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The good collection as a repository of git."""
    folder = tmp_path / "acme-labs"
    subprocess.run(["cp", "-R", str(GOOD), str(folder)], check=True)
    for words in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message=one"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    return folder


def test_from_git_to_the_end(person: Person, repository: Path) -> None:
    said = person.run("lab", "add", f"file://{repository}")
    assert "acme-labs: 2 labs from file://" in said.out
    assert "pinned to commit " in said.out
    assert "acme-labs  not accepted yet: grader lab accept acme-labs" in person.run("list").out
    assert person.run("show", "acme-labs/lab-first").out.startswith("# A note in the cluster")
    assert person.run("lint", "acme-labs/lab-first", "acme-labs/lab-second").code == 0
    for command in ("start", "verify"):
        refused = person.run(command, "acme-labs/lab-first", code=2)
        assert "which you have not accepted yet" in refused.err
        assert "grader lab accept acme-labs" in refused.err
    assert "functions of checks.py: holds_the_sum" in person.run("lab", "show", "acme-labs").out
    assert "nobody is here to be asked" in person.run("lab", "accept", "acme-labs", code=2).err
    assert person.run("lab", "accept", "acme-labs", "--yes").out.splitlines()[-1].startswith("acme-labs is accepted at")
    assert person.run("start", "acme-labs/lab-first", "--dry-run").out.startswith("#")
    assert "has not changed" in person.run("lab", "update", "acme-labs").out
    (one,) = person.run("lab", "list", "--json").json()["collections"]
    assert one["kind"] == "git"
    assert len(one["commit"]) == 40
    assert one["accepted"]
    person.run("lab", "show", "acme-labs", "--json").json()
    person.run("list", "--json").json()
    assert person.run("lab", "remove", "acme-labs").code == 0
    assert "there are no collections" in person.run("lab", "list").out


@pytest.mark.parametrize("language", ["en", "ko"])
def test_an_evil_archive(person: Person, tmp_path: Path, language: str) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        info = tarfile.TarInfo("../../../../evil")
        tar.addfile(info)
    (tmp_path / "evil.tar.gz").write_bytes(data.getvalue())
    said = person.run("--lang", language, "lab", "add", str(tmp_path / "evil.tar.gz"), code=2)
    assert "../../../../evil" in said.err
    assert not [folder for folder in (person.home, *person.home.parents) if (folder / "evil").exists()]
    assert person.run("lab", "list", "--json").json()["collections"] == []


def test_an_evil_lab_is_told_with_its_place(person: Person, tmp_path: Path) -> None:
    lab = tmp_path / "evil" / "lab-evil"
    lab.mkdir(parents=True)
    text = (GOOD / "labs/lab-first/lab.md").read_text().replace("lab: lab-first", "lab: lab-evil")
    text = text.replace('"{{ note.data.answer }}"', "\"{{ 'a' * 10**9 }}\"")
    (lab / "lab.md").write_text(text)
    person.run("lab", "add", str(tmp_path / "evil"))
    said = person.run("lint", "evil/lab-evil", code=2)
    number = 1 + next(at for at, line in enumerate(text.splitlines()) if "10**9" in line)
    assert f"lab-evil/lab.md:{number}:16: " in said.out
    assert "'**' is not allowed here" in said.out
    assert "evil/lab-evil is left out" in person.run("list").err


def test_git_is_given_no_orders(person: Person, tmp_path: Path) -> None:
    for source in (f"ext::touch {tmp_path}/evil", "--upload-pack=x", "http://example.org/labs", "git://example.org/x"):
        assert person.run("lab", "add", "--", source, code=2).err.startswith("grader: ")
    assert not (tmp_path / "evil").exists()


def test_learn_from_a_collection(learner_with: object, repository: Path) -> None:
    assert callable(learner_with)
    learner: Person = learner_with("collector")
    learner.run("lab", "add", str(repository), "--name", "acme")
    learner.run("lab", "accept", "acme", "--yes")
    lab = "acme/lab-first"
    learner.run("start", lab, timeout=600)
    assert learner.run("check", lab, code=1).out.startswith(f"{lab}  A note in the cluster")
    assert "a lab of acme runs" in learner.run("lab", "remove", "acme", code=2).err
    learner.run("shell", lab, "--", "kubectl", "create", "configmap", "note", "--from-literal=answer=42")
    learner.run("shell", lab, "--", "sh", "-c", "echo 42 > answer.txt")
    done = learner.run("check", lab, "--json", code=0).json()
    assert [step["state"] for step in done["steps"]] == ["passed", "passed"]
    learner.run("stop", lab)
    (repository / "labs/lab-first/README.md").write_text("more")
    assert f"changed  {lab}" in learner.run("lab", "update", "acme").out
    assert learner.run("start", lab, code=2).err.startswith("grader: acme/lab-first is of the collection acme")
    learner.run("lab", "remove", "acme")
    assert lab in learner.run("report", "--csv").out
