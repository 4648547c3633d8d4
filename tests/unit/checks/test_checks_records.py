"""`records`: one line for each object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Llm, Look, Write

NAMES = """
records:
  file: names.txt
  each: {kind: Pod, selector: leaderworkerset.sigs.k8s.io/name=llm}
  when: written
  line: >-
    pod={{ metadata.name }}
    group={{ metadata.labels['leaderworkerset.sigs.k8s.io/group-index'] }}
    worker={{ metadata.labels['leaderworkerset.sigs.k8s.io/worker-index'] }}
"""
LINES = [
    "pod=llm-0 group=0 worker=0",
    "pod=llm-0-1 group=0 worker=1",
    "pod=llm-1 group=1 worker=0",
    "pod=llm-1-1 group=1 worker=1",
]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(LINES),
        "\n".join(reversed(LINES)) + "\n",
        "\r\n".join(LINES) + "\r\n",
        "\ufeff# my pods\n\n" + "\n\n".join(LINES),
        "\n".join(line.replace(" ", "\t  ") + "  " for line in LINES),
        "\n".join(" ".join(reversed(line.split())) for line in LINES),
    ],
    ids=["plain", "order", "crlf", "bom-blank-comment", "gaps", "words-reversed"],
)
def test_right_in_any_writing(text: str, llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("names.txt", text)
    assert look(NAMES).passed


@pytest.mark.parametrize(
    ("lines", "saw", "where"),
    [
        (
            [*LINES[:3], "pod=llm-1-1 group=1 worker=2"],
            'line 4: "worker=2" does not go with "pod=llm-1-1 group=1"',
            ("names.txt:4",),
        ),
        (
            [*LINES[:2], "pod=llm-1 worker=1 group=0"],
            'line 3: "worker=1 group=0" does not go with "pod=llm-1"; 1 of 4 Pod objects without a line',
            ("names.txt:3",),
        ),
        ([*LINES[:3], "pod=llm-1-1"], 'line 4: no Pod has these values: "pod=llm-1-1"', ("names.txt:4",)),
        (
            [*LINES[:3], "pod=llm-1-1, group=1, worker=1"],
            'line 4: no Pod has these values: "pod=llm-1-1, group=1, worker=1"',
            ("names.txt:4",),
        ),
        (LINES[:3], "1 of 4 Pod objects without a line", ("names.txt",)),
        (
            [LINES[0], *LINES],
            "line 2 repeats line 1",
            ("names.txt:2",),
        ),
        (
            [LINES[0], LINES[0], *LINES[2:]],
            "line 2 repeats line 1; 1 of 4 Pod objects without a line",
            ("names.txt:2",),
        ),
        (
            [*LINES, "pod=wide-0 group=0 worker=0"],
            'line 5: no Pod has these values: "pod=wide-0 group=0 worker=0"',
            ("names.txt:5",),
        ),
    ],
    ids=[
        "shifted",
        "two-words",
        "too-short",
        "commas",
        "one-missing",
        "duplicate",
        "duplicate-instead",
        "of-another-set",
    ],
)
def test_wrong(lines: list[str], saw: str, where: tuple[str, ...], llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("names.txt", "\n".join(lines))
    finding = look(NAMES).finding
    assert (finding.saw, finding.where) == (saw, where)
    assert (
        finding.wanted
        == "one line pod=… group=… worker=… for each of Pod[leaderworkerset.sigs.k8s.io/name=llm] in infer"
    )
    assert finding.look_at == "kubectl -n infer get pod -l 'leaderworkerset.sigs.k8s.io/name=llm'"


def test_all_shifted(llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    shifted = [line.replace("worker=1", "worker=2").replace("worker=0", "worker=1") for line in LINES]
    write("names.txt", "\n".join(shifted))
    finding = look(NAMES).finding
    assert len(finding.where) == 3  # the first few
    assert finding.saw.endswith('line 3: "worker=1" does not go with "pod=llm-1 group=1"; more lines like that: 1')


def test_pods_of_then(llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("names.txt", "\n".join(LINES))
    llm.trace.wait(60)
    llm.delete_set()
    assert look(NAMES).passed
    assert not look(NAMES.replace("when: written", "when: now")).passed


def test_no_objects_at_all(look: Look, write: Write) -> None:
    write("names.txt", "pod=llm-0 group=0 worker=0\n")
    verdict = look(NAMES)
    assert not verdict.passed
    assert verdict.finding.saw == "no Pod[leaderworkerset.sigs.k8s.io/name=llm] in infer"


def test_objects_in_another_namespace(trace: Trace, look: Look, write: Write) -> None:
    labels = {"leaderworkerset.sigs.k8s.io/name": "llm"}
    trace.put({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "llm-0", "namespace": "old", "labels": labels}})
    write("names.txt", "pod=llm-0 group=0 worker=0\n")
    assert look(NAMES).finding.saw == "no Pod[leaderworkerset.sigs.k8s.io/name=llm] in infer (there is Pod old/llm-0)"


def test_pod_on_its_way_out_has_no_line(llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    llm.doom("llm-1-1")
    write("names.txt", "\n".join(LINES[:3]))
    assert look(NAMES).passed


def test_the_form_tells_nothing_of_the_values(llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("names.txt", "x")
    check = """
    records:
      file: names.txt
      each: {kind: Pod}
      line: "{{ metadata.name }} at fqdn={{ spec.hostname }}.{{ namespace }}.svc kind=Pod"
    """
    assert look(check).finding.wanted == "one line … at fqdn=… kind=Pod for each of Pod in infer"
