"""From a folder to a lab, and all problems of one in a single run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.spec import ClusterSpec, NodeSpec
from grader.checks.base import Check
from grader.checks.resource import Resource
from grader.lab.model import CodeBlock, Hint, Lab
from grader.lab.parse import parse_lab

Spoil = Callable[..., list[str]]


def parsed(folder: Path, lang: str = "en") -> Lab:
    lab, found = parse_lab(folder, lang)
    assert found == []
    assert lab is not None
    return lab


def test_the_lab_in_english(lab: Path) -> None:
    read = parsed(lab)
    assert (read.id, read.title, read.minutes, read.after) == ("lab-hello", "A first pod", 10, ())
    assert (read.workdir, read.namespace, read.folder, read.language) == ("hello", "hello", lab, "en")
    assert read.intro.startswith("A pod is the smallest thing a cluster runs.\n")
    assert [(step.number, step.id, step.title, step.line) for step in read.steps] == [
        (1, "run", "Run a pod", 17),
        (2, "where", "Read where it runs", 54),
    ]
    first, second = read.steps
    assert first.blocks == (
        CodeBlock(
            language="bash", flags=("run",), text="kubectl apply -f pod.yaml\nkubectl get pods -o wide\n", line=21
        ),
    )
    assert first.hints[0] == Hint(text="The limit is named `nvidia.com/gpu`.", line=46)
    assert "yaml check" not in first.body
    assert ":::" not in first.body
    assert first.body.endswith("kubectl get pods -o wide\n```")
    assert [check.id for check in first.checks] == ["pod-file", "pod-runs"]
    assert second.body == "Write the node of the pod into `where.txt`, as `node=<name>`."


def test_a_check_of_the_lab(lab: Path) -> None:
    read = parsed(lab)
    step, check = read.check("pod-runs")
    assert step.id == "run"
    assert isinstance(check, Check)
    assert (check.says, check.after, check.hold) == ("the pod hello runs", ("pod-file",), "once")
    assert (check.within, check.weight, check.look_at) == (20, 1, "kubectl describe pod hello")
    assert isinstance(check.kind, Resource)
    assert check.kind.match == {"status": {"phase": "Running"}}
    assert read.check("where-answer")[1].weight == 2
    with pytest.raises(KeyError):
        read.check("gone")
    assert read.step("where").number == 2
    with pytest.raises(KeyError):
        read.step("gone")


def test_the_cluster_of_the_lab(lab: Path) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "gpus", "namespace": "hello"},
        "spec": {"hard": {"requests.nvidia.com/gpu": "4"}},
    }
    assert parsed(lab).cluster == ClusterSpec(
        addons=(),
        nodes=(NodeSpec(name="gpu-a", gpus=4, labels={"rack": "r1"}), NodeSpec(name="gpu-b", gpus=4)),
        manifests=({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "hello"}}, quota),
    )
    assert not parsed(lab).needs_root


def test_a_real_node_needs_root(lab: Path) -> None:
    path = lab / "lab.md"
    path.write_text(path.read_text().replace("{name: gpu-b,", "{name: lab, real: true,"))
    assert parsed(lab).needs_root


def test_the_lab_in_korean_is_the_english_one_with_other_words(lab: Path) -> None:
    english, korean = parsed(lab), parsed(lab, "ko")
    assert (korean.language, korean.title) == ("ko", "첫 파드")
    assert korean.intro.startswith("파드는 클러스터가")
    assert korean.cluster == english.cluster
    assert [step.title for step in korean.steps] == ["파드를 띄운다", "어디서 도는지 읽는다"]
    assert [len(step.hints) for step in korean.steps] == [2, 1]
    assert korean.steps[0].line == 10
    assert korean.steps[0].body.startswith("GPU 하나를 요청하는")
    for before, after in zip(english.steps, korean.steps, strict=True):
        assert [check.kind for check in after.checks] == [check.kind for check in before.checks]
        assert [check.weight for check in after.checks] == [check.weight for check in before.checks]
    assert korean.check("pod-runs")[1].says == "파드 hello가 돌고 있습니다"
    assert korean.check("pod-runs")[1].look_at == "kubectl describe pod hello"
    assert korean.check("where-answer")[1].look_at == "kubectl get pod hello -o wide"


def test_a_lab_without_the_language_is_english(lab: Path) -> None:
    (lab / "lab.ko.md").unlink()
    assert parsed(lab, "ko").language == "en"


def test_faults_of_a_translation_are_none_of_english(lab: Path) -> None:
    (lab / "lab.ko.md").write_text("")
    assert parsed(lab).language == "en"
    assert parse_lab(lab, "ko")[0] is None


def test_faults_of_all_files_in_one_run(lab: Path) -> None:
    text = (lab / "lab.md").read_text()
    text = text.replace("minutes: 10", "minutes: x").replace("within: 20", "within: -1") + "\n::: hint\nnever closed\n"
    (lab / "lab.md").write_text(text)
    (lab / "start" / "more.yaml").write_text("kind: Pod\n")
    (lab / "lab.ko.md").write_text((lab / "lab.ko.md").read_text().replace("- id: pod-runs\n", "- id: pod-run\n"))
    read, found = parse_lab(lab, "ko")
    assert read is None
    assert [str(problem).removeprefix(f"{lab}/").split(": ")[0] for problem in found] == [
        "lab.ko.md:10:1",
        "lab.ko.md:22:7",
        "lab.md:5:10",
        "lab.md:39:11",
        "lab.md:76:1",
        "start/more.yaml:1:1",
        "start/more.yaml:1:1",
    ]


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_without_a_lab(tmp_path: Path, make: bool) -> None:
    folder = tmp_path / "lab-x"
    if make:
        folder.mkdir()
    read, found = parse_lab(folder)
    assert read is None
    assert [str(problem) for problem in found] == [f"{folder}/lab.md:1:1: is missing"]


def test_a_lab_named_by_a_relative_path(lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(lab)
    assert parsed(Path()).id == "lab-hello"


def test_no_step(lab: Path) -> None:
    text = (lab / "lab.md").read_text()
    (lab / "lab.md").write_text(text[: text.index("## Run")])
    assert f"{lab}/lab.md:1:1: no step: a lab needs at least one '## Title {{#id}}'" in map(str, parse_lab(lab)[1])


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{#where}\n", "{#run}\n", "lab.md:54:1: step id 'run' again (first on line 17)"),
        (
            (
                "::: hint\nThe nodes of this lab are simulated: a pod needs the toleration that "
                "`kubectl describe node gpu-a` hints at.\n"
            ),
            "::: hint\nThe limit is named `nvidia.com/gpu`.\n",
            "lab.md:50:1: the same hint again (first on line 46)",
        ),
    ],
)
def test_what_stands_there_twice(spoil: Spoil, old: str, new: str, problem: str) -> None:
    assert problem in spoil("lab.md", old, new)


START = "start/quota.yaml"


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        ("apiVersion: v1\n", "", ["1:1: missing key 'apiVersion'"]),
        ("apiVersion: v1\n", "apiVersion: 1\n", ["1:13: apiVersion: must be text"]),
        ("kind: ResourceQuota\n", "kind:\n", ["2:6: kind: must be text"]),
        ("  name: gpus\n", "  namespace: hello\n", ["4:3: metadata.name must be text"]),
        ("  name: gpus\n", "  name: gpus\n  namespace: 5\n", ["5:14: metadata.namespace must be text"]),
        ("metadata:\n  name: gpus\n", "", ["1:1: metadata must be a mapping with a name"]),
        ("spec:\n", "spec: [\n", ["7:1: not YAML: expected ',' or ']', but got '<stream end>'"]),
        ("spec:\n", "kind: x\nspec:\n", ["5:1: duplicate key 'kind' (first on line 2)"]),
        (
            "apiVersion: v1\n",
            "[]\n---\napiVersion: v1\n",
            ["1:1: must be a Kubernetes object: a mapping with apiVersion, kind, metadata"],
        ),
        (
            "apiVersion: v1\n",
            "{apiVersion: v1, kind: PodList, items: []}\n---\napiVersion: v1\n",
            ["1:24: a list of objects: write each as a document of its own"],
        ),
        (
            "apiVersion: v1\n",
            "{apiVersion: v1, kind: ResourceQuota, metadata: {name: gpus}}\n---\napiVersion: v1\n",
            ["3:1: ResourceQuota gpus again (first in quota.yaml, line 1)"],
        ),
        (
            "  name: gpus\n",
            "  name: gpus\n  namespace: hallo\n",
            ["5:14: nothing makes the namespace 'hallo' (did you mean 'hello'?)"],
        ),
        (
            "apiVersion: v1\n",
            "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q}}\n---\napiVersion: v1\n",
            ["1:44: the cluster has no LocalQueue without the add-on 'kueue'"],
        ),
        *(
            (
                "apiVersion: v1\n",
                f"{{apiVersion: kubeflow.org/{version}, kind: MPIJob, metadata: {{name: q}}}}\n---\napiVersion: v1\n",
                [f"1:{column}: the cluster has no MPIJob without the add-on '{addon}'"],
            )
            for version, column, addon in (("v1", 37, "training-operator"), ("v2beta1", 42, "mpi-operator"))
        ),
    ],
)
def test_each_refusal_of_a_start_manifest(spoil: Spoil, old: str, new: str, problems: list[str]) -> None:
    assert spoil(START, old, new) == [f"{START}:{problem}" for problem in problems]


def test_order_and_namespaces_of_start_manifests(lab: Path) -> None:
    (lab / "start" / "b.yaml").write_text(
        "---\n# only words\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: other}\n"
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n"
    )
    (lab / "start" / "a.yaml").write_text(
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\n"
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\n"
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: hello, labels: {team: a}}\n"
    )
    (lab / "start" / ".hidden").write_text("x")
    manifests = parsed(lab).cluster.manifests
    assert [(m["kind"], m["metadata"]) for m in manifests] == [
        ("Namespace", {"name": "hello", "labels": {"team": "a"}}),
        ("Namespace", {"name": "other"}),
        ("ClusterQueue", {"name": "q"}),
        ("ClusterRole", {"name": "r"}),
        ("ConfigMap", {"name": "b", "namespace": "other"}),
        ("ResourceQuota", {"name": "gpus", "namespace": "hello"}),
    ]


def test_a_lab_without_start(lab: Path) -> None:
    (lab / "start" / "quota.yaml").unlink()
    (lab / "start").rmdir()
    assert [m["kind"] for m in parsed(lab).cluster.manifests] == ["Namespace"]


def test_start_files_that_are_not_read(lab: Path) -> None:
    (lab / "start" / "x.yml").write_text("")
    assert [str(problem) for problem in parse_lab(lab)[1]] == [
        f"{lab}/start/x.yml:1:1: 'x.yml' is not read: start/ holds .yaml files and .sh scripts"
    ]
