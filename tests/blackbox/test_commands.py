"""Every command as far as it goes without a cluster."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.blackbox.person import Person, Said

HANGUL = re.compile("[가-힣]")
COMMANDS = (
    *(
        "list",
        "lab",
        "course",
        "read",
        "show",
        "start",
        "shell",
        "check",
        "hint",
        "status",
        "reset",
        "stop",
        "fail",
        "complete",
        "report",
        "class",
    ),
    *("new", "preview", "lint", "verify", "doctor", "binaries", "completion"),
)
STEPS = ("groups", "names", "env", "dns", "restart", "rollout", "wide", "orphan")


def refused(said: Said) -> str:
    """The first line of a refusal, without who says it."""
    first, *_rest = said.err.splitlines()
    assert first.startswith("grader: "), said
    return first.removeprefix("grader: ")


class TestHelp:
    @staticmethod
    def named(page: str) -> set[str]:
        """The commands that a help page lists."""
        return set(re.findall(r"^  ([a-z]+)  +[A-Z]", page, re.MULTILINE))

    def test_names_every_command(self, person: Person) -> None:
        page = person.run("--help").out
        assert set(COMMANDS) <= self.named(page)
        assert max(len(line) for line in page.splitlines()) <= 80

    @pytest.mark.parametrize("command", [*COMMANDS, "binaries build", "binaries list", "binaries bundle"])
    @pytest.mark.parametrize("language", ["en", "ko"])
    def test_of_a_command(self, person: Person, command: str, language: str) -> None:
        said = person.run("--lang", language, *command.split(), "--help")
        assert f"grader {command}" in said.out.splitlines()[0]
        assert "--help" in said.out
        assert said.err == ""
        assert bool(HANGUL.search(said.out)) == (language == "ko")

    def test_of_any_other_command_that_is_named(self, person: Person) -> None:
        for command in self.named(person.run("--help").out) - {*COMMANDS}:
            assert f"grader {command}" in person.run(command, "--help").out.splitlines()[0]

    def test_without_a_command_is_help_and_wrong_usage(self, person: Person) -> None:
        said = person.run(code=2)
        assert said.err.rstrip() == person.run("-h").out.rstrip()


class TestLabs:
    def test_list(self, person: Person) -> None:
        assert re.search(
            r"^lab-lws +0 of 8 +45 min +One group, one fate: LeaderWorkerSet$", person.run("list").out, re.M
        )

    def test_list_as_json(self, person: Person) -> None:
        document = person.run("list", "--json").json()
        assert document["schema"] == "batchlab/list/v1"
        (lab,) = [lab for lab in document["labs"] if lab["id"] == "lab-lws"]
        assert (lab["minutes"], lab["needs_root"], lab["after"]) == (45, True, ["lab-jobset"])
        assert tuple(step["id"] for step in lab["steps"]) == STEPS
        assert not any(step["passed"] for step in lab["steps"])

    def test_show(self, person: Person) -> None:
        page = person.run("show", "lab-lws").out
        assert page.startswith("# One group, one fate: LeaderWorkerSet\n")
        assert all(f"(`{step}`)" in page for step in STEPS)

    def test_show_as_json(self, person: Person) -> None:
        document = person.run("show", "lab-lws", "--json").json()
        assert document["schema"] == "batchlab/show/v1"

    def test_show_never_tells_the_answer_or_the_rules(self, person: Person) -> None:
        for step in STEPS:
            page = person.run("show", "lab-lws", step).out
            assert "yaml check" not in page
            assert "::: hint" not in page

    @pytest.mark.parametrize("step", ["2", "names"])
    def test_a_step_by_number_or_id(self, person: Person, step: str) -> None:
        assert "Write `names.txt`" in person.run("show", "lab-lws", step).out

    def test_a_hint_without_a_session(self, person: Person) -> None:
        said = person.run("hint", "lab-lws", "names")
        assert said.out.startswith("hint 1 of 2\n")
        assert person.run("hint", "lab-lws", "names").out == said.out, "nothing counts before the lab is started"

    def test_lint(self, person: Person) -> None:
        assert "no mistakes" in person.run("lint", "lab-lws").out
        (lab,) = person.run("lint", "lab-lws", "--json").json()["labs"]
        assert (lab["lab"], lab["problems"]) == ("lab-lws", [])

    def test_lint_finds_nothing_in_all_that_came_along(self, person: Person) -> None:
        document = person.run("lint", "--json").json()
        assert [lab["problems"] for lab in document["labs"]] == [[] for _lab in document["labs"]]

    def test_lint_tells_file_line_and_column(self, person: Person, tmp_path: Path) -> None:
        folder = tmp_path / "lab-mine"
        folder.mkdir()
        (folder / "lab.md").write_text("---\nformat: 1\nlab: lab-mine\ntitel: Mine\n---\n", encoding="utf-8")
        said = person.run("lint", str(folder), code=2)
        assert f"{folder / 'lab.md'}:4:1: " in said.out
        assert "title" in said.out, "the near name of the misspelt key"
        document = person.run("lint", str(folder), "--json", code=2).json()
        assert {"file", "line", "column", "message"} == set(document["labs"][0]["problems"][0])

    def test_lint_does_not_mind_where_it_is_called(self, person: Person, tmp_path: Path) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        line = 'cd "$1" && rmdir "$1" && exec "$2" lint lab-lws'
        inside = ("bash", "-c", line, "-", str(gone), str(person.program))
        done = subprocess.run(inside, capture_output=True, text=True, env=person.environment(), check=False)
        assert (done.returncode, done.stderr) == (0, ""), done


class TestMachine:
    def test_doctor_as_json(self, person: Person) -> None:
        said = person.run("doctor", "--json", code=None)
        document = said.json()
        assert document["schema"] == "batchlab/doctor/v1"
        states = {verdict["purpose"]: verdict["state"] for verdict in document["verdicts"]}
        assert set(states) == {"fake-nodes", "real-node", "build"}
        bad = "not-ready" in (states["fake-nodes"], states["real-node"])
        assert said.code == (3 if bad else 0), said
        findings = {finding["name"]: finding for finding in document["findings"]}
        assert findings["binaries"]["detail"].startswith("not made yet"), "the cache of this home is empty"
        assert all(finding["ok"] or finding["detail"] for finding in findings.values())

    def test_doctor_names_what_is_missing_and_one_command(self, person: Person, tmp_path: Path) -> None:
        (tmp_path / "bin").mkdir()
        said = person.run("doctor", "--json", code=3, env={"PATH": str(tmp_path / "bin")})
        document = said.json()
        lacking = {finding["name"] for finding in document["findings"] if not finding["ok"]}
        assert "util-linux" in lacking
        assert document["install"].startswith(("apt-get install ", "sudo apt-get install "))
        assert "util-linux" in document["install"].split()
        page = person.run("doctor", code=3, env={"PATH": str(tmp_path / "bin")}).out
        assert document["install"] in page

    def test_binaries_that_are_not_built(self, person: Person) -> None:
        document = person.run("binaries", "list", "--json").json()
        assert (document["folder"], document["built"]) == (None, None)
        programs = {program["name"]: program for program in document["programs"]}
        assert {"etcd", "kube-apiserver", "kubelet", "kubectl", "containerd", "runc", "kwok"} <= set(programs)
        assert all(program["version"].startswith("v") for program in programs.values() if program["module"])
        assert all(program["size"] is None for program in programs.values())
        assert "grader binaries build" in person.run("binaries", "list").out

    def test_binaries_of_another_folder(self, person: Person, tmp_path: Path) -> None:
        said = person.run("start", "lab-lws", "--bin-dir", str(tmp_path), code=2)
        assert str(tmp_path) in refused(said)
        assert person.processes() == []

    def test_a_bundle_that_is_none(self, person: Person, tmp_path: Path) -> None:
        (tmp_path / "x.tar").write_bytes(b"not a bundle")
        said = person.run("binaries", "build", "--from-bundle", str(tmp_path / "x.tar"), code=2)
        assert str(tmp_path / "x.tar") in said.err


class TestLanguage:
    @pytest.mark.parametrize(
        ("line", "all_", "lang"),
        [
            ("--lang ko list", "C.UTF-8", "C.UTF-8"),
            ("list --lang=ko", "C.UTF-8", "C.UTF-8"),
            ("list", "ko_KR.UTF-8", "C.UTF-8"),
            ("list", "", "ko_KR.UTF-8"),
        ],
    )
    def test_korean(self, person: Person, line: str, all_: str, lang: str) -> None:
        assert HANGUL.search(person.run(*line.split(), env={"LC_ALL": all_, "LANG": lang}).out)

    def test_the_option_wins_over_the_locale(self, person: Person) -> None:
        assert not HANGUL.search(person.run("--lang", "en", "show", "lab-lws", env={"LC_ALL": "ko_KR.UTF-8"}).out)

    def test_a_lab_and_its_steps(self, person: Person) -> None:
        english, korean = person.run("show", "lab-lws", "names"), person.run("--lang", "ko", "show", "lab-lws", "names")
        assert HANGUL.search(korean.out)
        assert "names.txt" in korean.out
        assert korean.out != english.out

    def test_errors(self, person: Person) -> None:
        said = person.run("--lang", "ko", "strat", code=2)
        assert HANGUL.search(said.err)
        assert "start" in said.err

    def test_json_has_the_same_keys(self, person: Person) -> None:
        english, korean = (person.run("--lang", one, "list", "--json").json() for one in ("en", "ko"))
        assert [step["id"] for step in english["labs"][0]["steps"]] == [
            step["id"] for step in korean["labs"][0]["steps"]
        ]
        assert HANGUL.search(korean["labs"][0]["title"])

    def test_one_that_we_do_not_speak(self, person: Person) -> None:
        assert refused(person.run("--lang", "fr", "list", code=2)) == "no language 'fr'; there are: en, ko"


class TestWrongUsage:
    @pytest.mark.parametrize(
        ("argv", "message"),
        [
            ("strat lab-lws", "no command 'strat'; did you mean 'start'?"),
            ("statsu", "no command 'statsu'; did you mean 'status'?"),
            ("binaries lst", "no command 'lst'; did you mean 'list'?"),
            ("show lab-lsw", "did you mean 'lab-lws'?"),
            ("start lab-lwss", "did you mean 'lab-lws'?"),
            ("check lab-lwz", "did you mean 'lab-lws'?"),
            ("stop lab-lwz", "did you mean 'lab-lws'?"),
            ("shell lab-lwz", "did you mean 'lab-lws'?"),
            ("status lab-lwz", "did you mean 'lab-lws'?"),
            ("reset lab-lwz", "did you mean 'lab-lws'?"),
            ("lint lab-lwz", "did you mean 'lab-lws'?"),
            ("hint lab-lws nmes", "did you mean 'names'?"),
            ("show lab-lws 9", "no step '9'"),
            ("hint lab-lws", "no lab runs"),
            ("hint", "say which step"),
            ("list --jsn", "no option --jsn; did you mean '--json'?"),
            ("list lab-lws", "too many words: lab-lws"),
            ("start", "LAB is missing"),
            ("check lab-lws --step", "--step needs a value"),
            ("completion tcsh", "there are: bash, zsh, fish"),
            ("report --json --csv", "either --json or --csv"),
            ("stop lab-lws --all", "either a lab or --all"),
            ("--lang", "--lang needs a language: en, ko"),
        ],
    )
    def test_is_told_with_a_near_name(self, person: Person, argv: str, message: str) -> None:
        assert message in refused(person.run(*argv.split(), code=2))


class TestNothingThere:
    def test_status(self, person: Person) -> None:
        assert "no lab was started yet" in person.run("status").out
        assert person.run("status", "--json").json() == {"schema": "batchlab/status/v1", "sessions": []}

    def test_stop(self, person: Person) -> None:
        assert person.run("stop").out == "no lab runs\n"
        assert person.run("stop", "--all").out == "no lab runs\n"
        assert person.run("stop", "lab-lws").out == "lab-lws was not running\n"

    def test_a_report_that_is_handed_in(self, person: Person, tmp_path: Path) -> None:
        folder = tmp_path / "class"
        folder.mkdir()
        file = folder / "kim.json"
        person.run("report", "--name", "김지수", "--export", str(file))
        assert "intact, the report of 김지수" in person.run("report", "verify", str(file)).out
        assert person.run("class", str(folder), "--html", str(tmp_path / "class.html")).out == "learners: 1, labs: 0\n"
        assert (tmp_path / "class.html").read_text().startswith("<!doctype html>")

        file.write_text(file.read_text().replace("김지수", "이민호"))
        assert f"{file}: changed" in person.run("report", "verify", str(file), code=1).out
        assert "learners: 0" in person.run("class", str(folder)).out

    def test_of_a_lab_with_values_an_example_is_shown(self, person: Person) -> None:
        assert "`4` (workers): an example" in person.run("show", "lab-jobset", "toobig").out
        document = person.run("show", "lab-jobset", "--json").json()
        assert (document["values"], document["examples"]) == ({"workers": 4}, ["workers"])
        assert "no values" in refused(person.run("reset", "--new-values", "lab-lws", code=2))

    def test_report(self, person: Person) -> None:
        assert "lab-lws" in person.run("report").out
        document = person.run("report", "--json").json()
        assert [lab["state"] for lab in document["labs"] if lab["lab"] == "lab-lws"] == ["not begun"]
        rows = {row["lab"]: row for row in csv.DictReader(io.StringIO(person.run("report", "--csv").out))}
        assert rows["lab-lws"]["attempts"] == "0"

    @pytest.mark.parametrize("command", ["check", "shell"])
    def test_what_needs_a_running_lab_says_how_to_start_it(self, person: Person, command: str) -> None:
        said = person.run(command, "lab-lws", code=3)
        assert said.out == ""
        assert said.err == "grader: lab-lws is not running\n        start it: grader start lab-lws\n"
        assert refused(person.run(command, code=2)) == "no lab runs"

    def test_nothing_is_written(self, person: Person) -> None:
        for argv in ("list", "status", "stop --all", "stop lab-lws", "report", "show lab-lws", "hint lab-lws 1"):
            person.run(*argv.split())
        assert list(person.home.iterdir()) == []


class TestDryRun:
    def test_prints_a_script_and_starts_nothing(self, person: Person, binaries: Path) -> None:
        said = person.run("start", "lab-lws", "--dry-run", env={"BATCHLAB_BIN_DIR": str(binaries)})
        assert subprocess.run(["bash", "-n"], input=said.out, text=True, check=False).returncode == 0
        for program in ("etcd", "kube-apiserver", "kube-scheduler", "kubelet", "containerd", "kwok"):
            assert f"{binaries}/bin/{program}" in said.out, program
        assert list(person.home.iterdir()) == []
        assert person.processes() == []

    def test_before_anything_is_built_says_what_to_do(self, person: Person) -> None:
        said = person.run("start", "lab-lws", "--dry-run", code=3)
        assert "grader binaries build" in said.err
        assert list(person.home.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_real_node_is_refused_to_an_ordinary_user_before_anything_starts(person: Person) -> None:
    nobody = 65534
    os.chown(person.home, nobody, nobody)
    # Reading everywhere, because the environment may lie in a folder of root's; no other power of root's.
    become = (
        *("setpriv", f"--reuid={nobody}", f"--regid={nobody}", "--clear-groups"),
        *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
    )
    said = person.run("start", "lab-lws", code=3, within=become)
    first, second = said.err.splitlines()
    assert first == "grader: lab-lws has a node that runs real containers; only root can start it"
    # access(2) does not count the borrowed power, so that the command may not find its own path; it never invents one.
    assert re.search(rf"as root: sudo ({re.escape(str(person.program))}|grader) start lab-lws$", second), said
    assert list(person.home.iterdir()) == []
    assert person.processes() == []


class TestBadPlaces:
    def test_a_state_folder_that_can_be_none(self, person: Person) -> None:
        (person.home / "file").write_text("")
        where = str(person.home / "file" / "state")
        said = person.run("start", "lab-lws", code=3, env={"XDG_STATE_HOME": where})
        assert "can't use the session folder" in refused(said)
        assert "XDG_STATE_HOME" in said.err
        assert "no lab was started yet" in person.run("status", env={"XDG_STATE_HOME": where}).out

    def test_a_full_disk_behind_stdout(self, person: Person) -> None:
        code, said = self.with_stdout(person, ">/dev/full")
        assert (code, said) == (3, "grader: can't write: No space left on device\n")

    def test_a_closed_stdout(self, person: Person) -> None:
        assert self.with_stdout(person, ">&-") == (0, "")

    def test_a_reader_that_has_gone(self, person: Person) -> None:
        code, said = self.with_stdout(person, "> >(exec >&- <&-; exit 0)")
        assert (code, said) in [(141, ""), (0, "")], "0: all was written before the reader went"

    @staticmethod
    def with_stdout(person: Person, redirection: str) -> tuple[int, str]:
        line = ["bash", "-c", f'"$1" show lab-lws {redirection}', "-", str(person.program)]
        done = subprocess.run(
            line, stderr=subprocess.PIPE, text=True, env=person.environment(), check=False, timeout=60
        )
        return done.returncode, done.stderr
