"""References to what nobody can name beforehand: by owner, or one of several by selector."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from grader.checks.base import ObjectRef, TimedRef
from grader.checks.objects import the_one

if TYPE_CHECKING:
    from pathlib import Path

    from grader.checks.objects import Object
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Look, Write

MESSAGE = "insufficient quota for nvidia.com/gpu in flavor gpu"
TRAIN = "owner: {kind: JobSet, name: train}"


def workload(jobset: str, message: str = MESSAGE, *, name: str = "", kind: str = "JobSet") -> Object:
    """What Kueue makes for a job: its name ends in five characters of a hash."""
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": name or f"jobset-{jobset}-0f3e1",
            "namespace": "infer",
            "ownerReferences": [{"kind": "Other", "name": "x"}, {"kind": kind, "name": jobset}],
        },
        "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "message": message}]},
    }


def leader(name: str, **metadata: str) -> Object:
    """A pod of a Job: its name ends in five random characters."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "infer", "labels": {"role": "leader"}, **metadata},
        "status": {"phase": "Running"},
    }


def aged(name: str, created: int, *, going: bool = False) -> Object:
    metadata = {"name": name, "creationTimestamp": f"2025-11-30T10:00:{created:02}Z"}
    return {"metadata": metadata | ({"deletionTimestamp": "2025-11-30T10:01:00Z"} if going else {})}


class TestTheOne:
    @pytest.mark.parametrize(
        ("objects", "name"),
        [
            ([aged("a", 1)], "a"),
            ([aged("a", 2), aged("b", 1)], "a"),
            ([aged("a", 1), aged("b", 2)], "b"),
            ([aged("a", 1), aged("b", 2, going=True)], "a"),
            ([aged("a", 2, going=True), aged("b", 1, going=True)], "a"),
        ],
    )
    def test_of_several_the_youngest_that_stays(self, objects: list[Object], name: str) -> None:
        one = the_one(objects)
        assert one is not None
        assert one["metadata"]["name"] == name

    def test_of_none(self) -> None:
        assert the_one([]) is None


class TestOwner:
    def test_only_what_belongs_to_it(self, trace: Trace, tmp_path: Path) -> None:
        mine = trace.put(workload("train"))
        trace.put(workload("other"))
        trace.put(workload("train", name="job-train-77777", kind="Job"))
        trace.put(leader("train-leader-0-0-x"))
        world = trace.world(tmp_path, namespace="infer")
        ref = ObjectRef.model_validate({"kind": "Workload", "owner": {"kind": "JobSet", "name": "train"}})
        assert world.select(ref) == [mine]
        assert world.get(ref) == mine
        assert world.select_at(ref, trace.now) == [mine]
        assert [change.uid for change in world.changes(ref)] == [mine["metadata"]["uid"]]
        assert ref.title("infer") == "Workload of JobSet train in infer"

    def test_together_with_a_selector(self, trace: Trace, tmp_path: Path) -> None:
        labelled = workload("train")
        labelled["metadata"]["labels"] = {"a": "b"}
        trace.put(labelled)
        trace.put(workload("train", name="jobset-train-22222"))
        world = trace.world(tmp_path, namespace="infer")
        ref = ObjectRef.model_validate(
            {"kind": "Workload", "selector": "a=b", "owner": {"kind": "JobSet", "name": "train"}}
        )
        assert [found["metadata"]["name"] for found in world.select(ref)] == ["jobset-train-0f3e1"]

    def test_short_names_of_kinds(self, trace: Trace, tmp_path: Path) -> None:
        trace.put(workload("llm", kind="LeaderWorkerSet"))
        ref = ObjectRef.model_validate({"kind": "Workload", "owner": {"kind": "LWS", "name": "llm"}})
        assert len(trace.world(tmp_path, namespace="infer").select(ref)) == 1

    def test_counted(self, trace: Trace, look: Look) -> None:
        trace.put(workload("train"))
        trace.put(workload("other"))
        assert look(f"resources: {{of: {{kind: Workload, {TRAIN}}}, count: 1}}").passed
        trace.put(workload("train", name="jobset-train-11111"))
        assert not look(f"resources: {{of: {{kind: Workload, {TRAIN}}}, count: 1}}").passed

    def test_never(self, trace: Trace, look: Look) -> None:
        never = f"happened: {{never: {{of: {{kind: Workload, {TRAIN}}}}}}}"
        trace.put(workload("other"))
        assert look(never).passed
        trace.remove(trace.put(workload("train")))
        assert look(never).finding.saw.startswith("Workload infer/jobset-train-0f3e1 was there at ")

    def test_quoted(self, trace: Trace, look: Look, write: Write) -> None:
        text = (
            f"quotes: {{file: quota.txt, of: {{kind: Workload, {TRAIN}}}, "
            "message: \"{{ (status.conditions | named('QuotaReserved')).message }}\"}"
        )
        write("quota.txt", MESSAGE)
        assert look(text).finding.saw == "there is no Workload of JobSet train in infer"
        trace.put(workload("other"))
        assert not look(text).passed
        trace.put(workload("train"))
        assert look(text).passed
        write("quota.txt", "the quota is too small")
        assert not look(text).passed

    def test_incomplete(self) -> None:
        with pytest.raises(ValidationError, match="needs a name, a selector or an owner"):
            TimedRef.model_validate({"kind": "Workload"})
        with pytest.raises(ValidationError, match="name\n"):
            ObjectRef.model_validate({"kind": "Workload", "owner": {"kind": "JobSet"}})


class TestOneBySelector:
    ANSWER = """
answer:
  file: uid.txt
  fields: {leader: "{{ leader.metadata.uid }}"}
  with: {leader: {kind: Pod, selector: role=leader, when: written}}
"""

    def test_now_or_when_written(self, trace: Trace, look: Look, write: Write) -> None:
        first = trace.put(leader("train-leader-0-0-aaaaa"))
        path = write("uid.txt", f"leader={first['metadata']['uid']}\n")
        assert look(self.ANSWER).passed
        trace.wait(5)
        trace.put(first | {"metadata": first["metadata"] | {"deletionTimestamp": "2025-11-30T10:53:20Z"}})
        second = trace.put(leader("train-leader-0-0-bbbbb"))
        assert look(self.ANSWER).passed
        path.write_text(f"leader={second['metadata']['uid']}\n")
        os.utime(path, (trace.now, trace.now))
        assert look(self.ANSWER).passed
        path.write_text(f"leader={first['metadata']['uid']}\n")
        os.utime(path, (trace.now, trace.now))
        assert not look(self.ANSWER).passed

    def test_none_there(self, look: Look, write: Write) -> None:
        write("uid.txt", "leader=x\n")
        assert look(self.ANSWER).finding.saw == "no Pod[role=leader] in infer"
