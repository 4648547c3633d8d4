"""`quotes`: the cluster's own message, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from grader.checks.objects import Object
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Look, Write

MESSAGE = (
    "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) had untolerated "
    "taint(s). preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod."
)
QUOTES = "quotes: {file: partial.txt, of: {kind: Pod, name: orphan-0-1}, when: written}"


def waiting(message: str = MESSAGE) -> Object:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "orphan-0-1", "namespace": "infer", "uid": "one"},
        "status": {"phase": "Pending", "conditions": [{"type": "Other", "status": "True"}, condition]},
    }


@pytest.mark.parametrize(
    "text",
    [
        MESSAGE,
        f"Message:  {MESSAGE}\nand more\n",
        MESSAGE.upper().replace(" ", "\n   "),
        MESSAGE[:50] + "\r\n" + MESSAGE[50:],
        f'{{"message": "{MESSAGE}"}}',
    ],
    ids=["plain", "within", "case-and-space", "wrapped-in-a-word", "json"],
)
def test_quoted(text: str, trace: Trace, look: Look, write: Write) -> None:
    trace.put(waiting())
    write("partial.txt", text)
    assert look(QUOTES).passed


@pytest.mark.parametrize(
    ("text", "saw"),
    [
        ("no GPU is free", 'partial.txt says "no GPU is free"'),
        (
            MESSAGE[: MESSAGE.index("victims")] + "prey",
            'partial.txt quotes it as far as "…0/3 nodes are available: 1 No preemption", then it says "prey"',
        ),
        (
            MESSAGE[:45],
            'partial.txt quotes it as far as "…odes are available: 1 Insufficient nvidi", and ends there',
        ),
    ],
    ids=["paraphrase", "edited", "half"],
)
def test_not_quoted(text: str, saw: str, trace: Trace, look: Look, write: Write) -> None:
    trace.put(waiting())
    write("partial.txt", text)
    finding = look(QUOTES).finding
    assert finding.saw == saw
    assert finding.where == ("partial.txt", "Pod infer/orphan-0-1")
    assert "Insufficient nvidia.com/gpu" not in finding.wanted


def test_message_of_then(trace: Trace, look: Look, write: Write) -> None:
    pod = trace.put(waiting())
    write("partial.txt", MESSAGE)
    trace.put({**pod, "status": waiting("0/4 nodes are available")["status"]})
    assert look(QUOTES).passed
    assert not look(QUOTES.replace("when: written", "when: now")).passed


def test_no_message(trace: Trace, look: Look, write: Write) -> None:
    pod = waiting()
    pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "True"}]
    trace.put(pod)
    write("partial.txt", "anything")
    verdict = look(QUOTES)
    assert not verdict.passed
    assert verdict.finding.saw == "the cluster gives no message (yet): there is no message"


def test_no_pod(look: Look, write: Write) -> None:
    write("partial.txt", "anything")
    assert look(QUOTES).finding.saw == "there is no Pod infer/orphan-0-1"


def test_message_of_any_kind(trace: Trace, look: Look, write: Write) -> None:
    text = """
quotes:
  file: why.txt
  of: {kind: Workload, name: w}
  message: "{{ (status.conditions | named('QuotaReserved')).message }}"
"""
    trace.put(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": {"name": "w", "namespace": "infer"},
            "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": "2 more needed"}]},
        }
    )
    write("why.txt", "it says: 2 more  needed")
    assert look(text).passed
