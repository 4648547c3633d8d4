"""lint, verify, doctor, binaries: thin over their functions."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from cluster import doctor
from cluster.binaries import bundle, cache
from cluster.binaries.cache import Listing, ProgramRow
from cluster.doctor import Diagnosis, Finding, Verdict
from cluster.machine import BootEvent
from grader.lab import catalogue
from grader.verify import Part, PartOutcome, Phase, VerifyEvent, VerifyReport
from tests.unit.cli.conftest import CONTENT, LABS, Grader
from tests.unit.conftest import Golden

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.session.lifecycle import Programs
    from grader.verify import Plan
    from grader.verify.together import Listener

# -- lint ---------------------------------------------------------------------------------------------


@pytest.fixture
def bad_lab(tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(LABS / "lab-toy", tmp_path / "lab-toy"))
    text = (folder / "lab.md").read_text()
    (folder / "lab.md").write_text(text.replace("minutes: 10", "minuts: 10"))
    return folder


def test_mistakes_are_printed_with_their_place(grader: Grader, bad_lab: Path) -> None:
    ran = grader("lint", str(bad_lab))
    assert ran.code == 2
    assert any(line.startswith(f"{bad_lab}/lab.md:5:1: ") and "minuts" in line for line in ran.out.splitlines())


def test_mistakes_as_data(grader: Grader, bad_lab: Path) -> None:
    ran = grader("lint", "--json", str(bad_lab))
    document = json.loads(ran.out)
    assert (ran.code, document["schema"]) == (2, "batchlab/lint/v1")
    [lab] = document["labs"]
    assert lab["lab"] == "lab-toy"
    assert (f"{bad_lab}/lab.md", 5, 1) in [(one["file"], one["line"], one["column"]) for one in lab["problems"]]


def test_no_mistakes(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.lab.lint.lint_lab", lambda _folder: [])
    assert grader("lint").out == "no mistakes in lab-toy, content\n"
    assert grader("lint", "lab-toy").out == "no mistakes in lab-toy\n"
    assert grader("lint", "content").out == "no mistakes in content\n"


def test_an_authors_own_labs_come_without_our_articles(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.lab.lint.lint_lab", lambda _folder: [])
    monkeypatch.setenv("BATCHLAB_LABS", str(LABS))
    assert grader("lint").out == "no mistakes in lab-toy\n"
    assert json.loads(grader("lint", "--json").out)["content"] is None


def test_mistakes_of_articles(grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(CONTENT, tmp_path / "content"))
    course = folder / "courses" / "first-steps.yaml"
    course.write_text(course.read_text().replace("minutes: 5,", "minutes: 50,"))
    monkeypatch.setattr("grader.content.catalogue.content_dir", lambda: folder)
    ran = grader("lint", "content")
    assert (ran.code, ran.out) == (2, f"{course}:6:30: pods takes 5 minutes\n")
    document = json.loads(grader("lint", "content", "--json").out)
    problem = {"file": str(course), "line": 6, "column": 30, "message": "pods takes 5 minutes"}
    assert document == {
        "schema": "batchlab/lint/v1",
        "labs": [],
        "content": {"folder": str(folder), "problems": [problem]},
    }


def test_a_folder_that_is_none(grader: Grader) -> None:
    ran = grader("lint", "./no-such-folder")
    assert (ran.code, ran.err) == (2, "grader: no-such-folder is not a folder\n")


def test_the_forms_of_mistakes(grader: Grader, bad_lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bad_lab.parent)
    text = grader("lint", str(bad_lab)).out
    assert grader("lint", str(bad_lab), "--format", "text").out == text
    assert grader("lint", str(bad_lab), "--format", "json").out == grader("lint", str(bad_lab), "--json").out
    ran = grader("lint", str(bad_lab), "--format", "sarif")
    assert (ran.code, ran.err) == (2, "")
    [run] = json.loads(ran.out)["runs"]
    lines = text.splitlines()
    assert [result["message"]["text"] for result in run["results"]] == [
        line.split(": ", 1)[1] if ":1:1: " not in line else line.split(":1:1: ", 1)[1] for line in lines
    ]
    assert {result["ruleId"] for result in run["results"]} == {"front-matter"}
    assert "did you mean 'sarif'" in grader("lint", "--format", "sarf").err
    assert grader("lint", "--json", "--format", "sarif").code == 2


def test_one_broken_part_hides_nothing_of_the_others(grader: Grader, bad_lab: Path) -> None:
    """The front matter, a check block, the translation, a solution, a wrong answer: each is told."""
    for file, old, new in (
        ("lab.md", "  says: ", "  sais: "),
        ("lab.ko.md", "lab: lab-toy", "lab: lab-tot"),
        ("wrong/shout/case.yaml", "on: solved", "on: solve"),
        ("solution/02-bye.sh", "", "if\n"),
    ):
        path = bad_lab / file
        text = path.read_text()
        path.write_text(text.replace(old, new, 1) if old else text + new)
    told = {line.removeprefix(f"{bad_lab}/").split(":")[0] for line in grader("lint", str(bad_lab)).out.splitlines()}
    assert told == {"lab.md", "lab.ko.md", "wrong/shout/case.yaml", "solution/02-bye.sh"}
    rules = [
        one["ruleId"] for one in json.loads(grader("lint", str(bad_lab), "--format", "sarif").out)["runs"][0]["results"]
    ]
    assert {"front-matter", "check-block", "translation", "wrong-answer", "solution"} <= set(rules)


@pytest.mark.parametrize("head", ["---\nformat: [\n---\n", "---\nformat: 1\n", ""])
def test_front_matter_that_can_not_be_read_hides_no_check(grader: Grader, bad_lab: Path, head: str) -> None:
    text = (bad_lab / "lab.md").read_text()
    body = text.split("---\n", 2)[2].replace("  says: ", "  sais: ", 1)
    (bad_lab / "lab.md").write_text(head + body)
    assert "unknown key 'sais'" in grader("lint", str(bad_lab)).out


def test_a_lab_without_its_text_is_read_as_far_as_it_is_there(grader: Grader, bad_lab: Path) -> None:
    (bad_lab / "lab.md").unlink()
    (bad_lab / "wrong" / "shout" / "case.yaml").write_text("fails: 1\n")
    out = grader("lint", str(bad_lab)).out
    assert f"{bad_lab}/lab.md:1:1: is missing" in out
    assert f"{bad_lab}/wrong/shout/case.yaml:1:" in out


# -- new ----------------------------------------------------------------------------------------------


def test_a_new_lab_is_made_here_and_knows_what_comes_next(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BATCHLAB_LABS", raising=False)
    ran = grader("new", "lab-x", "--addon", "kueue", "--nodes", "1", "--title", "Mine")
    assert ran.code == 0
    assert "lab-x/lab.md" in ran.out.splitlines()
    assert all((tmp_path / line).is_file() for line in ran.out.splitlines())
    assert "grader verify lab-x " in ran.err
    assert f"BATCHLAB_LABS={tmp_path}" in ran.err
    assert 'title: "Mine"' in (tmp_path / "lab-x" / "lab.md").read_text()
    assert grader("lint", "lab-x").out == "no mistakes in lab-x\n"


def test_a_new_lab_goes_to_the_authors_folder_or_where_it_is_told(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BATCHLAB_LABS", str(tmp_path / "mine"))
    assert "BATCHLAB_LABS=" not in grader("new", "lab-x").err
    assert (tmp_path / "mine" / "lab-x" / "lab.md").is_file()
    ran = grader("new", "lab-x", "--to", str(tmp_path / "other"))
    assert f"grader verify {tmp_path}/other/lab-x " in ran.err


def test_a_new_lab_that_can_not_be(grader: Grader, tmp_path: Path) -> None:
    to = str(tmp_path)
    assert grader("new", "lab-x", "--to", to).code == 0
    ran = grader("new", "lab-x", "--to", to)
    assert (ran.code, ran.out) == (2, "")
    assert "is there already" in ran.err
    assert grader("new", "Lab", "--to", to).code == 2
    assert "did you mean 'kueue'" in grader("new", "lab-y", "--to", to, "--addon", "kueu").err
    assert grader("new").err.startswith("grader: LAB is missing")


# -- preview ------------------------------------------------------------------------------------------


def test_a_preview_without_a_terminal_is_printed_once(
    grader: Grader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("BATCHLAB_LABS", "")
    folder = Path(shutil.copytree(LABS / "lab-toy", tmp_path / "lab-toy"))
    ran = grader("preview", str(folder))
    assert (ran.code, ran.err) == (0, "")
    assert "A first pod" in ran.out
    assert "[hello-said]" in ran.out
    assert "Hint 1 of" in ran.out
    assert "no session of lab-toy" in ran.out
    (folder / "lab.md").write_text((folder / "lab.md").read_text().replace("minutes: 10", "minuts: 10"))
    ran = grader("preview", "--plain", str(folder))
    assert ran.code == 2
    assert f"{folder}/lab.md:5:1: unknown key 'minuts'" in ran.out
    assert grader("preview", str(tmp_path / "lab-none")).code == 2


def test_a_preview_on_a_terminal_is_the_applications(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def application(words: list[str]) -> int:
        asked.append(words)
        return 7

    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("grader.cli.preview.sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    monkeypatch.setattr("grader.cli.tui.application", application)
    assert grader("preview", "lab-toy").code == 7
    assert asked == [["--preview", "lab-toy"]]
    assert "did you mean 'lab-toy'" in grader("preview", "lab-tay").err


# -- verify -------------------------------------------------------------------------------------------


class PretendedLabs:
    """Stands in for `verify_labs`: every wrong answer turns out to pass, and the last lab ends first."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...], bool]] = []
        self.jobs = 0
        self.programs: Programs | None = None
        self.kept = ""
        self.keeps: list[bool] = []
        self.outcomes: dict[str, PartOutcome] = {}
        """Lab → how its one part ends, if it isn't a defect."""

    def __call__(
        self,
        plans: Mapping[str, Plan],
        jobs: int,
        programs: Programs,
        listener: Listener,
        on_bug: Callable[[Exception], None],
    ) -> list[VerifyReport]:
        self.asked = [(lab, tuple(case.name for case in plan.cases), plan.whole) for lab, plan in plans.items()]
        self.jobs, self.programs = jobs, programs
        self.keeps = [plan.keep for plan in plans.values()]
        assert callable(on_bug)
        reports = {lab: self._report(lab, plan.whole) for lab, plan in plans.items()}
        for lab in plans if jobs == 1 else reversed([*plans]):
            listener.told(lab, BootEvent(task="etcd", state="ready", seconds=0.5))
            listener.told(lab, BootEvent(task="recorder", state="note", seconds=0.6, detail="exit code 1; restarting"))
        for lab in plans if jobs == 1 else reversed([*plans]):
            for part in (None, *reports[lab].parts):
                listener.told(lab, VerifyEvent(phase=Phase.WRONG, name="shout", number=1, total=1, part=part))
            listener.ended(lab, reports[lab])
        return list(reports.values())

    def _report(self, lab: str, whole: bool) -> VerifyReport:
        outcome = self.outcomes.get(lab, PartOutcome.DEFECT)
        part = Part(
            phase=Phase.WRONG,
            name="shout",
            check="hello-said",
            says="in capitals",
            outcome=outcome,
            problems=("hello-said passes on this wrong answer",) if outcome is PartOutcome.DEFECT else (),
            fault="environment" if outcome is PartOutcome.ERROR else "",
            seconds=1.5,
        )
        return VerifyReport(
            lab=lab,
            title="A first pod",
            at=1_800_000_000.0,
            seconds=2.0,
            parts=(part,),
            whole=whole,
            resets=3,
            kept=self.kept,
        )


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PretendedLabs:
    labs = PretendedLabs()
    monkeypatch.setattr("grader.verify.together.verify_labs", labs)
    monkeypatch.setattr("grader.verify.room.jobs_for", lambda chosen, _host: len(chosen))
    monkeypatch.setattr("cluster.binaries.cache.ensure", lambda *_args: tmp_path)
    monkeypatch.setattr("time.monotonic", lambda: 1000.0)
    return labs


@pytest.fixture
def three_labs(grader: Grader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The toy lab under three names."""
    del grader
    names = ["lab-a", "lab-bc", "lab-toy"]
    for name in names:
        shutil.copytree(LABS / "lab-toy", tmp_path / "labs" / name)
        for path in (tmp_path / "labs" / name).glob("lab*.md"):
            path.write_text(path.read_text().replace("lab: lab-toy", f"lab: {name}"))
    monkeypatch.setattr(catalogue, "labs_dir", lambda: tmp_path / "labs")
    return names


def test_parts_are_told_as_they_end(grader: Grader, verified: PretendedLabs, golden: Golden, tmp_path: Path) -> None:
    ran = grader("verify", "--junit", str(tmp_path / "v.xml"))
    assert ran.code == 1
    assert ran.err == ("  0.5 s  etcd ready\ngrader: recorder: exit code 1; restarting\n[1/1] lab-toy: wrong shout …\n")
    golden("cli/verify.txt", ran.out)
    assert [lab for lab, _cases, _whole in verified.asked] == ["lab-toy"]
    assert verified.jobs == 1
    assert 'failures="1"' in (tmp_path / "v.xml").read_text()


def test_how_to_enter_a_lab_that_was_kept_is_told_beside_the_document(grader: Grader, verified: PretendedLabs) -> None:
    grader("verify", "lab-toy")
    assert verified.keeps == [False]
    verified.kept = "/state/verify/lab-toy"
    enter = "BATCHLAB_SESSIONS=/state/verify grader shell lab-toy\n"
    ran = grader("verify", "lab-toy", "--keep")
    assert verified.keeps == [True]
    assert enter in ran.out
    ran = grader("verify", "lab-toy", "--keep", "--json")
    assert json.loads(ran.out)["kept"] == "/state/verify/lab-toy"
    assert enter in ran.err


def test_labs_side_by_side_are_told_apart_and_reported_in_order(
    grader: Grader, verified: PretendedLabs, three_labs: list[str], golden: Golden, tmp_path: Path
) -> None:
    verified.outcomes = {"lab-a": PartOutcome.OK, "lab-bc": PartOutcome.ERROR}
    ran = grader("verify", "--all", "--junit", str(tmp_path / "v.xml"))
    assert ran.code == 3
    assert verified.jobs == 3
    assert ran.err == "".join(
        [f"grader: {lab}: recorder: exit code 1; restarting\n" for lab in three_labs[::-1]]
        + [f"[1/1] {lab}: wrong shout …\n" for lab in three_labs[::-1]]
    )
    golden("cli/verify-side-by-side.txt", ran.out)
    assert max(map(len, ran.out.splitlines())) <= 80
    suites = ET.parse(tmp_path / "v.xml").getroot().findall("testsuite")
    assert [suite.get("name") for suite in suites] == [f"{lab} wrong" for lab in three_labs]


def test_one_lab_after_the_other_is_told_as_one_alone_with_a_table_below(
    grader: Grader, verified: PretendedLabs, three_labs: list[str], golden: Golden
) -> None:
    ran = grader("verify", *three_labs, "--jobs", "1")
    assert (ran.code, verified.jobs) == (1, 1)
    golden("cli/verify-in-turn.txt", ran.out)


def test_documents_are_in_the_order_asked_for_whichever_lab_ends_first(
    grader: Grader, verified: PretendedLabs, three_labs: list[str]
) -> None:
    ran = grader("verify", "--json", "lab-toy", "lab-a", "lab-toy", "-j", "2")
    assert verified.jobs == 2
    decoder, documents, rest = json.JSONDecoder(), [], ran.out
    while rest:
        document, end = decoder.raw_decode(rest)
        documents.append(document)
        rest = rest[end:].lstrip()
    assert [document["lab"] for document in documents] == ["lab-toy", "lab-a"]
    assert three_labs[1] not in ran.out


def test_all_labs_are_read_before_one_is_proved(
    grader: Grader, verified: PretendedLabs, three_labs: list[str], tmp_path: Path
) -> None:
    next((tmp_path / "labs" / three_labs[2] / "solution").glob("*.sh")).unlink()
    assert grader("verify", "--all").code == 2
    assert verified.asked == []


@pytest.mark.parametrize("number", ["0", "-1", "65", "two"])
def test_a_number_of_jobs_is_a_small_whole_number(grader: Grader, number: str) -> None:
    ran = grader("verify", "--jobs", number)
    assert (ran.code, ran.out) == (2, "")
    assert "--jobs" in ran.err or "-j" in ran.err


def test_programs_of_verified_labs_are_found_once_and_passed_on(
    grader: Grader, verified: PretendedLabs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[object] = []

    def ensure(*args: object) -> Path:
        asked.append(args[:2])
        return tmp_path

    monkeypatch.setattr("cluster.binaries.cache.ensure", ensure)
    grader("verify", "lab-toy", "--bin-dir", "/mine")
    assert asked == [(Path("/mine"), None)]
    assert verified.programs is not None
    assert verified.programs.bin_dir == Path("/mine")


def test_one_wrong_answer_as_data(grader: Grader, verified: PretendedLabs) -> None:
    ran = grader("verify", "lab-toy", "--case", "shout", "--json")
    document = json.loads(ran.out)
    assert (document["schema"], document["whole"], ran.code) == ("batchlab/verify/v1", False, 1)
    assert verified.asked == [("lab-toy", ("shout",), False)]


def test_a_wrong_answer_belongs_to_one_lab(grader: Grader) -> None:
    ran = grader("verify", "lab-toy", "lab-other", "--case", "shout")
    assert ran.err == "grader: --case goes with one lab\n"


# -- doctor -------------------------------------------------------------------------------------------


def diagnosis(state: str) -> Diagnosis:
    return Diagnosis(
        findings=(
            Finding(name="mount", ok=True, detail="mount, umount"),
            Finding(name="iproute2", ok=False, detail="ip is missing", remedy="apt-get install -y iproute2"),
        ),
        verdicts=(
            Verdict(purpose="fake-nodes", state=state, blocked_by=("iproute2",)),  # type: ignore[arg-type]  # a word of it
            Verdict(purpose="real-node", state="needs-root"),
            Verdict(purpose="build", state="ready"),
        ),
        install="apt-get install -y iproute2",
    )


def test_what_a_machine_lacks(grader: Grader, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.setattr(doctor, "diagnose", lambda: diagnosis("not-ready"))
    ran = grader("doctor")
    assert ran.code == 3
    golden("cli/doctor.txt", ran.out)


def test_a_machine_that_needs_root_for_more_is_fine(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "diagnose", lambda: diagnosis("ready"))
    ran = grader("doctor", "--json")
    document = json.loads(ran.out)
    assert (ran.code, document["schema"]) == (0, "batchlab/doctor/v1")
    assert document["verdicts"][1] == {"purpose": "real-node", "state": "needs-root", "blocked_by": []}
    assert document["findings"][1]["remedy"] == document["install"] == "apt-get install -y iproute2"


# -- binaries -----------------------------------------------------------------------------------------


def listing(folder: Path | None) -> Listing:
    return Listing(
        lock="abc",
        folder=folder,
        built=1_800_000_000.0 if folder else None,
        go="go1.26.8" if folder else "",
        programs=(
            ProgramRow(name="etcd", version="v3.6.0", module="go.etcd.io/etcd", size=25_000_000 if folder else None),
            ProgramRow(name="kube-apiserver", version="v1.35.4", module="k8s.io/kubernetes", size=None),
        ),
        size=25_000_000 if folder else 0,
    )


def test_programs_are_listed(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "listing", lambda: listing(Path("/cache/bin/abc")))
    assert grader("binaries", "list").out == (
        "etcd            v3.6.0   25 MB\nkube-apiserver  v1.35.4  not built\n25 MB in /cache/bin/abc\n"
    )
    document = json.loads(grader("binaries", "list", "--json").out)
    assert (document["schema"], document["folder"]) == ("batchlab/binaries/v1", "/cache/bin/abc")
    assert [program["size"] for program in document["programs"]] == [25_000_000, None]


def test_nothing_is_built_yet(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "listing", lambda: listing(None))
    assert grader("binaries", "list").out.endswith("not built yet: grader binaries build\n")


def test_building_says_where_they_are(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def ensure(*args: object) -> Path:
        asked.extend(args[:2])
        return Path("/cache/bin/abc")

    monkeypatch.setattr(cache, "ensure", ensure)
    ran = grader("binaries", "build", "--from-bundle", "b.tar.gz")
    assert (ran.code, ran.out) == (0, "/cache/bin/abc\n")
    assert asked == [None, Path("b.tar.gz")]


def test_a_bundle_is_named_with_its_digest(grader: Grader, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cache, "ensure", lambda *_args: tmp_path)
    monkeypatch.setattr(
        bundle,
        "bundle",
        lambda out, folder, _progress: bundle.Bundle(path=out, size=150_000_000, sha256=f"of-{folder.name}", lock="a"),
    )
    ran = grader("binaries", "bundle", "out.tar.gz")
    assert ran.out == f"out.tar.gz  150 MB  sha256:of-{tmp_path.name}\n"
