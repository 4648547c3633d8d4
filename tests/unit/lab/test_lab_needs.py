"""Solutions that need more than the lab says: each defect planted, and labs without it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.lab.catalogue import lab_folders
from grader.lab.lint import lint_lab
from grader.lab.needs import needs, told

EXAMPLES = Path(__file__).parent / "example"
LABS = Path(__file__).resolve().parents[3] / "labs"


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES / "lab-hello", tmp_path / "lab-hello"))


def found(lab: Path, rule: str = "unmentioned-command") -> list[str]:
    return [str(one).removeprefix(f"{lab}/") for one in lint_lab(lab) if one.rule == rule]


def solve(lab: Path, line: str) -> None:
    script = lab / "solution" / "01-run.sh"
    script.write_text(f"{script.read_text()}{line}\n")


def says(lab: Path, text: str, *files: str) -> None:
    """Put a word into the first step."""
    for name in files or ("lab.md", "lab.ko.md"):
        path = lab / name
        before, heading, after = path.read_text().partition("{#run}\n")
        path.write_text(f"{before}{heading}\n{text}\n{after}")


LAST = len((EXAMPLES / "lab-hello" / "solution" / "01-run.sh").read_text().split("\n"))


class TestPlanted:
    @pytest.mark.parametrize(
        ("line", "what"),
        [
            ("kubectl cordon gpu-a", "kubectl cordon"),
            ("kubectl rollout restart deploy x", "kubectl rollout restart"),
            ("kubectl apply --server-side -f pod.yaml", "kubectl apply --server-side"),
            ("kubectl get --raw /metrics", "kubectl get --raw"),
            ("grader complete hello", "grader complete"),
            ("x=$(jq . pod.json)", "jq"),
            ("kubectl apply -f pod.yaml | python3 -m json.tool", "python3"),
            ("kubectl -n other label pod x a=b", "kubectl label"),
        ],
    )
    def test_a_command_that_no_text_mentions(self, lab: Path, line: str, what: str) -> None:
        solve(lab, line)
        message = f"uses `{what}`, which lab.md, lab.ko.md never mentions up to this step, in its hints or an article"
        assert found(lab) == [f"solution/01-run.sh:{LAST}:1: {message}"]

    def test_what_runs_in_a_pod(self, lab: Path) -> None:
        says(lab, "Look inside with `kubectl exec`.")
        solve(lab, "kubectl exec hello -- sh -c 'touch /tmp/x'")
        [problem] = found(lab)
        assert "uses `touch`" in problem

    def test_a_translation_that_leaves_it_out(self, lab: Path) -> None:
        solve(lab, "kubectl cordon gpu-a")
        says(lab, "Close it: `kubectl cordon NODE`.", "lab.md")
        [problem] = found(lab)
        assert "which lab.ko.md never mentions" in problem

    def test_a_word_in_a_later_step_comes_too_late(self, lab: Path) -> None:
        solve(lab, "kubectl cordon gpu-a")
        for name in ("lab.md", "lab.ko.md"):
            text = (lab / name).read_text()
            (lab / name).write_text(text.replace("{#where}\n", "{#where}\n\nRun `kubectl cordon NODE`.\n"))
        assert len(found(lab)) == 1

    def test_prose_is_no_command(self, lab: Path) -> None:
        solve(lab, "jq . pod.json")
        says(lab, "Some use jq for that.")
        assert len(found(lab)) == 1


class TestSilent:
    def test_the_example(self, lab: Path) -> None:
        assert lint_lab(lab) == []

    @pytest.mark.parametrize("name", lab_folders(LABS))
    def test_our_own_labs(self, name: str) -> None:
        assert lint_lab(LABS / name) == []

    @pytest.mark.parametrize(
        "line",
        [
            "for i in $(seq 9); do grep -q x pod.yaml && break; sleep 1; done",
            "kubectl wait pod hello --for=condition=Ready --timeout=9s",
            "kubectl -n hello get pods -l a=b --field-selector c=d -o name | tail -1",
            "node() { kubectl get pods -o wide; }; node",
            "sed -i s/a/b/ pod.yaml",
        ],
    )
    def test_eyes_patience_and_an_editor(self, lab: Path, line: str) -> None:
        solve(lab, line)
        assert found(lab) == []

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("Close it: `kubectl cordon NODE`.", "kubectl cordon gpu-a"),
            ("```bash\nkubectl -n x \\\n  cordon NODE\n```", "kubectl cordon gpu-a"),
            ("`kubectl edit pod hello` opens an editor.", "kubectl patch pod hello --type=merge -p '{}'"),
            ("`kubectl patch` has `--type` and `--patch`.", "kubectl patch pod hello --type=merge -p '{}'"),
            ("`… | jq .items`", "jq . x"),
        ],
    )
    def test_what_was_told(self, lab: Path, text: str, line: str) -> None:
        says(lab, text)
        solve(lab, line)
        assert found(lab) == []

    def test_a_hint_tells_too(self, lab: Path) -> None:
        solve(lab, "kubectl cordon gpu-a")
        for name in ("lab.md", "lab.ko.md"):
            text = (lab / name).read_text()
            (lab / name).write_text(text.replace("::: hint\n", "::: hint\n`kubectl cordon` closes a node.\n", 1))
        assert found(lab) == []


class TestExceptions:
    def test_excuse_with_a_reason(self, lab: Path) -> None:
        solve(lab, "kubectl cordon gpu-a")
        (lab / "exceptions.yaml").write_text(
            "commands:\n  - {step: run, uses: kubectl cordon, because: only the script needs it}\n"
        )
        assert lint_lab(lab) == []

    def test_that_excuse_nothing_are_told(self, lab: Path) -> None:
        (lab / "exceptions.yaml").write_text(
            "commands:\n  - {step: run, uses: kubectl cordon, because: only the script needs it}\n"
        )
        [problem] = lint_lab(lab)
        assert str(problem).removeprefix(f"{lab}/").startswith("exceptions.yaml:2:5: excuses nothing")

    def test_need_a_reason_and_a_step(self, lab: Path) -> None:
        (lab / "exceptions.yaml").write_text(
            "commands:\n  - {step: run, uses: jq}\nanswers:\n  - {check: where-answr, text: x, because: y}\n"
        )
        lines = [str(one).removeprefix(f"{lab}/") for one in lint_lab(lab)]
        assert lines[0] == "exceptions.yaml:2:5: commands[0]: missing key 'because'"

    def test_of_steps_and_checks_that_are_not_there(self, lab: Path) -> None:
        (lab / "exceptions.yaml").write_text(
            "commands:\n  - {step: ran, uses: jq, because: y}\n"
            "answers:\n  - {check: where-answr, text: x, because: y}\n"
        )
        assert found(lab, "exception") == [
            "exceptions.yaml:2:5: no step 'ran' in this lab (did you mean 'run'?)",
            "exceptions.yaml:4:5: no check 'where-answr' in this lab (did you mean 'where-answer'?)",
        ]


def test_options_of_kubectl_before_its_verb_are_passed_over() -> None:
    assert [need.name for need in needs("kubectl --context x -n y delete pod z")] == [
        "kubectl delete",
        "kubectl delete --context",
    ]


def test_a_command_is_told_as_a_whole_word_only() -> None:
    assert told("kubectl get", "`kubectl get pods`")
    assert not told("kubectl get", "`kubectl budget`")
    assert not told("jq", "`jqx`")
