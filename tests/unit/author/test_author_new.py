"""A new lab: it lints, in every combination, and what it can't be is refused."""

from __future__ import annotations

import subprocess
from itertools import combinations
from pathlib import Path

import pytest

from cluster.errors import UsageProblem
from cluster.i18n import LANGUAGES
from cluster.spec import ADDON_NEEDS, ADDONS, NEVER_TOGETHER
from grader.author.new import NewNode, make_lab, parse_addons, parse_nodes
from grader.lab.cases import load_cases
from grader.lab.lint import lint_lab
from grader.lab.parse import parse_lab
from grader.lab.scripts import solution_scripts

WITH_STEPS = {"jobset", "lws", "kueue"}
SOME = [
    addons
    for size in range(len(ADDONS) + 1)
    for addons in combinations(ADDONS, size)
    if all(set(ADDON_NEEDS.get(addon, ())) <= set(addons) for addon in addons)
    and not any(set(pair) <= set(addons) for pair in NEVER_TOGETHER)
]
ALL = max(SOME, key=len)


@pytest.mark.parametrize("addons", SOME, ids=lambda addons: "+".join(addons) or "none")
def test_it_lints_and_every_step_and_check_is_held(tmp_path: Path, addons: tuple[str, ...]) -> None:
    folder = make_lab("lab-new", tmp_path, addons=addons)
    assert lint_lab(folder) == []
    lab = None
    for lang in LANGUAGES:
        lab, problems = parse_lab(folder, lang)
        assert lab is not None, problems
        assert (lab.language, lab.title, lab.workdir, lab.namespace) == (lang, "New", "new", "new")
        assert lab.cluster.addons == addons
        assert len(lab.steps) == 2 + len(WITH_STEPS & set(addons))
        assert all(step.hints for step in lab.steps)
    assert lab is not None
    cases, wrong = load_cases(folder)
    assert wrong == []
    assert {case.fails for case in cases} == {check.id for step in lab.steps for check in step.checks}
    assert list(solution_scripts(folder)) == [step.id for step in lab.steps]
    readme = (folder / "README.md").read_text()
    assert all(f"`{check.id}`" in readme for step in lab.steps for check in step.checks)
    assert all(case.name in readme for case in cases)


def test_nothing_of_the_templates_is_left(tmp_path: Path) -> None:
    folder = make_lab("lab-new", tmp_path, addons=ALL, nodes=(NewNode("big", 64),), title='It\'s: "new" # 1')
    texts = {path: path.read_text() for path in folder.rglob("*") if path.is_file()}
    assert not [path for path, text in texts.items() if "@{" in text or "%%" in text or path.suffix == ".j2"]
    lab, _problems = parse_lab(folder)
    assert lab is not None
    assert lab.title == 'It\'s: "new" # 1'
    assert [(node.name, node.gpus) for node in lab.cluster.nodes] == [("big", 64)]


def test_scripts_can_be_run(tmp_path: Path) -> None:
    folder = make_lab("lab-new", tmp_path, addons=ALL)
    for script in folder.rglob("*.sh"):
        assert script.stat().st_mode & 0o111
        assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


def test_the_namespace_is_never_one_of_the_systems(tmp_path: Path) -> None:
    lab, _problems = parse_lab(make_lab("lab-default", tmp_path))
    assert lab is not None
    assert lab.namespace == "lab-default"


@pytest.mark.parametrize("name", ["", "Lab", "lab_x", "lab--x", "-x", "x-", "lab/x", "../x", "a b", "랩", "x" * 64])
def test_names_that_are_none(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        make_lab(name, tmp_path)
    assert refused.value.advice == "use lower-case letters, digits and single hyphens, at most 63"
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "lab-x").mkdir()
    (tmp_path / "lab-y").write_text("mine")
    (tmp_path / "lab-z").symlink_to("nowhere")
    for name in ("lab-x", "lab-y", "lab-z"):
        with pytest.raises(UsageProblem, match="is there already"):
            make_lab(name, tmp_path)
    assert (tmp_path / "lab-y").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lab-x", "lab-y", "lab-z"]


def test_a_place_that_can_not_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageProblem, match="can't write"):
        make_lab("lab-x", tmp_path / "file")


def test_a_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    assert (make_lab("lab-x", tmp_path / "my" / "labs") / "lab.md").is_file()


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("1", [("gpu-a", 4)]),
        ("3", [("gpu-a", 4), ("gpu-b", 4), ("gpu-c", 4)]),
        ("a:1, b:2", [("a", 1), ("b", 2)]),
        ("a", [("a", 4)]),
    ],
)
def test_nodes(text: str, nodes: list[tuple[str, int]]) -> None:
    assert [(node.name, node.gpus) for node in parse_nodes(text)] == nodes


@pytest.mark.parametrize("text", ["", "0", "27", "a:", "a:x", ":3", "a:1,,b:1", "a:-1"])
def test_nodes_that_are_none(text: str) -> None:
    if text == "a:":
        assert parse_nodes(text) == (NewNode("a", 4),)
        return
    with pytest.raises(UsageProblem, match="a number from 1 to 26"):
        parse_nodes(text)


@pytest.mark.parametrize(
    ("nodes", "what"),
    [
        ([NewNode("A", 4)], "no DNS-1123 name"),
        ([NewNode("a", 2), NewNode("a", 2)], "two nodes are named a"),
        ([NewNode("a", 1)], "the nodes have 1 GPUs"),
        ([NewNode("a", 65)], "less than or equal to 64"),
    ],
)
def test_nodes_that_can_not_be(tmp_path: Path, nodes: list[NewNode], what: str) -> None:
    with pytest.raises(UsageProblem, match=what):
        make_lab("lab-x", tmp_path, nodes=nodes)
    assert list(tmp_path.iterdir()) == []


def test_addons_in_lists_and_one_by_one() -> None:
    assert parse_addons(["lws,jobset", " kueue ", "lws"]) == ("jobset", "lws", "kueue")
    assert parse_addons(["trainer"]) == ("jobset", "trainer")
    with pytest.raises(UsageProblem, match="can't be in one cluster"):
        parse_addons(["training-operator,mpi-operator"])
    with pytest.raises(UsageProblem, match=r"unknown add-on 'kueu'.*did you mean 'kueue'"):
        parse_addons(["kueu"])
