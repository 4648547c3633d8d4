"""lint, verify, doctor, binaries: thin over their functions."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cluster import doctor
from cluster.binaries import bundle, cache
from cluster.binaries.cache import Listing, ProgramRow
from cluster.doctor import Diagnosis, Finding, Verdict
from grader.verify import Part, PartOutcome, Phase, VerifyEvent, VerifyReport
from tests.unit.cli.conftest import CONTENT, LABS, Grader
from tests.unit.conftest import Golden

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


# -- verify -------------------------------------------------------------------------------------------


class PretendedDriver:
    def __init__(self, lab: object, on_event: object, programs: object) -> None:
        del lab, on_event, programs

    def __enter__(self) -> PretendedDriver:
        return self

    def __exit__(self, *_exc: object) -> None:
        """Nothing to end."""


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...] | None]]:
    """What was verified; every wrong answer turns out to pass."""
    asked: list[tuple[str, tuple[str, ...] | None]] = []
    part = Part(
        phase=Phase.WRONG,
        name="shout",
        check="hello-said",
        says="in capitals",
        outcome=PartOutcome.DEFECT,
        problems=("hello-said passes on this wrong answer",),
        seconds=1.5,
    )

    def verify_lab(lab: str, _driver: object, on_event: object, only: tuple[str, ...] | None) -> VerifyReport:
        asked.append((lab, only))
        assert callable(on_event)
        on_event(VerifyEvent(phase=Phase.WRONG, name="shout", number=1, total=1))
        on_event(VerifyEvent(phase=Phase.WRONG, name="shout", number=1, total=1, part=part))
        return VerifyReport(
            lab=lab, title="A first pod", at=1_800_000_000.0, seconds=2.0, parts=(part,), whole=only is None
        )

    monkeypatch.setattr("grader.verify.verify_lab", verify_lab)
    monkeypatch.setattr("grader.verify.driver.SessionDriver", PretendedDriver)
    return asked


def test_parts_are_told_as_they_end(
    grader: Grader, verified: list[tuple[str, tuple[str, ...] | None]], golden: Golden, tmp_path: Path
) -> None:
    ran = grader("verify", "--junit", str(tmp_path / "v.xml"))
    assert ran.code == 1
    assert ran.err == "[1/1] lab-toy: wrong shout …\n"
    golden("cli/verify.txt", ran.out)
    assert verified == [("lab-toy", None)]
    assert 'failures="1"' in (tmp_path / "v.xml").read_text()


def test_one_wrong_answer_as_data(grader: Grader, verified: list[tuple[str, tuple[str, ...] | None]]) -> None:
    ran = grader("verify", "lab-toy", "--case", "shout", "--json")
    document = json.loads(ran.out)
    assert (document["schema"], document["whole"], ran.code) == ("batchlab/verify/v1", False, 1)
    assert verified == [("lab-toy", ("shout",))]


def test_a_wrong_answer_belongs_to_one_lab(grader: Grader) -> None:
    assert grader("verify", "lab-toy", "lab-toy", "--case", "shout").err == "grader: --case goes with one lab\n"


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
