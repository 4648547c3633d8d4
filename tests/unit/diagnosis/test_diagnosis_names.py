"""KIND/NAME as people write it."""

from __future__ import annotations

import pytest

from cluster.errors import UsageProblem
from grader.diagnosis.names import parse_target


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("job/x", "Job"),
        ("Jobs/x", "Job"),
        ("job.batch/x", "Job"),
        ("jobset/x", "JobSet"),
        ("js/x", "JobSet"),
        ("lws/x", "LeaderWorkerSet"),
        ("leaderworkersets.leaderworkerset.x-k8s.io/x", "LeaderWorkerSet"),
        ("pod/x", "Pod"),
        ("po/x", "Pod"),
        ("workload/x", "Workload"),
        ("wl/x", "Workload"),
        ("clusterqueues/x", "ClusterQueue"),
        ("cq/x", "ClusterQueue"),
        ("localqueue/x", "LocalQueue"),
        ("lq/x", "LocalQueue"),
        ("sts/x", "StatefulSet"),
        ("ns/x", "Namespace"),
        ("storageclasses/x", ""),
        ("secret/x", ""),
    ],
)
def test_kinds_have_many_words(text: str, kind: str) -> None:
    if not kind:
        with pytest.raises(UsageProblem, match="unknown kind"):
            parse_target(text)
        return
    assert parse_target(text) == (kind, "x")


@pytest.mark.parametrize("text", ["job", "job/", "/x", "", "job/x/y"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageProblem) as refused:
        parse_target(text)
    assert refused.value.exit_code == 2


def test_a_slip_of_the_finger_is_understood() -> None:
    with pytest.raises(UsageProblem) as refused:
        parse_target("jobst/x")
    assert refused.value.advice == "did you mean jobset?"
