"""What a lab brings along: scripts for checks, set-up before them, files, languages, nodes for every pod."""

from __future__ import annotations

from pathlib import Path

from grader.checks.script import read_library
from grader.lab.lint import lint_lab
from grader.lab.manifests import setup_scripts
from grader.lab.parse import parse_lab

CHECK = "  resource:\n    of: {kind: Pod, name: hello}\n    match: {status: {phase: Running}}\n"


def with_script(lab: Path, text: str = "  script: {file: pod.sh}\n") -> None:
    path = lab / "lab.md"
    assert CHECK in path.read_text()
    path.write_text(path.read_text().replace(CHECK, text))
    (lab / "scripts").mkdir()
    (lab / "scripts" / "pod.sh").write_text('. "$BATCHLAB_SCRIPTS/common.sh"\nexit 1\n')
    (lab / "scripts" / "common.sh").write_text("a=b\n")


def told(lab: Path) -> list[str]:
    return [str(problem).removeprefix(f"{lab}/") for problem in lint_lab(lab)]


def test_scripts_of_checks(lab: Path) -> None:
    with_script(lab)
    assert told(lab) == []
    (lab / "scripts" / "unused.sh").write_text("true\n")
    (lab / "scripts" / "common.sh").write_text("if\n")
    (lab / "scripts" / "pod.sh").write_text('# nothing but words\n. "common.sh"\n')
    assert told(lab) == [
        "scripts/common.sh:2:1: bash: syntax error: unexpected end of file",
        "scripts/unused.sh:1:1: 'unused.sh' is named by no check and no other script",
    ]


def test_a_script_that_is_not_there(lab: Path) -> None:
    with_script(lab, "  script: {file: pods.sh}\n")
    assert "no script 'pods.sh' in scripts/ (did you mean 'pod.sh'?)" in told(lab)[0]


def test_a_script_of_another_language_is_not_read_as_bash(lab: Path) -> None:
    with_script(lab)
    (lab / "scripts" / "common.sh").write_text("#!/usr/bin/env python3\nif x:\n    pass\n")
    assert told(lab) == []


def test_set_up_scripts_are_read_and_run_in_the_order_of_their_names(lab: Path) -> None:
    for name in ("20-b.sh", "10-a.sh"):
        (lab / "start" / name).write_text("true\n")
    (lab / "start" / "30-empty.sh").write_text("# nothing\n")
    (lab / "start" / "40-x.txt").write_text("x\n")
    assert told(lab) == [
        "start/30-empty.sh:1:1: a script that does nothing",
        "start/40-x.txt:1:1: '40-x.txt' is not read: start/ holds .yaml files and .sh scripts",
    ]
    (lab / "start" / "30-empty.sh").unlink()
    (lab / "start" / "40-x.txt").unlink()
    found, problems = parse_lab(lab)
    assert found is not None, problems
    assert [path.name for path in found.setup] == ["10-a.sh", "20-b.sh"]


def test_links_lead_nowhere(lab: Path, tmp_path: Path) -> None:
    with_script(lab)
    (tmp_path / "secret.sh").write_text("true\n")
    for name in ("start/10-a.sh", "scripts/secret.sh"):
        (lab / name).symlink_to(tmp_path / "secret.sh")
    assert "start/10-a.sh:1:1: is a link: links are not followed" in told(lab)
    assert "scripts/secret.sh:1:1: is a link: links are not followed" in told(lab)
    assert setup_scripts(lab) == ()
    assert sorted(read_library(lab / "scripts")) == ["common.sh", "pod.sh"]


def test_files(lab: Path) -> None:
    (lab / "files" / "a").mkdir(parents=True)
    (lab / "files" / "a" / "b.txt").write_text("b")
    assert told(lab) == []
    (lab / "files" / "link").symlink_to("/etc/passwd")
    assert told(lab) == ["files/link:1:1: is neither a file nor a folder: it is not copied"]


def test_a_lab_of_one_language(lab: Path) -> None:
    (lab / "lab.ko.md").unlink()
    assert told(lab) == ["lab.ko.md:1:1: is missing"]
    path = lab / "lab.md"
    path.write_text(path.read_text().replace("namespace: hello\n", "namespace: hello\nlanguages: [en]\n"))
    assert told(lab) == []
    path.write_text(path.read_text().replace("languages: [en]", "languages: [ko]"))
    assert any("lab.md is its text in 'en': name that, too" in one for one in told(lab))
    path.write_text(path.read_text().replace("languages: [ko]", "languages: [en, kr]"))
    assert any("unknown language 'kr'; allowed: en, ko" in one for one in told(lab))


def test_a_node_for_every_pod(lab: Path) -> None:
    path = lab / "lab.md"
    path.write_text(path.read_text().replace("{name: gpu-b, gpus: 4}", "{name: gpu-b, gpus: 4, taint: false}"))
    found, problems = parse_lab(lab)
    assert found is not None, problems
    assert [node.taint for node in found.cluster.nodes] == [True, False]
