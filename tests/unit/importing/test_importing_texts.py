"""What becomes of each addition to markdown, of scripts, of paths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.importing import machine
from grader.importing.components import Component, pieces
from grader.importing.ledger import Outcome
from tests.unit.importing.conftest import Result, Scenario

UNMAPPED, APPROXIMATED = Outcome.UNMAPPED, Outcome.APPROXIMATED
RUN = "```bash run\n"
ROOT = machine.CELL_HOME
"""Where scenarios of other platforms live on their machines."""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("`ls`{{exec}}", f"{RUN}ls\n```"),
        ("`ls`{{execute}}", f"{RUN}ls\n```"),
        ("`ls` {{ execute T1 }}", f"{RUN}ls\n```"),
        ("- `ls`{{exec}}", f"{RUN}ls\n```"),
        ("Run `ls`{{exec}} now.", f"Run `ls` now.\n\n{RUN}ls\n```"),
        ("```\na\nb\n```{{exec}}", f"{RUN}a\nb\n```"),
        ("```sh\na\n``` {{execute interrupt}}", f"{RUN}a\n```"),
        ("````\n```\nx\n```\n````{{copy}}", "````text\n```\nx\n```\n````"),
        ("```yaml\na: 1\n```{{copy}}", "```yaml\na: 1\n```"),
        ("`x`{{copy}} and `y`{{}}", "`x` and `y`"),
        ("~~~\nx\n~~~", "```text\nx\n```"),
        ("```python title=x\npass\n```", "```python\npass\n```"),
        ("a<br>b<br/>", "a b"),
        ("<kbd>Ctrl</kbd>+<kbd>C</kbd>", "`Ctrl`+`C`"),
        ("# One\n\n## Two\n\nThree\n=====\n", "### One\n\n#### Two\n\n### Three"),
        ("# One {#own}", "### One"),
        ("[there](#one)", "there"),
        ("`[there](#one)`", "`[there](#one)`"),
        ("::: hint", "\\:\\:\\: hint"),
        ("see {#x}", "see {\\#x}"),
        ("[go]({{TRAFFIC_HOST1_80}})", "go (port 80 of the machine)"),
        ("[go]({{TRAFFIC_HOST2_8080}}/a/b)", "go (port 8080 of the machine, /a/b)"),
        ("{{TRAFFIC_SELECTOR}}", "a port of the machine"),
        (f"cat ~/a {ROOT}/b '{ROOT}/c'", f"cat ~/work/a ~/work/b '{machine.WHOLE_HOME}/c'"),
        (f"cd {ROOT}", "cd ~/work"),
        ("https://x.org/root/a and /rooted", "https://x.org/root/a and /rooted"),
        ("{{ not.ours }}", "{{ not.ours }}"),
    ],
)
def test_a_text(text: str, wanted: str, scenario: Scenario) -> None:
    result = scenario(f"Begin.\n\n{text}\n\nEnd.\n")
    body = result.done.labs[0].lab.steps[0].body
    assert wanted in body.partition("Begin.")[2].partition("End.")[0]
    assert result.lint == []


@pytest.mark.parametrize(
    ("text", "outcome", "told"),
    [
        ("`x`{{exec T2}}", APPROXIMATED, "{{exec T2}}: it runs in the one shell, not in T2"),
        ("`^C`{{execute ctrl-seq}}", UNMAPPED, "{{execute ctrl-seq}}: single keys can't be sent"),
        ("`a.py`{{open}}", APPROXIMATED, "`a.py`{{open}}: no editor opens"),
        ("`a`{{dance}}", UNMAPPED, "`a`{{dance}}: no such action is known"),
        ("`apt install jq`{{exec}}", APPROXIMATED, "apt install jq: needs apt: nothing can be installed"),
        ("[[HOST_IP]]", UNMAPPED, "[[HOST_IP]]: nobody fills it in"),
        ("write /opt/x/y.txt", APPROXIMATED, "/opt/x/y.txt: outside the work folder"),
    ],
)
def test_what_is_told(text: str, outcome: Outcome, told: str, scenario: Scenario) -> None:
    assert any(f"one/step.md:3 {told}" in line for line in scenario(f"Begin.\n\n{text}\n").told(outcome))


def test_a_block_that_is_never_closed(scenario: Scenario) -> None:
    result = scenario("Begin.\n\n```\nnever closed\n")
    assert result.done.labs[0].lab.steps[0].body.startswith("Begin.\n\n```text\nnever closed\n\n```")
    assert "one/step.md:3 ```: the code block was never closed: closed at the end" in result.told()
    assert result.lint == []


def test_what_unfolds(scenario: Scenario) -> None:
    text = """Do it.

<details><summary>Need a hint?</summary>
Look <b>there</b>.
</details>
<details>
<summary>Solution</summary>

`kubectl create ns x`{{exec}}
</details>

<details><summary>More</summary>Text.</details>
"""
    result = scenario(text, verify="kubectl get ns x\n")
    step = result.done.labs[0].lab.steps[0]
    assert step.hints == ["Look <b>there</b>.", "Solution:\n\n```bash\nkubectl create ns x\n```"]
    assert step.body == "Do it.\n\n**More**\n\nText."
    assert result.text("one", "solution/01-first.sh") == "kubectl create ns x\n"
    assert result.lint == []


class TestScripts:
    """verify, foreground, background."""

    def test_verify_becomes_a_check_by_script(self, scenario: Scenario) -> None:
        result = scenario(verify="#!/bin/bash\nkubectl get ns x\n")
        assert result.text("one", "scripts/verify-first.sh") == "#!/bin/bash\nkubectl get ns x\n"
        assert "script: {file: verify-first.sh, seconds: 30}" in result.text("one")

    def test_without_one_the_learner_says_so(self, scenario: Scenario) -> None:
        result = scenario()
        assert "echo first >> done.txt" in result.text("one")
        assert result.text("one", "solution/01-first.sh") == "echo first >> done.txt\n"

    def test_hints_and_answers_in_the_index_itself(self, scenario: Scenario) -> None:
        result = scenario(step={"hint": "Look at `kubectl get`.", "solution": "It is # this one.", "text": ""})
        assert result.done.labs[0].lab.steps[0].hints == ["Look at `kubectl get`.", "It is # this one."]
        assert any("the step has no text" in line for line in result.told(APPROXIMATED))
        assert result.lint == []

    def test_a_step_nobody_solved(self, scenario: Scenario) -> None:
        result = scenario(verify="kubectl get ns x\n")
        assert "exit 1" in result.text("one", "solution/01-first.sh")
        assert any("solution/01-first.sh has to be written" in line for line in result.told(UNMAPPED))

    def test_commands_of_the_text_are_the_solution(self, scenario: Scenario) -> None:
        result = scenario("`kubectl create ns x`{{exec}}\n", verify="kubectl get ns x\n")
        assert result.text("one", "solution/01-first.sh") == "kubectl create ns x\n"

    @pytest.mark.parametrize(
        ("script", "line", "reason"),
        [
            ("docker ps", 1, "no container engine"),
            ("x=1\nif true; then sudo apt-get install -y x; fi", 2, "nothing can be installed"),
            ("systemctl status x | grep y", 1, "no services run there"),
            ("A=$(curl -s x)", 1, "no network but the cluster's own"),
            ("# docker ps\nkubectl get pods", 0, ""),
            ("echo docker", 0, ""),
            ("kubectl run x --image=x", 1, "a check may only look at the cluster"),
            ("kubectl run x --image=x --dry-run=client", 0, ""),
            ("kubectl create ns x --dry-run=server", 1, "a check may only look at the cluster"),
            ("kubectl rollout status deploy/x", 0, ""),
            ("kubectl auth can-i get pods --as=jane", 1, "may not act for others"),
            ("grep x /opt/out/a.txt", 1, "a check sees the work folder only, not /opt/out/a.txt"),
            ("echo x > /tmp/a/b\ngrep x /tmp/a/b", 0, ""),
        ],
    )
    def test_lines_that_cannot_work(self, script: str, line: int, reason: str, scenario: Scenario) -> None:
        told = [one for one in scenario(verify=f"{script}\n").told(UNMAPPED) if "verify.sh" in one]
        assert [one for one in told if line and f"one/verify.sh:{line} " in one and reason in one] == told
        assert bool(told) == bool(line)

    def test_set_up_of_the_introduction_and_the_first_step(self, scenario: Scenario) -> None:
        result = scenario(
            details={"intro": {"text": "step.md", "foreground": "f.sh", "background": "b.sh"}},
            step={"background": "s.sh"},
            files={"f.sh": "echo f\n", "b.sh": "echo b\n", "s.sh": "launch.sh\necho s\n"},
        )
        start = result.to / "one" / "start"
        assert [(path.name, path.read_text()) for path in sorted(start.iterdir())] == [
            ("10-intro-background.sh", "echo b\n"),
            ("20-intro-foreground.sh", "echo f\n"),
            ("30-first-background.sh", ":  # not here: launch.sh\necho s\n"),
        ]
        assert result.lint == []

    def test_set_up_of_a_later_step_is_the_learners(self, scenario: Scenario) -> None:
        later = {"title": "Later", "text": "step.md", "background": "b.sh", "verify": "v.sh"}
        result = scenario(
            details={"steps": [{"title": "First", "text": "step.md"}, later]},
            files={"b.sh": "kubectl create ns x\n", "v.sh": "kubectl get ns x\n"},
        )
        body = result.done.labs[0].lab.steps[1].body
        assert f"{RUN}bash <<'SETUP'\nkubectl create ns x\nSETUP\n```" in body
        assert not (result.to / "one" / "start").exists()

    def test_a_verify_that_says_done(self, scenario: Scenario) -> None:
        result = scenario(verify='if true; then echo "done"; fi\n', environment={"uilayout": "terminal"})
        assert "check-first-verified.sh" in result.text("one")
        assert "*done*" in result.text("one", "scripts/check-first-verified.sh")

    def test_lines_left_out_leave_a_script_that_is_one(self) -> None:
        script = (
            "if x; then\n  docker ps\nfi\nwhile ! docker info; do\n  true\ndone\napt-get update && apt-get install x\n"
        )
        assert machine.without_lacking(script) == script.replace("  docker ps", "  :  # not here: docker ps").replace(
            "apt-get update &&", ":  # not here: apt-get update &&"
        )


class TestFiles:
    """Assets, and what texts and checks exchange."""

    def assets(self, *entries: dict[str, str]) -> dict[str, object]:
        return {"details": {"assets": {"host01": list(entries)}}}

    def test_into_the_work_folder(self, scenario: Scenario) -> None:
        result = scenario(
            **self.assets({"file": "a.yaml", "target": f"{ROOT}/k8s"}, {"file": "d/**", "target": "~"}),
            files={"assets/a.yaml": "a", "assets/d/e/f.txt": "f", "assets/g.txt": "g"},
        )
        files = result.to / "one" / "files"
        found = sorted(path.relative_to(files).as_posix() for path in files.rglob("*") if path.is_file())
        assert found == ["e/f.txt", "k8s/a.yaml"]
        assert any("assets/g.txt g.txt: no key of the index names it" in line for line in result.told(UNMAPPED))

    def test_elsewhere_texts_follow(self, scenario: Scenario) -> None:
        result = scenario(
            "Read `/opt/data/a.txt`.\n",
            verify="grep -q x /opt/data/a.txt\n",
            **self.assets({"file": "a.txt", "target": "/opt/data", "chmod": "+x"}),
            files={"assets/a.txt": "x"},
        )
        assert "Read `~/work/a.txt`." in result.text("one")
        assert result.text("one", "scripts/verify-first.sh") == f"grep -q x {machine.CELL_HOME}/a.txt\n"
        assert (result.to / "one" / "files" / "a.txt").stat().st_mode & 0o111

    def test_what_the_learner_writes_and_the_check_reads(self, scenario: Scenario) -> None:
        result = scenario(
            "`echo x > /opt/course/1/out.txt`{{exec}}\n\nor `/tmp/y`.\n",
            verify="grep -q x /opt/course/1/out.txt && test -e /tmp/y && test -e /tmp/z\n",
        )
        text = result.text("one")
        assert "echo x > ~/work/opt/course/1/out.txt" in text
        assert "`~/work/tmp/y`" in text
        home = machine.CELL_HOME
        assert f"{home}/opt/course/1/out.txt && test -e {home}/tmp/y && test -e /tmp/z" in result.text(
            "one", "scripts/verify-first.sh"
        )
        assert (result.to / "one" / "files" / "opt" / "course" / "1").is_dir()
        assert "/home/learner/work/opt/course/1/out.txt" in result.text("one", "solution/01-first.sh").replace(
            "~", "/home/learner"
        )
        assert result.lint == []


class TestComponents:
    """`::name` and what belongs to it."""

    def read(self, text: str) -> list[Component]:
        rows = [(row, number) for number, row in enumerate(text.split("\n"), start=1)]
        return [piece for piece in pieces(rows) if isinstance(piece, Component)]

    def test_attributes_and_slots(self) -> None:
        [one] = self.read(
            "::simple-task\n---\n:name: 'verify_x'\nkind: info\n---\n#active\nWait\n\n#completed\nDone\n::\nafter"
        )
        assert (one.name, one.line, one.attributes) == ("simple-task", 1, {"name": "verify_x", "kind": "info"})
        assert (one.text("active"), one.text("completed"), one.closed) == ("Wait", "Done", True)

    def test_one_in_another(self) -> None:
        [outer] = self.read("::details-box\na\n::remark-box\nb\n::\nc\n::")
        assert outer.text() == "a\n::remark-box\nb\n::\nc"

    def test_code_is_code(self) -> None:
        assert self.read("```\n::remark-box\n::\n```") == []

    def test_never_closed(self) -> None:
        assert [one.closed for one in self.read("::remark-box\ntext")] == [False]


def challenge(tmp_path: Path, tasks: str, body: str) -> Path:
    folder = tmp_path / "source" / "c"
    folder.mkdir(parents=True)
    (folder / "index.md").write_text(f"---\nkind: challenge\ntitle: C\nplayground: k3s\ntasks:\n{tasks}---\n{body}")
    return folder


def test_tasks_that_need_each_other(tmp_path: Path, convert: Callable[..., Result]) -> None:
    tasks = (
        "  b: {init: true, needs: [a], run: echo b}\n  a: {init: true, needs: [b], run: echo a}\n"
        "  v: {needs: [w], run: 'true # v'}\n  w: {needs: [v], run: 'true # w'}\n"
        "  x: {helper: true, run: 'true'}\n  y: 3\n"
    )
    result = convert(challenge(tmp_path, tasks, "Text.\n\n::simple-task\n---\n:name: nobody\n---\n::\n"))
    lab = result.done.labs[0].lab
    assert sorted(path for path in lab.files if path.startswith("start/")) == ["start/10-a.sh", "start/20-b.sh"]
    assert [(check.id, check.after) for check in lab.steps[-1].checks] == [("v", []), ("w", ["v"])]
    told = "\n".join(result.told(UNMAPPED))
    for line in (
        "tasks.x (helper): nothing of a lab's runs all the time",
        "tasks.y: a task without a script",
        "nobody",
    ):
        assert line in told
    assert result.lint == []


def test_paths_in_the_shell_blocks_of_a_challenge(tmp_path: Path, convert: Callable[..., Result]) -> None:
    body = "```sh\ncat ~/a\n```\n\n```yaml\npath: ~/a\n```\n\n`~/b`\n"
    text = convert(challenge(tmp_path, "  v: {run: 'true'}\n", body)).text("c")
    assert "cat ~/work/a" in text
    assert "path: ~/a" in text
    assert "`~/work/b`" in text


def test_controllers_that_a_lab_speaks_of_are_there(scenario: Scenario) -> None:
    text = "`kubectl apply -f https://example.com/kueue.yaml`{{exec}}\n\n```yaml\napiVersion: kueue.x-k8s.io/v1\n```\n"
    result = scenario(text)
    assert result.done.labs[0].lab.addons == ["kueue"]
    assert "addons: [kueue]" in result.text("one")
    assert any("takes files from the web" in line for line in result.told(APPROXIMATED))
    assert result.lint == []


@pytest.mark.parametrize(
    ("versions", "addons"),
    [
        (["trainer.kubeflow.org/v1alpha1"], ["jobset", "trainer"]),
        (["kubeflow.org/v1"], ["training-operator"]),
        (["kubeflow.org/v2beta1"], ["mpi-operator"]),
        (["kubeflow.org/v2beta1", "kubeflow.org/v1"], ["mpi-operator"]),
    ],
)
def test_of_controllers_there_are_those_that_go_together(
    scenario: Scenario, versions: list[str], addons: list[str]
) -> None:
    result = scenario("```yaml\n" + "".join(f"apiVersion: {version}\n" for version in versions) + "```\n")
    assert result.done.labs[0].lab.addons == addons
    assert any("can't be in one cluster" in line for line in result.told(UNMAPPED)) == (len(versions) > 1)
    assert result.lint == []


def test_templates_in_scripts(tmp_path: Path, convert: Callable[..., Result]) -> None:
    tasks = (
        "  a: {run: 'echo 1'}\n"
        "  v:\n    hintcheck: |\n      echo x(.needs.a.stdout)\n    run: |\n"
        '      [ \'x(.input)\' = "x(.needs.a.stdout)" ] || [ "x(.input)" = "x(.secret)" ]\n'
    )
    result = convert(challenge(tmp_path, tasks, "::user-input-task\n---\n:name: v\n---\n#active\nWhat?\n::\n"))
    file, other = "$(cat 'v.txt' 2>/dev/null)", '$(bash "$BATCHLAB_SCRIPTS/a.sh" 2>/dev/null)'
    assert result.text("c", "scripts/v.sh") == f'[ "{file}" = "{other}" ] || [ "{file}" = "x(.secret)" ]\n'
    assert result.text("c", "scripts/hintcheck-v.sh") == f"echo {other}\n"
    assert any("x(.secret): the platform's templates" in line for line in result.told(UNMAPPED))


def test_the_solutions_of_a_challenge(tmp_path: Path, convert: Callable[..., Result]) -> None:
    folder = challenge(tmp_path, "  v: {run: 'true'}\n", "::user-input-task\n---\n:name: v\n---\n#active\nWhat?\n::\n")
    script = "kubectl create ns x\necho -n yes | examinerctl task input v\nexaminerctl task wait v --timeout 3s\n"
    (folder / ".solution.sh").write_text(script)
    (folder / "solution.md").write_text("---\ntitle: A way\n---\nDo `that`.\n\n```sh\nls ~/a\n```\n")
    result = convert(folder)
    assert result.text("c", "solution/01-c.sh") == "kubectl create ns x\necho -n yes > v.txt\n:\n"
    assert result.done.labs[0].lab.steps[0].hints == ["Do `that`.\n\n```sh\nls ~/work/a\n```"]
    assert "uses: kubectl create" in result.text("c", "exceptions.yaml")
    assert "c/solution.md:1 solution.md" in result.told() or "solution.md:1 solution.md" in result.told()
    assert result.lint == []
