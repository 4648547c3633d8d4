"""A learner does the first steps of lab-lws in ways of their own, well and badly, and asks for verdicts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.conftest import Learners
from tests.blackbox.person import Person
from tests.blackbox.waiting import Stream, stream_of

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(os.geteuid() != 0, reason="lab-lws has a real node, and that needs root"),
]

ANSWERS = Path(__file__).parent / "answers"
QUICK = 10.0
"""Seconds that a verdict on a file may take on a machine that does much else; alone it takes one."""
SELECTOR = "leaderworkerset.sigs.k8s.io/name=llm"
NAMES = """\
pod=llm-0 group=0 worker=0
pod=llm-0-1 group=0 worker=1
pod=llm-1 group=1 worker=0
pod=llm-1-1 group=1 worker=1
"""


class Lab:
    """lab-lws of a learner, running."""

    def __init__(self, person: Person) -> None:
        self.person = person
        session = self.status()
        self.work = Path(session["work"])
        self.folder = Path(session["folder"])

    def status(self) -> dict[str, Any]:
        (session,) = self.person.run("status", "--json").json()["sessions"]
        assert isinstance(session, dict)
        return session

    def shell(self, script: str, *, stdin: str = "", code: int | None = 0) -> str:
        """What a script says at the learner's place."""
        said = self.person.run("shell", "lab-lws", "--", "bash", "-euc", script, stdin=stdin, code=code)
        return said.out

    def forget(self) -> None:
        """Lose all that was achieved, so that the next verdict is a fresh one."""
        (self.folder / "progress.json").unlink(missing_ok=True)

    def verdict(self, step: str, check: str) -> tuple[str, str, int]:
        """(state, what was seen, exit code) of one check."""
        said = self.person.run("check", "lab-lws", "--step", step, "--json", code=None)
        document = said.json()
        assert said.code == document["exit_code"]
        (found,) = [one for part in document["steps"] for one in part["checks"] if one["id"] == check]
        assert step != "names" or said.seconds < QUICK, said
        return found["state"], (found["finding"] or {}).get("saw", ""), said.code


@pytest.fixture(scope="module")
def lab(learner_with: Learners) -> Lab:
    person = learner_with()
    said = person.run("start", "lab-lws", timeout=300)
    assert said.out.startswith("lab-lws is ready after ")
    assert "grader shell lab-lws" in said.out
    assert "kube-apiserver ready" in said.err, "how far it is goes to stderr"
    lab = Lab(person)
    lab.shell((ANSWERS / "anchors.sh").read_text(encoding="utf-8"))
    return lab


@pytest.fixture
def fresh(lab: Lab) -> Iterator[Lab]:
    """The lab with nothing achieved and no names.txt, before and after."""

    def clear() -> None:
        lab.forget()
        path = lab.work / "names.txt"
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)

    clear()
    yield lab
    clear()


class TestOtherCorrectWays:
    @pytest.mark.parametrize("way", sorted(path.name for path in ANSWERS.glob("*.sh")))
    def test_of_making_the_set(self, lab: Lab, way: str) -> None:
        lab.forget()
        lab.shell(f"kubectl delete lws llm; kubectl wait --for=delete pod -l {SELECTOR} --timeout=60s")
        lab.shell((ANSWERS / way).read_text(encoding="utf-8"))
        said = lab.person.run("check", "lab-lws", "--step", "groups")
        assert " PASS  1 groups" in said.out
        assert said.err == ""

    @pytest.mark.parametrize(
        "text",
        [
            NAMES,
            NAMES.replace("\n", "\r\n"),
            "\ufeff" + NAMES,
            NAMES.rstrip("\n"),
            "".join(f"\n{line}  \n\n" for line in reversed(NAMES.splitlines())),
            NAMES.replace(" ", "   "),
        ],
        ids=["plain", "crlf", "bom", "no-last-newline", "blank-lines-other-order", "wide"],
    )
    def test_of_writing_names(self, fresh: Lab, text: str) -> None:
        (fresh.work / "names.txt").write_bytes(text.encode())
        assert fresh.verdict("names", "names-match") == ("passed", "", 0)

    def test_of_writing_names_in_the_shell_of_the_lab(self, fresh: Lab) -> None:
        labels = "{.metadata.labels.leaderworkerset\\.sigs\\.k8s\\.io/"
        line = f"pod={{.metadata.name}} group={labels}group-index}} worker={labels}worker-index}}"
        each = f'{{range .items[*]}}{line}{{"\\n"}}{{end}}'
        fresh.shell(f"kubectl get pods -l {SELECTOR} -o jsonpath='{each}' | tee names.txt")
        assert (fresh.work / "names.txt").read_text() == NAMES
        assert fresh.verdict("names", "names-match")[0] == "passed"


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _ring(path: Path) -> None:
    other = path.with_name("other.txt")
    other.unlink(missing_ok=True)
    other.symlink_to(path.name)
    path.symlink_to(other.name)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 30)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made, _inside(path.parent):
        made.bind(path.name)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    """Socket names are short; the folder's is not."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _nothing(path: Path) -> None:
    """There is no such file to begin with."""


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (_nothing, "names.txt does not exist"),
    "empty": (lambda path: path.write_text(""), "names.txt is empty"),
    "only-blanks": (lambda path: path.write_text("\n \t\r\n"), "names.txt is empty"),
    "binary": (lambda path: path.write_bytes(b"\x7fELF\0\0\0"), "names.txt is a binary file, not text"),
    "folder": (lambda path: path.mkdir(), "names.txt is a folder, not a file"),
    "link-to-itself": (_loop, "names.txt is a link that leads to itself"),
    "ring-of-links": (_ring, "names.txt is a link that leads to itself"),
    "dangling-link": (lambda path: path.symlink_to("nothing"), "names.txt is a link to a file that does not exist"),
    "link-out": (lambda path: path.symlink_to("/etc/passwd"), "names.txt leads out of the work folder"),
    "1-gb": (_sparse, "names.txt is over 1 MiB: too large for an answer"),
    "utf-16": (lambda path: path.write_bytes(NAMES.encode("utf-16")), "names.txt is saved as UTF-16; save it as UTF-8"),
    "latin-1": (
        lambda path: path.write_bytes(NAMES.encode() + b"caf\xe9\n"),
        "names.txt is not UTF-8 text: line 5 holds the byte 0xe9; save it as UTF-8",
    ),
    "fifo": (os.mkfifo, "names.txt is not a plain file"),
    "socket": (_socket, "names.txt is not a plain file"),
    "device": (lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5)), "names.txt is not a plain file"),
    "other-case": (
        lambda path: path.with_name("Names.txt").write_text(NAMES),
        "names.txt does not exist (there is Names.txt)",
    ),
    "long-line": (lambda path: path.write_text("x" * 900_000), "line 1: no Pod has these values"),
    "many-lines": (lambda path: path.write_text("pod=llm-0\n" * 90_000), "line 1: no Pod has these values"),
    "escapes": (lambda path: path.write_text("\x1b]0;gotcha\x07\x1b[31mred\n"), "line 1: no Pod has these values"),
}


class TestBrokenFiles:
    @pytest.mark.parametrize("how", BROKEN)
    def test_gets_a_clear_line_and_never_passes(self, fresh: Lab, how: str) -> None:
        make, message = BROKEN[how]
        make(fresh.work / "names.txt")
        state, saw, code = fresh.verdict("names", "names-match")
        assert (state, code) == ("failed", 1)
        assert message in saw
        assert len(saw) < 1000, "a verdict is read by a person"
        page = fresh.person.run("check", "lab-lws", "--step", "names", code=1)
        assert " FAIL  2 names" in page.out
        assert "\x1b" not in page.out, "nothing of a file reaches the terminal as it is"
        assert "\x07" not in page.out
        for name in ("Names.txt", "other.txt"):
            (fresh.work / name).unlink(missing_ok=True)

    def test_without_permission_is_read_or_said(self, fresh: Lab) -> None:
        path = fresh.work / "names.txt"
        path.write_text(NAMES)
        path.chmod(0)
        state, saw, code = fresh.verdict("names", "names-match")
        # The examiner of a lab with a real node is root, for whom permissions are no obstacle.
        assert (state, code) == ("passed", 0) or (state, code, "permission denied" in saw) == ("failed", 1, True)

    def test_without_a_work_folder(self, fresh: Lab) -> None:
        aside = fresh.work.with_name("work-aside")
        fresh.work.rename(aside)
        try:
            assert fresh.verdict("names", "names-match") == ("failed", "names.txt does not exist", 1)
        finally:
            aside.rename(fresh.work)

    @pytest.mark.parametrize(
        "text",
        [
            NAMES.replace("worker=1", "worker=2"),
            NAMES.replace("group=1 ", "group=2 "),
            "".join(NAMES.splitlines(keepends=True)[:3]),
            NAMES + NAMES.splitlines(keepends=True)[0],
            NAMES + "pod=other-0 group=0 worker=0\n",
        ],
        ids=["other-worker", "other-group", "one-missing", "one-twice", "one-too-many"],
    )
    def test_wrong_answer_fails_and_says_where(self, fresh: Lab, text: str) -> None:
        (fresh.work / "names.txt").write_text(text)
        said = fresh.person.run("check", "lab-lws", "--step", "names", "--json", code=1)
        (check,) = said.json()["steps"][0]["checks"]
        assert check["state"] == "failed"
        assert check["finding"]["wanted"]
        assert any(where.startswith("names.txt") for where in check["finding"]["where"])
        assert not {line for line in NAMES.splitlines() if line in check["finding"]["saw"] and line not in text}, (
            "a verdict never tells the answer"
        )


class TestDocuments:
    def test_whole_lab_as_json(self, lab: Lab) -> None:
        said = lab.person.run("check", "lab-lws", "--json", code=1, timeout=300)
        document = said.json()
        assert (document["lab"], document["whole_lab"], document["language"]) == ("lab-lws", True, "en")
        assert [step["number"] for step in document["steps"]] == list(range(1, 9))
        assert document["totals"]["steps"]["total"] == 8

    def test_korean_as_json_has_the_same_ids(self, lab: Lab) -> None:
        english, korean = (
            lab.person.run("--lang", lang, "check", "lab-lws", "--step", "env", "--json", code=1).json()
            for lang in ("en", "ko")
        )
        assert korean["language"] == "ko"
        ids = [[check["id"] for check in one["steps"][0]["checks"]] for one in (english, korean)]
        assert ids[0] == ids[1]
        assert korean["steps"][0]["checks"][0]["says"] != english["steps"][0]["checks"][0]["says"]
        assert korean["steps"][0]["checks"][0]["finding"] != english["steps"][0]["checks"][0]["finding"]

    def test_junit(self, fresh: Lab) -> None:
        said = fresh.person.run("check", "lab-lws", "--step", "names", "--junit", "out.xml", code=1)
        assert " FAIL  2 names" in said.out
        suites = ET.parse(fresh.person.home / "out.xml").getroot()
        cases = suites.findall(".//testcase")
        assert [case.get("name") for case in cases] == ["names-match"]
        failure = cases[0].find("failure")
        assert failure is not None
        assert "names.txt does not exist" in (failure.get("message") or "") + (failure.text or "")
        assert suites.get("failures") == "1"

    def test_junit_into_a_folder_that_is_not_there(self, lab: Lab) -> None:
        said = lab.person.run("check", "lab-lws", "--step", "names", "--junit", "no/out.xml", code=2)
        assert "no/out.xml" in said.err

    def test_junit_from_the_shell_of_the_lab(self, fresh: Lab) -> None:
        fresh.shell("grader check --step names --junit report.xml || true; test -s report.xml")
        assert ET.parse(fresh.work / "report.xml").getroot().get("failures") == "1"

    def test_report_counts_attempts(self, lab: Lab) -> None:
        def told() -> dict[str, Any]:
            labs: list[dict[str, Any]] = lab.person.run("report", "--json").json()["labs"]
            return next(one for one in labs if one["lab"] == "lab-lws")

        before = told()
        lab.person.run("check", "lab-lws", "--step", "names", code=None)
        assert told()["attempts"] == before["attempts"] + 1
        assert told()["state"] == "begun"


class TestRecord:
    def test_a_report_tells_what_was_checked_and_shows_who_changes_it(self, fresh: Lab, tmp_path: Path) -> None:
        person = fresh.person
        person.run("check", "lab-lws", "--step", "names", code=1)
        fresh.shell("grader check --step names || true; grader hint names")
        file = tmp_path / "kim.json"
        person.run("report", "--name", "Kim", "--export", str(file))
        assert f"{file}: intact, the report of Kim (" in person.run("report", "verify", str(file)).out
        document = json.loads(file.read_text())
        (lab,) = [one for one in document["labs"] if one["lab"] == "lab-lws"]
        told = [entry["what"] for entry in lab["record"]["entries"]]
        assert (told[0], told[-3:]) == ("start", ["check", "check", "hint"])
        lab["record"]["entries"][-3]["steps"] = {"names": {"names-match": "passed"}}
        file.write_text(json.dumps(document))
        assert f"entry {len(told) - 3}: was changed" in person.run("report", "verify", str(file), code=1).out
        assert "learners: 0" in person.run("class", str(tmp_path)).out

    def test_no_shell_of_the_lab_shows_the_key(self, lab: Lab) -> None:
        assert [*lab.person.state.rglob("record.key")] != [] != [*lab.person.state.glob("learner.key")]
        assert lab.shell("find / -name record.key -o -name learner.key 2> /dev/null || true") == ""


class TestWatch:
    def test_sees_a_change_and_ends_when_all_passed(self, fresh: Lab) -> None:
        watching = fresh.person.begin("check", "lab-lws", "--step", "names", "--watch")
        stream = stream_of(watching)
        stream.read_until("names.txt does not exist")
        (fresh.work / "names.txt").write_text("pod=llm-0\n")
        stream.read_until("line 1: no Pod has these values")
        (fresh.work / "names.txt").write_text(NAMES)
        stream.read_until(" PASS  2 names")
        fresh.person.finish(watching, "check", "--watch")

    def test_on_a_terminal_ends_by_ctrl_c(self, fresh: Lab) -> None:
        with fresh.person.terminal("check", "lab-lws", "--step", "names", "--watch") as (watching, ours):
            stream = Stream(ours)
            stream.read_until("names.txt does not exist")
            os.write(ours, b"\x03")
            assert watching.wait(timeout=30) == 130
            assert "Traceback" not in stream.text

    def test_of_one_that_hangs_up_ends_too(self, fresh: Lab) -> None:
        watching = fresh.person.begin("check", "lab-lws", "--step", "names", "--watch")
        stream_of(watching).read_until("names.txt does not exist")
        watching.send_signal(signal.SIGTERM)
        fresh.person.finish(watching, "check", "--watch", code=143)

    def test_as_json_is_a_document_a_line(self, fresh: Lab) -> None:
        watching = fresh.person.begin("check", "lab-lws", "--step", "names", "--watch", "--json")
        stream = stream_of(watching)
        first = json.loads(stream.read_until("\n"))
        assert first["schema"] == "batchlab/check/v1"
        assert "names.txt does not exist" in json.dumps(first)
        (fresh.work / "names.txt").write_text(NAMES)
        fresh.person.finish(watching, "check", "--watch", "--json")

    def test_writes_no_file(self, lab: Lab) -> None:
        assert "--junit" in lab.person.run("check", "lab-lws", "--watch", "--junit", "x.xml", code=2).err


class TestShellOfTheLab:
    def test_knows_where_it_is(self, lab: Lab) -> None:
        said = lab.shell("pwd; kubectl config view --minify -o jsonpath='{..namespace}'; echo; type -P kubectl grader")
        place, namespace, *programs = said.splitlines()
        assert place.endswith("/gsb-lws")
        assert namespace == "infer"
        assert len(programs) == 2

    def test_checks_without_the_name_of_the_lab(self, fresh: Lab) -> None:
        (fresh.work / "names.txt").write_text(NAMES)
        assert " PASS  2 names" in fresh.shell("grader check --step names")
        assert "lab-lws" in fresh.shell("grader status")

    def test_passes_exit_codes_on(self, fresh: Lab) -> None:
        assert fresh.shell("set +e; grader check --step names > /dev/null; echo $?") == "1\n"
        assert fresh.shell("exit 7", code=7) == ""

    def test_refuses_what_changes_the_lab(self, lab: Lab) -> None:
        said = lab.person.run("shell", "lab-lws", "--", "grader", "stop", code=2)
        assert "does not run inside a lab" in said.err
        assert "exit" in said.err

    def test_closed_and_full_streams(self, lab: Lab) -> None:
        line = "set +e; grader list >&-; echo $?; grader list > /dev/full; echo $?"
        said = lab.person.run("shell", "lab-lws", "--", "bash", "-c", line)
        assert said.out == "0\n3\n"
        assert "No space left on device" in said.err

    def test_takes_its_script_from_a_pipe(self, lab: Lab) -> None:
        said = lab.person.run("shell", "lab-lws", "--", "bash", "-s", stdin="echo one; echo two >&2; exit 3", code=3)
        assert (said.out, said.err) == ("one\n", "two\n")

    def test_interactive_has_a_prompt_alias_and_completion(self, lab: Lab) -> None:
        with lab.person.terminal("shell", "lab-lws") as (shell, ours):
            stream = Stream(ours)
            prompt = "(lab-lws) ~/gsb-lws # "
            stream.read_until(prompt)
            os.write(ours, b"k get ns infer -o name\n")
            stream.read_until("namespace/infer\r\n")
            stream.read_until(prompt)
            os.write(ours, b"grader sta\t\t")
            stream.read_until("status")
            os.write(ours, b"\x15k get lws l\t")
            stream.read_until("llm ")
            os.write(ours, b"\x15exit 5\n")
            assert shell.wait(timeout=30) == 5


class TestBesides:
    def test_a_second_start_leaves_it_as_it_is(self, lab: Lab) -> None:
        before = lab.status()
        said = lab.person.run("start", "lab-lws")
        assert said.out.startswith("lab-lws is already running\n")
        assert lab.status()["pid"] == before["pid"]

    def test_where_the_time_of_its_start_went(self, lab: Lab) -> None:
        started = lab.person.run("start", "lab-lws", "--json").json()
        assert (started["lab"], started["already"]) == ("lab-lws", True)
        took = started["timings"]
        assert [part["part"] for part in took["parts"]] == ["python", "lab", "session"]
        boot = took["boot"]
        tasks = {task["task"]: task for task in boot["tasks"]}
        assert (tasks["etcd"]["kind"], tasks["etcd"]["wave"]) == ("program", 1)
        assert (tasks["lws-definitions"]["kind"], tasks["start-manifests"]["objects"]) == ("step", 1)
        assert tasks["lws-definitions"]["objects"] > 1
        assert [leg["task"] for leg in boot["critical_path"]][-1] == "READY"
        legs = sum(leg["seconds"] for leg in boot["critical_path"])
        assert legs == pytest.approx(boot["seconds"], abs=0.01), "rounded each for itself"

    def test_status(self, lab: Lab) -> None:
        session = lab.status()
        assert (session["lab"], session["state"]) == ("lab-lws", "running")
        assert {node["name"]: (node["real"], node["gpus"], node["ready"]) for node in session["nodes"]} == {
            "lab": (True, 4, True),
            "gpu-a": (False, 4, True),
            "gpu-b": (False, 4, True),
        }
        components = {component["name"]: component for component in session["components"]}
        assert {"etcd", "kube-apiserver", "kubelet", "containerd", "recorder", "examiner"} <= set(components)
        assert {component["state"] for component in components.values()} == {"running"}
        page = lab.person.run("status").out
        assert all(name in page for name in components)

    def test_hints_one_more_each_time(self, lab: Lab) -> None:
        first, second = lab.person.run("hint", "lab-lws", "dns").out, lab.person.run("hint", "lab-lws", "dns").out
        assert first.startswith("hint 1 of 2\n")
        assert second.startswith(first.partition("\n\n")[0])
        assert "hint 2 of 2\n" in second
        assert "hint 2 of 2\n" not in first

    def test_list_counts_what_passed(self, fresh: Lab) -> None:
        (fresh.work / "names.txt").write_text(NAMES)
        fresh.person.run("check", "lab-lws", "--step", "names")
        labs = {lab["id"]: lab for lab in fresh.person.run("list", "--json").json()["labs"]}
        assert [step["passed"] for step in labs["lab-lws"]["steps"] if step["id"] == "names"] == [True]

    def test_a_step_that_is_none(self, lab: Lab) -> None:
        said = lab.person.run("check", "lab-lws", "--step", "nmes", code=2)
        assert "did you mean 'names'?" in said.err

    def test_what_a_step_achieved_stays(self, fresh: Lab) -> None:
        (fresh.work / "names.txt").write_text(NAMES)
        assert fresh.verdict("names", "names-match")[0] == "passed"
        (fresh.work / "names.txt").unlink()
        assert fresh.verdict("names", "names-match") == ("passed", "", 0)

    @pytest.mark.parametrize("damage", ["{", "", '{"schema": 1, "achievements": []}', "\0" * 100])
    def test_damaged_progress_is_kept_aside_and_named(self, fresh: Lab, damage: str) -> None:
        before = {*fresh.folder.glob("progress.json.damaged-*")}
        (fresh.folder / "progress.json").write_text(damage)
        said = fresh.person.run("check", "lab-lws", "--step", "names", code=1)
        (kept,) = {*fresh.folder.glob("progress.json.damaged-*")} - before
        assert kept.name in said.err
        assert kept.read_text() == damage

    def test_damaged_session_is_kept_aside_and_named(self, lab: Lab) -> None:
        before = {*lab.folder.glob("session.json.damaged-*")}
        (lab.folder / "session.json").write_text("{]")
        said = lab.person.run("status")
        (kept,) = {*lab.folder.glob("session.json.damaged-*")} - before
        assert kept.name in said.err
        assert "running" in said.out
        assert lab.person.run("status").err == "", "it is said once"

    @pytest.mark.parametrize("damage", ["{", "{}", "[]"])
    def test_a_machine_of_another_version_is_told(self, lab: Lab, damage: str) -> None:
        path = lab.folder / "machine.json"
        right = path.read_text()
        path.write_text(damage)
        try:
            said = lab.person.run("shell", "lab-lws", code=3)
            assert "machine.json is damaged, or another version of Batchlab wrote it" in said.err
            assert "stop the lab and start it again" in said.err
            assert lab.person.run("check", "lab-lws", "--step", "names", code=3).out == ""
        finally:
            path.write_text(right)
