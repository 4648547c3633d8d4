"""Whether a run that is not over may still become what is wanted, and what stirs what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from grader.checks.settling import PATIENCE, stirring

if TYPE_CHECKING:
    from grader.checks.objects import Object
    from grader.checks.recorded import Trace
    from tests.unit.checks.conftest import Look

COMPLETED = """
resource:
  of: {kind: JobSet, name: eval}
  match:
    status: {terminalState: Completed}
"""


def jobset(*, spec: dict[str, Any] | None = None, **status: Any) -> Object:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "eval", "namespace": "infer", "uid": "set", "generation": 1},
        "spec": spec or {},
        "status": {"restarts": 0, **status},
    }


def condition(kind: str, status: str = "True") -> Object:
    return {"type": kind, "status": status}


class TestRuns:
    """A JobSet or Job has no observedGeneration, and in the middle of a run nothing in it changes."""

    def test_just_begun(self, trace: Trace, look: Look) -> None:
        trace.put(jobset())
        verdict = look(COMPLETED)
        assert not verdict.passed
        assert verdict.moving

    def test_in_the_middle(self, trace: Trace, look: Look) -> None:
        trace.put(jobset())
        trace.wait(PATIENCE - 1)
        assert look(COMPLETED).moving

    def test_each_sign_of_life_counts(self, trace: Trace, look: Look) -> None:
        trace.put(jobset())
        trace.wait(PATIENCE - 1)
        trace.put(jobset(restarts=1))
        trace.wait(PATIENCE - 1)
        assert look(COMPLETED).moving

    def test_that_of_another_object_does_not(self, trace: Trace, look: Look) -> None:
        trace.put(jobset())
        trace.wait(PATIENCE)
        other = jobset()
        trace.put({**other, "metadata": {"name": "other", "namespace": "infer", "uid": "another"}})
        assert not look(COMPLETED).moving

    def test_stands_still(self, trace: Trace, look: Look) -> None:
        """Its workers never end: nothing is on its way any more."""
        trace.put(jobset())
        trace.wait(PATIENCE)
        assert not look(COMPLETED).moving

    @pytest.mark.parametrize("end", ["Completed", "Failed"])
    def test_over(self, trace: Trace, look: Look, end: str) -> None:
        trace.put(jobset(conditions=[condition(end)]))
        assert not look(COMPLETED).moving

    def test_an_end_that_is_not_true_is_none(self, trace: Trace, look: Look) -> None:
        trace.put(jobset(conditions=[condition("Failed", "False")]))
        assert look(COMPLETED).moving

    def test_suspended(self, trace: Trace, look: Look) -> None:
        trace.put(jobset(spec={"suspend": True}))
        assert not look(COMPLETED).moving

    def test_what_was_written_stays_as_it_is(self, trace: Trace, look: Look) -> None:
        """A run changes its status and nothing else: the other mistake is told at once."""
        trace.put(jobset(spec={"failurePolicy": {"maxRestarts": 3}}))
        verdict = look(
            """
            resource:
              of: {kind: JobSet, name: eval}
              match:
                spec: {failurePolicy: {maxRestarts: 1}}
                status: {terminalState: Failed}
            """
        )
        assert not verdict.moving

    def test_not_recorded(self, trace: Trace, look: Look) -> None:
        """Then it is as old as it says."""
        trace.recording = False
        run = jobset()
        run["metadata"]["creationTimestamp"] = "2025-11-30T10:53:20Z"
        trace.put(run)
        trace.now = 1_764_500_000.0 + 5
        assert look(COMPLETED).moving
        trace.wait(PATIENCE)
        assert not look(COMPLETED).moving

    def test_jobs_of_a_selector(self, trace: Trace, look: Look) -> None:
        check = """
        resources:
          of: {kind: Job, selector: a=b}
          all: {status: {succeeded: 1}}
        """
        job = {"apiVersion": "batch/v1", "kind": "Job", "status": {"active": 1}}
        job["metadata"] = {"name": "j", "namespace": "infer", "uid": "j", "labels": {"a": "b"}}
        trace.put(job)
        assert look(check).moving
        trace.put({**job, "status": {"conditions": [condition("Complete")]}})
        assert not look(check).moving

    def test_what_happened_may_still_happen(self, trace: Trace, look: Look) -> None:
        check = """
        happened:
          changed:
            of: {kind: JobSet, name: eval}
            from: {status: {restarts: 0}}
            to: {status: {restarts: 1}}
        """
        trace.put(jobset())
        assert look(check).moving
        trace.wait(PATIENCE)
        assert not look(check).moving

    def test_what_has_no_end_is_no_run(self, trace: Trace, look: Look) -> None:
        trace.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "infer"}})
        check = "resource: {of: {kind: ConfigMap, name: c}, match: {status: {x: 1}}}"
        assert not look(check).moving


def test_pods_come_from_what_makes_them() -> None:
    assert {"Pod", "Job", "JobSet", "LeaderWorkerSet", "Workload"} <= stirring(frozenset({"Pod"}))


def test_nothing_stirs_a_config_map() -> None:
    assert stirring(frozenset({"ConfigMap"})) == {"ConfigMap"}
