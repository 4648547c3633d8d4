"""Values in a lab: what may be declared, where they may stand, and every mistake with its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.checks.answer import Answer
from grader.checks.file import FileCheck
from grader.checks.resource import Resource
from grader.lab.filling import Filler, Misfit
from grader.lab.lint import lint_lab
from grader.lab.model import Lab
from grader.lab.parse import parse_lab
from grader.lab.values import LETTERS, ValueMatter, digest, draw, environment, example, fits, trials

Spoil = Callable[..., list[str]]
ONE = ValueMatter(one_of=(2, 3, 4))
RANGE = ValueMatter.model_validate({"from": 30000, "to": 30002})
WORDS = ValueMatter(letters=4)
FILLER: dict[str, int | str] = {"n": 3, "m": 4, "s": "bcdf", "image": "busybox:1.36"}


# -- what may be declared -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("{}", "values.n: say one of: one_of, from and to, letters"),
        ("{one_of: [1, 2], letters: 3}", "values.n: say one of: one_of, from and to, letters"),
        ("{from: 1}", "values.n: 'from' and 'to' belong together"),
        ("{from: 2, to: 2}", "values.n: 'from' must be less than 'to'"),
        ("{from: -1, to: 2}", "values.n.from: must be 0 or more"),
        ("{one_of: [1]}", "values.n.one_of: must have at least 2 entries"),
        ("{one_of: [1, two]}", "values.n: one_of: all numbers or all text, not both"),
        ("{one_of: [a, a]}", "values.n: one_of: the same value again"),
        (
            "{one_of: ['a b', c]}",
            "values.n: one_of: 'a b': letters, digits and . _ : / @ + - inside, at most 63",
        ),
        ("{letters: 1}", "values.n.letters: must be 2 or more"),
        ("{leters: 4}", "values.n: unknown key 'leters'; allowed: one_of, from, to, letters (did you mean 'letters'?)"),
        ("3", "values.n: must be a mapping (key: value), not 3"),
    ],
)
def test_each_refusal(spoil: Spoil, written: str, problem: str) -> None:
    found = spoil("lab.md", "  - {name: gpu-b, gpus: 4}\n", f"  - {{name: gpu-b, gpus: 4}}\nvalues:\n  n: {written}\n")
    assert [one.partition(": ")[2] for one in found if "nothing uses" not in one] == [problem]
    assert all(one.startswith("lab.md:13:") for one in found)


def test_names_are_plain(spoil: Spoil) -> None:
    found = spoil(
        "lab.md",
        "  - {name: gpu-b, gpus: 4}\n",
        "  - {name: gpu-b, gpus: 4}\nvalues:\n  N-1: {letters: 4}\n",
    )
    assert found[1] == "lab.md:13:3: values: key 'N-1': must match ^[a-z][a-z0-9_]*$"


def test_what_is_drawn_is_what_was_declared_and_all_of_it() -> None:
    declared = {"n": ONE, "port": RANGE, "s": WORDS}
    many = [draw(declared) for _each in range(300)]
    assert {one["n"] for one in many} == {2, 3, 4}
    assert {one["port"] for one in many} == {30000, 30001, 30002}
    assert len({one["s"] for one in many}) > 250
    assert {letter for one in many for letter in str(one["s"])} == set(LETTERS)
    assert all(fits(declared[name], value) for one in many for name, value in one.items())


@pytest.mark.parametrize(
    ("matter", "value"),
    [
        *((ONE, value) for value in (5, "2", True, 2.0)),
        *((RANGE, value) for value in (29999, 30003, "30000", True)),
        *((WORDS, value) for value in ("bcd", "bcda", "BCDF", 1234, None)),
    ],
)
def test_what_could_not_have_been_drawn(matter: ValueMatter, value: Any) -> None:
    assert not fits(matter, value)


def test_a_lab_is_proved_with_every_choice_and_both_ends() -> None:
    sets = trials({"n": ONE, "port": RANGE, "s": WORDS})
    assert [one["n"] for one in sets] == [2, 3, 4]
    assert [one["port"] for one in sets] == [30000, 30002, 30000]
    assert not set(str(sets[0]["s"])) & set(str(sets[1]["s"]))
    assert all(fits({"n": ONE, "port": RANGE, "s": WORDS}[name], value) for one in sets for name, value in one.items())
    assert sets == trials({"n": ONE, "port": RANGE, "s": WORDS})
    assert example({"n": ONE}) == {"n": 2}
    assert (trials({}), example({})) == ([], {})


def test_a_digest_knows_values_not_their_order() -> None:
    assert digest({"a": 1, "b": "x"}) == digest({"b": "x", "a": 1})
    assert len({digest({"a": 1}), digest({"a": "1"}), digest({"a": 2}), digest({})}) == 4


def test_variables() -> None:
    assert environment({"port_a": 3, "s": "x"}) == {"VALUES_PORT_A": "3", "VALUES_S": "x"}


# -- filling -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{ values.n }} pods", "3 pods"),
        ("{{values.n}}", "3"),
        ("{{- values.n -}}", "3"),
        ("{{ values.n * values.m + 1 }} of {{ values.s|upper }}", "13 of BCDF"),
        ("web-{{ values.s }}.{{ values.image }}", "web-bcdf.busybox:1.36"),
        ("{{ values.n > 2 }}", "true"),
        ("{{ .Values.n }} {{ x }} {{ values_n }} {{ spec.values.n }} {% raw %}", None),
        ("{{#if values}} {{/if}} {{", None),
        ("values.n and $values and {values}", None),
    ],
)
def test_prose(text: str, filled: str | None) -> None:
    if filled is None and "#if values" in text:
        with pytest.raises(Misfit):
            Filler(FILLER).prose(text)
        return
    assert Filler(FILLER).prose(text) == (text if filled is None else filled)


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{{ values.n }}", 3),
        (" {{ values.n * 2 }} ", 6),
        ("{{ values.n | string }}", "3"),
        ("{{ values.s }}", "bcdf"),
        ("{{ values.n }}{{ values.m }}", "34"),
        ("{{ pod.metadata.name }}", "{{ pod.metadata.name }}"),
        ("{{ pod.metadata.name }}-{{ values.s }}", "{{ pod.metadata.name }}-bcdf"),
        ("{{ pod.spec.nodeName ~ values.s }}", "{{ pod.spec.nodeName ~ 'bcdf' }}"),
        ("{{ spec.values.n }} {{ values.n }}", "{{ spec.values.n }} 3"),
        (
            "{% if values.n > 2 %}{{ spec.a }}{% else %}{{ values.s }}{% endif %}",
            "{% if 3 > 2 %}{{ spec.a }}{% else %}bcdf{% endif %}",
        ),
        ("{{ values.n }} and {{ broken }", "{{ values.n }} and {{ broken }"),
    ],
)
def test_templates(text: str, filled: Any) -> None:
    found = Filler(FILLER).template(text)
    assert found == filled
    assert type(found) is type(filled)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ values.x }}", "no value 'x' in the front matter"),
        ("{{ values.imge }}", "no value 'imge' in the front matter (did you mean 'image'?)"),
        ("{{ values }}", "write 'values.name', with a name of the front matter"),
        ("{{ values['n'] }}", "write 'values.name', with a name of the front matter"),
        ("{{ values.n / 0 }}", "'3 / 0': division by zero"),
        ("{{ [values.n] }}", "gives neither text nor a number"),
    ],
)
def test_what_can_not_be_filled(text: str, message: str) -> None:
    for fill in (Filler(FILLER).prose, Filler(FILLER).plain, Filler(FILLER).template):
        with pytest.raises(Misfit) as refused:
            fill(text)
        assert (refused.value.message, refused.value.code) == (message, text)


def test_no_python_can_be_reached() -> None:
    for text in ("{{ values.s.__class__ }}", "{{ values.s.format.__globals__ }}", "{{ ''.__class__ ~ values.s }}"):
        with pytest.raises(Misfit):
            Filler(FILLER).prose(text)


# -- in a lab -----------------------------------------------------------------------------------------


@pytest.fixture
def valued(lab: Path) -> Path:
    """The example lab with two values in every place that can take one; lint finds nothing."""

    def change(name: str, *pairs: tuple[str, str]) -> None:
        text = (lab / name).read_text()
        for old, new in pairs:
            assert text.count(old) == 1, (name, old)
            text = text.replace(old, new)
        (lab / name).write_text(text)

    matter = "    - {name: gpu-b, gpus: 4}\n"
    pods = "kubectl get pods -o wide\n```\n\n```yaml"
    of_team = pods.replace("wide", "wide -l team={{ values.team }}")
    limit, limits = 'nvidia.com/gpu: "1"}', 'nvidia.com/gpu: "{{ values.gpus }}"}'
    change(
        "lab.md",
        (matter, matter + "values:\n  gpus: {one_of: [1, 2]}\n  team: {letters: 4}\n"),
        ("that asks for one GPU, and", "of team {{ values.team }} that asks for {{ values.gpus }} GPUs, and"),
        (pods, of_team),
        ("a pod named hello that asks for one GPU\n", "a pod of {{ values.team }}\n"),
        ("metadata: {name: hello}\n", 'metadata: {name: hello, labels: {team: "{{ values.team }}"}}\n'),
        (limit, limits),
        ("The limit is named `nvidia.com/gpu`.", "The limit is named `nvidia.com/gpu`, and it is {{ values.gpus }}."),
        ('pod.spec.nodeName }}"', 'pod.spec.nodeName }}-{{ values.team }}"\n      gpus: "{{ values.gpus }}"'),
    )
    change(
        "lab.ko.md",
        ("GPU 하나를 요청하는 파드 `", "{{ values.team }} 팀의, GPU {{ values.gpus }}개를 요청하는 파드 `"),
        (pods, of_team),
        ("pod.yaml은 GPU 하나를", "pod.yaml은 GPU {{ values.gpus }}개를"),
    )
    change("start/quota.yaml", ('"4"', '"{{ values.gpus + 3 }}"'))
    change("solution/01-run.sh", ("set -e\n", 'set -e\necho "$VALUES_TEAM ${VALUES_GPUS}"\n'))
    assert lint_lab(lab) == []
    return lab


def loaded(folder: Path, lang: str = "en", **values: int | str) -> Lab:
    lab, problems = parse_lab(folder, lang, values)
    assert lab is not None, problems
    return lab


def test_they_stand_wherever_a_learner_reads(valued: Path) -> None:
    lab = loaded(valued, gpus=2, team="wxyz".replace("y", "z"))
    step = lab.step("run")
    assert "of team wxzz that asks for 2 GPUs" in step.body
    assert not step.body.startswith(">")
    assert step.blocks[0].text.endswith("-l team=wxzz\n")
    assert step.hints[0].text.endswith("and it is 2.")
    assert lab.check("pod-file")[1].says == "pod.yaml is a pod of wxzz"
    korean = loaded(valued, "ko", gpus=2, team="wxzz")
    assert "wxzz 팀의, GPU 2개를" in korean.step("run").body
    assert korean.check("pod-file")[1].says == "pod.yaml은 GPU 2개를 요청하는 파드 hello입니다"


def test_and_wherever_something_is_checked_or_made(valued: Path) -> None:
    lab = loaded(valued, gpus=2, team="bbbb")
    pod_file = lab.check("pod-file")[1].kind
    assert isinstance(pod_file, FileCheck)
    assert pod_file.yaml is not None
    assert pod_file.yaml.match["metadata"] == {"name": "hello", "labels": {"team": "bbbb"}}
    assert pod_file.yaml.match["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": 2}
    answer = lab.check("where-answer")[1].kind
    assert isinstance(answer, Answer)
    assert answer.values == {"node": "{{ pod.spec.nodeName }}-bbbb", "gpus": "2"}
    quota = next(one for one in lab.cluster.manifests if one["kind"] == "ResourceQuota")
    assert quota["spec"]["hard"] == {"requests.nvidia.com/gpu": 5}


def test_those_that_do_not_fit_are_examples(valued: Path) -> None:
    lab = loaded(valued, gpus=7, team="bbbb")
    assert lab.values == {"gpus": 1, "team": "bbbb"}
    assert lab.examples == {"gpus"}
    assert lab.step("run").body.startswith("> `1` (gpus): an example.")


def test_a_lab_without_values_keeps_its_braces(lab: Path, spoil: Spoil) -> None:
    text = "kubectl get pods -o wide\n```\n\n```yaml"
    braces = "echo '{{ values.x }} {{ .Values.y }} {% if %}'\n" + text
    (lab / "lab.ko.md").write_text((lab / "lab.ko.md").read_text().replace(text, braces))
    assert spoil("lab.md", text, braces) == []
    assert "{{ values.x }} {{ .Values.y }} {% if %}" in loaded(lab).step("run").body


@pytest.mark.parametrize(
    ("file", "old", "new", "problems"),
    [
        (
            "lab.md",
            "asks for {{ values.gpus }} GPUs",
            "asks for {{ values.gpu }} GPUs",
            ["22:79: no value 'gpu' in the front matter (did you mean 'gpus'?)"],
        ),
        (
            "lab.md",
            'labels: {team: "{{ values.team }}"}',
            'labels: {team: "{{ values.tam }}"}',
            ["37:49: no value 'tam' in the front matter (did you mean 'team'?)"],
        ),
        (
            "lab.md",
            'labels: {team: "{{ values.team }}"}',
            'labels: {"{{ values.team }}": x}',
            ["37:43: a key can't hold a value"],
        ),
        ("lab.md", "- id: pod-runs", '- id: "pod-{{ values.team }}"', None),
        ("lab.md", "namespace: hello", 'namespace: "{{ values.team }}"', None),
        ("start/quota.yaml", "{{ values.gpus + 3 }}", "{{ values.gpus + pod }}", None),
        ("start/quota.yaml", "name: gpus", 'name: "{{ values.gpux }}"', None),
        (
            "solution/01-run.sh",
            "${VALUES_GPUS}",
            "${VALUES_GPU}",
            ["2:20: no value stands behind $VALUES_GPU (did you mean 'VALUES_GPUS'?)"],
        ),
        (
            "lab.ko.md",
            "GPU {{ values.gpus }}개를 요청하는 파드 `hello`",
            "GPU를 요청하는 파드 `hello`",
            ["10:1: step 'run' says nothing of the value 'gpus', as lab.md does"],
        ),
    ],
)
def test_each_mistake_has_its_place(
    valued: Path, spoil: Spoil, file: str, old: str, new: str, problems: list[str] | None
) -> None:
    found = [one.removeprefix(f"{file}:") for one in spoil(file, old, new)]
    expected = {
        "- id: pod-runs": "id: can't hold a value, it is the same for every learner",
        "namespace: hello": "the front matter can't hold a value: it is the same for every learner",
        "{{ values.gpus + 3 }}": "only values can be used here, not 'pod'",
        "name: gpus": "no value 'gpux' in the front matter (did you mean 'gpus'?)",
    }
    if problems is None:
        assert expected[old] in [one.split(": ", 1)[1] for one in found], found
    else:
        assert found == problems


def test_a_value_that_nothing_uses(spoil: Spoil) -> None:
    found = spoil(
        "lab.md", "  - {name: gpu-b, gpus: 4}\n", "  - {name: gpu-b, gpus: 4}\nvalues:\n  gpus: {one_of: [1, 2]}\n"
    )
    assert found == ["lab.md:13:3: nothing uses the value 'gpus'"]


def test_what_is_wrong_with_one_of_the_values_only(valued: Path, spoil: Spoil) -> None:
    found = spoil(
        "lab.md",
        "  resource:\n    of: {kind: Pod, name: hello}\n    match: {status: {phase: Running}}",
        '  resources:\n    of: {kind: Pod}\n    count: "{{ 1 - values.gpus }}"',
    )
    assert found[0].endswith(": with gpus=2 team=npqr: resources.count: must be 0 or more")
    assert all("with gpus=2" in one for one in found)


def test_a_number_where_text_is_wanted_is_text(valued: Path, spoil: Spoil) -> None:
    assert spoil("lab.md", "of: {kind: Pod, name: hello}", 'of: {kind: Pod, name: "{{ values.gpus }}"}') == []
    kind = loaded(valued, gpus=2, team="bbbb").check("pod-runs")[1].kind
    assert isinstance(kind, Resource)
    assert kind.of.name == "2"
