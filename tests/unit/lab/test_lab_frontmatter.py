"""Front matter: what it says of a lab, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.lab.parse import parse_lab

Spoil = Callable[..., list[str]]
NODE = "    - {name: gpu-b, gpus: 4}\n"


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        ("format: 1", "format: 2", ["2:9: format 2 is newer than this version knows (1): upgrade batchlab"]),
        ("format: 1", "format: 0", ["2:9: format: must be 1 or more"]),
        ("format: 1", "format: true", ["2:9: format: must be a whole number, not true"]),
        ("format: 1", "format: '1'", ["2:9: format: must be a whole number, not '1'"]),
        ("format: 1", "format: 1.0", ["2:9: format: must be a whole number, not 1.0"]),
        ("format: 1\n", "", ["2:1: missing key 'format'"]),
        (
            "lab: lab-hello",
            "lab: lab-helo",
            ["3:6: lab 'lab-helo' is not the name of its folder, 'lab-hello'"],
        ),
        (
            "lab: lab-hello",
            "lab: Lab_Hello",
            ["3:6: lab: use lower-case letters, digits and single hyphens, at most 63"],
        ),
        ("title: A first pod", "title:", ["4:7: title: must be text, not blank"]),
        ("title: A first pod", "title: ''", ["4:8: title: must be one line of text"]),
        ("title: A first pod", "title: [a]", ["4:8: title: must be text, not a list"]),
        ("title: A first pod", "title: 5", ["4:8: title: must be text, not 5 (put it in quotes)"]),
        (
            "title: A first pod",
            "titel: A first pod",
            [
                "2:1: missing key 'title'",
                (
                    "4:1: unknown key 'titel'; allowed: format, lab, title, minutes, after, workdir, namespace, "
                    "languages, cluster, values (did you mean 'title'?)"
                ),
            ],
        ),
        ("minutes: 10", "minutes: 0", ["5:10: minutes: must be 1 or more"]),
        ("minutes: 10", "minutes: 601", ["5:10: minutes: must be 600 or less"]),
        ("minutes: 10", "minutes: ten", ["5:10: minutes: must be a whole number, not 'ten'"]),
        ("minutes: 10", "minutes: 10\nminutes: 11", ["6:1: duplicate key 'minutes' (first on line 5)"]),
        ("minutes: 10", "minutes: 10\nafter: lab-a", ["6:8: after: must be a list, not 'lab-a'"]),
        (
            "minutes: 10",
            "minutes: 10\nafter: [lab-hello]",
            ["6:9: a lab can't come after itself"],
        ),
        (
            "minutes: 10",
            "minutes: 10\nafter:\n  - lab-a\n  - lab-a",
            [
                "7:5: no lab 'lab-a' beside this one",
                "8:5: 'lab-a' again (first on line 7)",
                "8:5: no lab 'lab-a' beside this one",
            ],
        ),
        *(
            (
                "workdir: hello",
                f"workdir: {name}",
                ["6:10: workdir: must be a plain folder name: letters, digits, '.', '_', '-', no '/'"],
            )
            for name in ("../x", "a/b", "/x", "..", "'a b'", "''", ".ssh", "가")
        ),
        *(
            (
                "namespace: hello",
                f"namespace: {name}",
                [
                    (
                        f"7:12: namespace: '{name.strip(chr(39))}' is no DNS-1123 label: "
                        "lower-case letters, digits and inner hyphens, at most 63"
                    )
                ],
            )
            for name in ("Hello", "a_b", "-a", "a-", "a.b", "'a b'", "x" * 64)
        ),
        ("cluster:\n", "cluster: {}\nclusters:\n", None),
        (NODE, "    - {name: gpu-a, gpus: 4}\n", ["11:14: 'gpu-a' again (first on line 10)"]),
        (NODE, "    - {gpus: 4}\n", ["11:7: cluster.nodes[1]: missing key 'name'"]),
        (NODE, "    - gpu-b\n", ["11:7: cluster.nodes[1]: must be a mapping (key: value), not 'gpu-b'"]),
        (
            NODE,
            "    - {name: gpu-b, gpu: 4}\n",
            [
                (
                    "11:21: cluster.nodes[1]: unknown key 'gpu'; allowed: name, real, gpus, labels, taint "
                    "(did you mean 'gpus'?)"
                )
            ],
        ),
        (NODE, "    - {name: gpu-b, gpus: true}\n", ["11:27: cluster.nodes[1].gpus: must be a whole number, not true"]),
        (NODE, "    - {name: gpu-b, gpus: 4Gi}\n", ["11:27: cluster.nodes[1].gpus: must be a whole number, not '4Gi'"]),
        (NODE, "    - {name: gpu-b, gpus: -1}\n", ["11:27: cluster.nodes[1].gpus: must be 0 or more"]),
        (NODE, "    - {name: gpu-b, gpus: 65}\n", ["11:27: cluster.nodes[1].gpus: must be 64 or less"]),
        (NODE, "    - {name: gpu-b, real: 1}\n", ["11:27: cluster.nodes[1].real: must be true or false, not 1"]),
        (
            NODE,
            "    - {name: gpu-b, real: true}\n    - {name: gpu-c, real: true}\n",
            ["12:27: a second real node (the first on line 11): a lab may have one"],
        ),
        (
            NODE,
            "    - {name: GPU, labels: {rack: 1, a b: c}}\n",
            [
                "11:14: cluster.nodes[1].name: 'GPU' is no DNS-1123 name: lower-case letters, digits, '-' and '.'",
                "11:34: cluster.nodes[1].labels.rack: must be text, not 1 (put it in quotes)",
            ],
        ),
        (NODE, "    - {name: b, labels: {a b: c}}\n", ["11:25: cluster.nodes[1].labels: 'a b' is no label key"]),
        (NODE, "    - {name: b, labels: {a: c/d}}\n", ["11:25: cluster.nodes[1].labels: 'c/d' is no label value"]),
        (
            "cluster:\n",
            "cluster:\n  addons: [lwx, lws, lws]\n",
            [
                (
                    "9:12: cluster.addons[0]: unknown add-on 'lwx'; allowed: jobset, lws, kueue, trainer, "
                    "mpi-operator, training-operator (did you mean 'lws'?)"
                ),
                "9:22: 'lws' again (first on line 9)",
            ],
        ),
        (
            "cluster:\n",
            "cluster:\n  addons: [kueue, trainer]\n",
            ["9:19: the add-on 'trainer' needs the add-on 'jobset' beside it: name both"],
        ),
        ("cluster:\n", "cluster:\n  addons: [trainer, jobset]\n", []),
        (
            "cluster:\n",
            "cluster:\n  addons: [training-operator, lws, mpi-operator]\n",
            [
                (
                    "9:36: the add-ons 'mpi-operator' and 'training-operator' can't be in one cluster: "
                    "both own MPIJob, each in another version"
                ),
            ],
        ),
        ("cluster:\n", "cluster:\n  addons: lws\n", ["9:11: cluster.addons: must be a list, not 'lws'"]),
    ],
)
def test_each_refusal_with_its_place(spoil: Spoil, old: str, new: str, problems: list[str] | None) -> None:
    if problems is None:
        problems = [
            "8:10: cluster: missing key 'nodes'",
            (
                "9:1: unknown key 'clusters'; allowed: format, lab, title, minutes, after, workdir, namespace, "
                "languages, cluster, values (did you mean 'cluster'?)"
            ),
        ]
    assert spoil("lab.md", old, new) == [f"lab.md:{problem}" for problem in problems]


def test_faults_between_values_are_told_beside_faults_of_values(spoil: Spoil) -> None:
    found = spoil("lab.md", NODE, "    - {name: gpu-a, gpus: x}\n    - 3\n    - {name: gpu-a, real: true}\n")
    assert [problem.split(": ")[0] for problem in found] == [
        "lab.md:11:14",
        "lab.md:11:27",
        "lab.md:12:7",
        "lab.md:13:14",
    ]


@pytest.mark.parametrize("matter", ["- a\n", "text\n", "5\n"])
def test_front_matter_that_is_no_mapping(lab: Path, matter: str) -> None:
    (lab / "lab.md").write_text(f"---\n{matter}---\nHi\n\n## One {{#one}}\n")
    assert f"{lab}/lab.md:2:1: must be a mapping (key: value)" in map(str, parse_lab(lab)[1])


def test_empty_front_matter(lab: Path) -> None:
    (lab / "lab.md").write_text("---\n---\nHi\n\n## One {#one}\n")
    assert f"{lab}/lab.md:2:1: is empty" in map(str, parse_lab(lab)[1])


def test_what_is_allowed(lab: Path, spoil: Spoil) -> None:
    more = "    - {name: node.rack-1.x, gpus: 0, labels: {example.com/a: '', b: A_b.c-1}}\n"
    assert spoil("lab.md", NODE, NODE + more) == []
    parsed, _found = parse_lab(lab)
    assert parsed is not None
    assert parsed.cluster.nodes[2].labels == {"example.com/a": "", "b": "A_b.c-1"}


@pytest.mark.parametrize(
    ("old", "new", "problems"),
    [
        ("format: 1", "format: 2", ["2:9: format 2 is newer than this version knows (1): upgrade batchlab"]),
        ("title: 첫 파드\n", "", ["2:1: missing key 'title'"]),
        ("lab: lab-hello", "lab: lab-x", ["3:6: lab 'lab-x' is not the name of its folder, 'lab-hello'"]),
        ("title: 첫", "minutes: 10\ntitle: 첫", ["4:1: unknown key 'minutes'; allowed: format, lab, title"]),
    ],
)
def test_front_matter_of_a_translation(spoil: Spoil, old: str, new: str, problems: list[str]) -> None:
    assert spoil("lab.ko.md", old, new) == [f"lab.ko.md:{problem}" for problem in problems]
