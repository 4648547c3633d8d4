"""`answer`: key=value files against live and past objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.checks.world import HistoryGap

if TYPE_CHECKING:
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Llm, Look, Write

ENV = """
answer:
  file: env.txt
  with:
    pod: {kind: Pod, name: llm-1-1, when: written}
  fields:
    LWS_LEADER_ADDRESS: "{{ pod | env('LWS_LEADER_ADDRESS') }}"
    LWS_GROUP_SIZE: "{{ pod | env('LWS_GROUP_SIZE') }}"
    LWS_WORKER_INDEX: "{{ pod | env('LWS_WORKER_INDEX') }}"
"""
RIGHT = "LWS_LEADER_ADDRESS=llm-1.llm.infer\nLWS_GROUP_SIZE=2\nLWS_WORKER_INDEX=1\n"


@pytest.mark.parametrize(
    "text",
    [
        RIGHT,
        "".join(reversed(RIGHT.splitlines(keepends=True))),
        RIGHT.rstrip("\n"),
        RIGHT.replace("\n", "\r\n"),
        "\ufeff" + RIGHT,
        "# what the pod was told\n\n" + RIGHT.replace("\n", "\n\n"),
        RIGHT.replace("=", " = "),
        "\n".join(f"export {line}" for line in RIGHT.splitlines()),
        "LWS_LEADER_ADDRESS=\"llm-1.llm.infer\"\nLWS_GROUP_SIZE='2'\nLWS_WORKER_INDEX=1",
    ],
    ids=["plain", "order", "no-end", "crlf", "bom", "blank", "spaces", "export", "quotes"],
)
def test_right_in_any_writing(text: str, llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("env.txt", text)
    assert look(ENV).passed


@pytest.mark.parametrize(
    ("text", "saw", "where"),
    [
        (
            RIGHT.replace("llm-1.", "llm-0."),
            'line 1: LWS_LEADER_ADDRESS is not what Pod infer/llm-1-1 had, but "llm-0.llm.infer"',
            ("env.txt:1",),
        ),
        (
            RIGHT.replace("INDEX=1", "INDEX=0"),
            'line 3: LWS_WORKER_INDEX is not what Pod infer/llm-1-1 had, but "0"',
            ("env.txt:3",),
        ),
        (RIGHT.replace("LWS_GROUP_SIZE=2\n", ""), "no line for LWS_GROUP_SIZE", ("env.txt",)),
        (RIGHT + "LWS_GROUP_SIZE=2\n", "line 4: LWS_GROUP_SIZE again, after line 2", ("env.txt:4",)),
        (RIGHT + "PATH=/bin\n", 'line 4: "PATH" is not asked for', ("env.txt:4",)),
        (RIGHT + "and so on\n", 'line 4 is not key=value: "and so on"', ("env.txt:4",)),
        (RIGHT.replace("SIZE=2", "SIZE="), "line 2: LWS_GROUP_SIZE is empty", ("env.txt:2",)),
    ],
    ids=["other-leader", "edited", "left-out", "twice", "too-much", "no-pair", "empty"],
)
def test_wrong(text: str, saw: str, where: tuple[str, ...], llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("env.txt", text)
    finding = look(ENV).finding
    assert (finding.saw, finding.where) == (saw, where)


def test_never_tells_the_answer(llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("env.txt", "LWS_LEADER_ADDRESS=x\nLWS_GROUP_SIZE=9\nLWS_WORKER_INDEX=8\n")
    finding = look(ENV).finding
    assert "llm-1.llm" not in f"{finding}"
    assert finding.wanted == "env.txt with LWS_LEADER_ADDRESS, LWS_GROUP_SIZE, LWS_WORKER_INDEX"


def test_extra_lines_where_they_are_allowed(llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("env.txt", RIGHT + "PATH=/bin\nPATH=/usr/bin\n")
    assert look(ENV + "  extra: allow\n").passed


def test_as_it_was_when_written(llm: Llm, look: Look, write: Write) -> None:
    """The pod of then is gone; its successor was told something else."""
    text = """
answer:
  file: uid.txt
  with: {pod: {kind: Pod, name: llm-0, when: written}}
  fields: {uid: "{{ pod.metadata.uid }}"}
"""
    llm.apply()
    write("uid.txt", f"uid={llm.uid('llm-0')}\n")
    assert look(text).passed
    llm.recreate()
    assert look(text).passed
    assert not look(text.replace("when: written", "when: now")).passed


def test_gap_at_the_time_of_writing(llm: Llm, look: Look, write: Write, trace: Trace) -> None:
    text = """
answer:
  file: uid.txt
  with: {pod: {kind: Pod, name: llm-0, when: written}}
  fields: {uid: "{{ pod.metadata.uid }}"}
"""
    llm.apply()
    start = trace.now
    trace.wait(1)
    write("uid.txt", "uid=something\n")
    trace.wait(1)
    trace.gap("Pod", start)
    with pytest.raises(HistoryGap):
        look(text)
    write("uid.txt", f"uid={llm.uid('llm-0')}\n")  # right now: the gap does not matter
    assert look(text).passed


def test_object_is_missing(look: Look, write: Write) -> None:
    write("env.txt", RIGHT)
    verdict = look(ENV)
    assert not verdict.passed
    assert verdict.finding.saw == "no Pod infer/llm-1-1"


def test_value_not_there_yet(llm: Llm, look: Look, write: Write) -> None:
    llm.create_set()
    llm.create(1, 0)
    write("ip.txt", "ip=10.88.0.7\n")
    verdict = look("""
answer:
  file: ip.txt
  with: {pod: {kind: Pod, name: llm-1}}
  fields: {ip: "{{ pod.status.podIP }}"}
""")
    assert (verdict.passed, verdict.moving) == (False, True)
    assert verdict.finding.saw == "the cluster does not show it (yet): there is no podIP"


def test_file_is_missing(llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("ENV.txt", RIGHT)
    verdict = look(ENV)
    assert not verdict.passed
    assert verdict.finding.saw == "env.txt does not exist (there is ENV.txt)"


RESTARTED = """
happened:
  recreated:
    of: {kind: Pod, selector: leaderworkerset.sigs.k8s.io/name=llm}
    group_by: metadata.labels["leaderworkerset.sigs.k8s.io/group-index"]
    group: "0"
"""
BEFORE = """
answer:
  file: restart.txt
  with:
    leader0: {kind: Pod, name: llm-0, before: restarted}
    leader1: {kind: Pod, name: llm-1, before: restarted}
  fields:
    group0_before: "{{ leader0.metadata.uid }}"
    group1_before: "{{ leader1.metadata.uid }}"
"""


class TestBeforeAnIncident:
    """Step 5 of lab-lws: the UIDs from before the restart."""

    @staticmethod
    def note(llm: Llm) -> str:
        return f"group0_before={llm.uid('llm-0')}\ngroup1_before={llm.uid('llm-1')}\n"

    def test_noted_before(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("restart.txt", self.note(llm))
        llm.fail()
        llm.recreate()
        assert look(BEFORE, restarted=RESTARTED).passed

    def test_noted_after(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        llm.fail()
        llm.recreate()
        write("restart.txt", self.note(llm))
        verdict = look(BEFORE, restarted=RESTARTED)
        assert not verdict.passed
        assert verdict.finding.saw.startswith("line 1: group0_before is not what Pod infer/llm-0 had, but ")
        assert verdict.finding.where == ("restart.txt:1",)

    def test_noted_after_and_failed_again(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        llm.fail()
        llm.recreate()
        write("restart.txt", self.note(llm))
        llm.trace.wait(30)
        llm.fail()
        llm.recreate()
        assert look(BEFORE, restarted=RESTARTED).passed

    def test_swapped(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("restart.txt", f"group0_before={llm.uid('llm-1')}\ngroup1_before={llm.uid('llm-0')}\n")
        llm.fail()
        llm.recreate()
        verdict = look(BEFORE, restarted=RESTARTED)
        assert verdict.finding.where == ("restart.txt:1", "restart.txt:2")

    def test_one_of_each_incident_is_wrong(self, llm: Llm, look: Look, write: Write) -> None:
        """Group 1's UID changed between the two incidents: both UIDs must be of one time."""
        llm.apply()
        first = llm.uid("llm-1")
        llm.fail()
        llm.recreate()
        llm.trace.wait(30)
        llm.recreate(1)
        llm.trace.wait(30)
        write("restart.txt", f"group0_before={llm.uid('llm-0')}\ngroup1_before={first}\n")
        llm.fail()
        llm.recreate()
        assert not look(BEFORE, restarted=RESTARTED).passed
        write("restart.txt", f"group0_before={llm.uid('llm-0')}\ngroup1_before={llm.uid('llm-1')}\n")
        assert not look(BEFORE, restarted=RESTARTED).passed

    def test_nothing_has_happened(self, llm: Llm, look: Look, write: Write) -> None:
        llm.apply()
        write("restart.txt", self.note(llm))
        verdict = look(BEFORE, restarted=RESTARTED)
        assert not verdict.passed
        assert verdict.finding.saw == "this has not happened yet: it is so"


def test_an_object_whose_name_is_the_answer_is_not_named(llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    text = """
answer:
  file: leader.txt
  with:
    leader:
      kind: Pod
      selector: leaderworkerset.sigs.k8s.io/group-index=0,leaderworkerset.sigs.k8s.io/worker-index=0
  fields: {pod: "{{ leader.metadata.name }}"}
"""
    write("leader.txt", "pod=llm-1\n")
    saw = look(text).finding.saw
    assert saw.startswith("line 1: pod is not what Pod[group-index=0,")
    assert "llm-0" not in saw
    write("leader.txt", "pod=llm-0\n")
    assert look(text).passed


def test_a_place_holder_with_a_value_in_it(llm: Llm, look: Look, write: Write) -> None:
    llm.apply()
    write("env.txt", RIGHT.replace("LWS_GROUP_SIZE=2", "LWS_GROUP_SIZE=<2>"))
    verdict = look(ENV)
    line = RIGHT[: RIGHT.index("LWS_GROUP_SIZE")].count("\n") + 1
    assert verdict.finding.saw == (f'line {line}: "<2>" stands for what belongs there; write that, without < and >')
