"""An instructor's way, from nothing to a lab that is proved, with the installed program."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.blackbox.conftest import Learners
from tests.blackbox.person import Person


@pytest.fixture
def mine(person: Person) -> Path:
    """The folder of this person's own labs."""
    folder = person.home / "my-labs"
    person.more["BATCHLAB_LABS"] = str(folder)
    return folder


class TestNew:
    def test_is_found_at_once_and_has_no_mistakes(self, person: Person, mine: Path) -> None:
        said = person.run("new", "lab-x", "--addon", "jobset,lws,kueue", "--title", "One: two")
        assert sorted(said.out.splitlines()) == sorted(str(p) for p in (mine / "lab-x").rglob("*") if p.is_file())
        assert person.run("lint", "lab-x").out == "no mistakes in lab-x\n"
        assert "One: two" in person.run("list").out
        assert re.search("[가-힣]", person.run("--lang", "ko", "show", "lab-x", "1").out)

    def test_is_refused_where_it_can_not_be(self, person: Person, mine: Path) -> None:
        person.run("new", "lab-x")
        before = {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()}
        assert "is there already" in person.run("new", "lab-x", code=2).err
        assert "lower-case letters" in person.run("new", "Lab X", code=2).err
        assert "did you mean 'kueue'" in person.run("new", "lab-y", "--addon", "kueu", code=2).err
        assert {path: path.read_bytes() for path in mine.rglob("*") if path.is_file()} == before


class TestLint:
    def test_sarif_leads_to_the_lines(self, person: Person, mine: Path) -> None:
        person.run("new", "lab-x")
        text = mine / "lab-x" / "lab.md"
        text.write_text(text.read_text().replace("  within: 20", "  witin: 20"))
        said = person.run("lint", "lab-x", "--format", "sarif", code=2)
        (run,) = json.loads(said.out)["runs"]
        (result,) = run["results"]
        place = result["locations"][0]["physicalLocation"]
        base = run["originalUriBaseIds"][place["artifactLocation"]["uriBaseId"]]["uri"]
        file = Path(base.removeprefix("file://")) / place["artifactLocation"]["uri"]
        assert file == text
        line = text.read_text().splitlines()[place["region"]["startLine"] - 1]
        assert line[place["region"]["startColumn"] - 1 :].startswith("witin: 20")
        assert result["ruleId"] == "check-block"

    def test_a_command_that_no_text_mentions(self, person: Person, mine: Path) -> None:
        person.run("new", "lab-x")
        script = mine / "lab-x" / "solution" / "01-run.sh"
        script.write_text(script.read_text() + "kubectl cordon gpu-a\n")
        said = person.run("lint", "lab-x", code=2)
        assert f"{script}:" in said.out
        assert "`kubectl cordon`" in said.out
        (mine / "lab-x" / "exceptions.yaml").write_text(
            "commands:\n  - {step: run, uses: kubectl cordon, because: tried out}\n"
        )
        assert person.run("lint", "lab-x").out == "no mistakes in lab-x\n"


class TestPreview:
    @pytest.mark.usefixtures("mine")
    def test_plain(self, person: Person) -> None:
        person.run("new", "lab-x")
        said = person.run("preview", "lab-x")
        assert "Hint 2 of 2" in said.out
        assert "where.txt: node = {{ pod.spec.nodeName }}" in said.out
        assert "파드를 띄운다" in person.run("--lang", "ko", "preview", "--plain", "lab-x").out
        assert person.run("preview", "lab-y", code=2).err.startswith("grader: no lab 'lab-y'")


@pytest.fixture
def learner(learner_with: Learners, tmp_path: Path) -> Person:
    """Somebody with the programs of a cluster and labs of their own."""
    person = learner_with("author")
    person.more["BATCHLAB_LABS"] = str(tmp_path / "labs")
    return person


@pytest.mark.cluster
@pytest.mark.skipif(os.geteuid() != 0, reason="as the other tests on clusters")
class TestVerify:
    def test_a_new_lab_is_proved(self, learner: Person) -> None:
        learner.run("new", "lab-x", "--addon", "jobset,lws,kueue")
        document = learner.run("verify", "lab-x", "--json", timeout=900).json()
        assert {part["outcome"] for part in document["parts"]} == {"ok"}
        assert (document["unproven"], document["kept"]) == ([], "")

    def test_what_is_wrong_with_the_text_is_found(self, learner: Person, tmp_path: Path) -> None:
        """The phase of the pod becomes an answer, which the introduction tells; the solution uses what no text says."""
        learner.run("new", "lab-x")
        lab = tmp_path / "labs" / "lab-x"
        text = (lab / "lab.md").read_text()
        node = '      node: "{{ pod.spec.nodeName }}"\n'
        assert node in text
        (lab / "lab.md").write_text(text.replace(node, node + '      phase: "{{ pod.status.phase }}"\n'))
        where = lab / "solution" / "02-where.sh"
        where.write_text(where.read_text() + "echo phase=Running >> where.txt\nkubectl top nodes || true\n")
        document = learner.run("verify", "lab-x", "--json", code=1, timeout=900).json()
        found = {part["phase"]: part["problems"] for part in document["parts"] if part["outcome"] != "ok"}
        assert list(found) == ["text", "answers"]
        (command,) = found["text"]
        assert re.search(r"/02-where\.sh:\d+:1: uses `kubectl top nodes`, which lab\.md, lab\.ko\.md never", command)
        assert {re.sub(r"^.*/(lab(\.ko)?\.md):\d+:\d+: ", r"\1: ", problem) for problem in found["answers"]} == {
            "lab.md: tells the answer of where-answer: Running",
            "lab.ko.md: tells the answer of where-answer: Running",
        }

    def test_a_lab_whose_proof_fails_is_kept_to_be_looked_at(self, learner: Person, tmp_path: Path) -> None:
        learner.run("new", "lab-x", "--nodes", "1")
        text = tmp_path / "labs" / "lab-x" / "lab.md"
        # A check that passes untouched: it looks at what is there from the start.
        changed = re.sub(r"  after: \[pod-file\].*\n", "", text.read_text())
        text.write_text(
            changed.replace(
                "    of: {kind: Pod, name: hello}\n    match: {status: {phase: Running}}",
                "    of: {kind: Namespace, name: x}",
            )
        )
        said = learner.run("verify", "lab-x", "--keep", code=1, timeout=600)
        assert "pod-runs passes although nothing has been done" in said.out
        enter = re.search(r"BATCHLAB_SESSIONS=(\S+) grader shell lab-x", said.out)
        remove = re.search(r"BATCHLAB_SESSIONS=\S+ grader stop lab-x && (rm -r \S+)", said.out)
        assert enter is not None
        assert remove is not None
        kept = {"BATCHLAB_SESSIONS": enter[1]}
        try:
            pods = learner.run("shell", "lab-x", "--", "kubectl", "get", "resourcequota", "-o", "name", env=kept)
            assert pods.out == "resourcequota/gpus\n"
            explained = learner.run("check", "lab-x", "--explain", code=1, env=kept).out
            assert re.search(r"PASS +pod-runs\n +read +Namespace x: 1, now, resourceVersion \d+", explained)
        finally:
            learner.run("stop", "lab-x", env=kept)
        subprocess.run(remove[1], shell=True, check=True)
        assert not Path(enter[1], "lab-x").exists()
