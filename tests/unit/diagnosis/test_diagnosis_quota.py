"""Kueue's arithmetic on trees of cohorts, against what Kueue itself did on a real cluster."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from grader.checks.objects import Object
from grader.diagnosis.quota import Flavored, PodSet, QuotaTree, fits, pod_sets, requests, reserved
from grader.diagnosis.room import amount

GPU = Flavored("gpu", "nvidia.com/gpu")


def queue(name: str, nominal: int, cohort: str = "ml", flavor: str = "gpu", **limits: str) -> Object:
    resource = {"name": "nvidia.com/gpu", "nominalQuota": str(nominal), **limits}
    flavors = [{"name": flavor, "resources": [resource]}]
    groups = [{"coveredResources": ["nvidia.com/gpu"], "flavors": flavors}]
    return {"metadata": {"name": name}, "spec": {"cohortName": cohort, "resourceGroups": groups}}


def holding(queue: str, gpus: int, **more: Any) -> Object:
    conditions = [{"type": "QuotaReserved", "status": "True"}, *more.pop("conditions", ())]
    assigned = {"name": "w", "flavors": {"nvidia.com/gpu": "gpu"}, "resourceUsage": {"nvidia.com/gpu": str(gpus)}}
    admission = {"clusterQueue": queue, "podSetAssignments": [assigned]}
    return {"metadata": {"name": f"{queue}-{gpus}"}, "status": {"conditions": conditions, "admission": admission}}


def numbers(tree: QuotaTree) -> tuple[int, int]:
    """What team-a can have at most, and what it could have now."""
    return int(tree.most("team-a", GPU)), int(tree.free("team-a", GPU))


@pytest.mark.parametrize(
    ("mine", "theirs", "held", "most", "free"),
    [
        # "borrowingLimit 2, asks 4 on top of 4": 2 more needed; 2 on top of 4 are admitted.
        ({"borrowingLimit": "2"}, {}, {"team-a": 4}, 6, 2),
        # "lendingLimit 1, team-a asks 2 / 1 on top of 4": 1 more needed / admitted.
        ({}, {"lendingLimit": "1"}, {"team-a": 4}, 5, 1),
        # "owner team-b asks 4 after team-a borrowed 2": 2 more needed, seen from team-b below.
        ({}, {}, {"team-a": 6}, 8, 2),
        ({}, {}, {}, 8, 8),
        ({"borrowingLimit": "0"}, {}, {"team-b": 1}, 4, 4),
        # What a queue does not lend, nobody else's use takes from it.
        ({"lendingLimit": "0"}, {}, {"team-b": 4}, 8, 4),
        ({"lendingLimit": "0"}, {}, {"team-a": 3, "team-b": 2}, 8, 3),
    ],
)
def test_a_queue_in_a_cohort(
    mine: dict[str, str], theirs: dict[str, str], held: dict[str, int], most: int, free: int
) -> None:
    queues = [queue("team-a", 4, **mine), queue("team-b", 4, **theirs)]
    tree = QuotaTree(queues, [], [holding(name, gpus) for name, gpus in held.items()])
    assert numbers(tree) == (most, free)
    assert tree.root("team-a") == "ml"
    assert tree.neighbours("team-a") == {"team-a", "team-b"}


def test_the_owner_of_what_was_borrowed_lacks_it() -> None:
    tree = QuotaTree([queue("team-a", 4), queue("team-b", 4)], [], [holding("team-a", 6)])
    assert tree.free("team-b", GPU) == 2


def test_a_queue_alone_has_its_own_and_no_more() -> None:
    tree = QuotaTree([queue("team-a", 4, cohort=""), queue("team-b", 4, cohort="")], [], [holding("team-a", 3)])
    assert numbers(tree) == (4, 1)
    assert tree.root("team-a") == ""
    assert tree.neighbours("team-a") == {"team-a"}


def test_cohorts_of_cohorts_put_in_their_own() -> None:
    root: Object = {"metadata": {"name": "root"}, "spec": {}}
    group = {
        "flavors": [{"name": "gpu", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "2"}]}],
        "coveredResources": ["nvidia.com/gpu"],
    }
    cohorts: list[Object] = [
        root,
        {"metadata": {"name": "ml"}, "spec": {"parentName": "root", "resourceGroups": [group]}},
        {"metadata": {"name": "web"}, "spec": {"parentName": "root"}},
    ]
    tree = QuotaTree([queue("team-a", 4), queue("shop", 3, cohort="web")], cohorts, [holding("shop", 5)])
    assert numbers(tree) == (9, 4)
    assert tree.root("team-a") == "root"


def test_cohorts_in_a_circle_end_somewhere() -> None:
    cohorts = [
        {"metadata": {"name": "ml"}, "spec": {"parentName": "other"}},
        {"metadata": {"name": "other"}, "spec": {"parentName": "ml"}},
    ]
    assert QuotaTree([queue("team-a", 4)], cohorts, []).most("team-a", GPU) >= 4


def test_what_is_finished_or_only_waits_holds_nothing() -> None:
    finished = holding("team-a", 4, conditions=[{"type": "Finished", "status": "True"}])
    waiting = {"status": {"conditions": [{"type": "QuotaReserved", "status": "False"}]}}
    assert reserved(finished) == ("", {})
    assert reserved(waiting) == ("", {})
    assert reserved(holding("team-a", 4)) == ("team-a", {GPU: Decimal(4)})


def test_podsets_share_flavors_and_none_is_divided() -> None:
    spec = {"resourceGroups": [{"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "old"}, {"name": "new"}]}]}
    both = {"metadata": {"name": "q"}, "spec": spec}

    def room(of: Flavored) -> Decimal:
        return Decimal(4)

    def ask(*amounts: int) -> list[PodSet]:
        return [PodSet(str(number), {"nvidia.com/gpu": Decimal(each)}) for number, each in enumerate(amounts)]

    assert fits(ask(4, 4), both, room)
    assert fits(ask(3, 3, 1), both, room)
    assert not fits(ask(5), both, room)
    assert not fits(ask(3, 3, 2), both, room)
    assert fits(ask(*[4] * 40), both, room), "too many ways to be sure"


def test_requests_are_those_of_containers_with_limits_in_their_place() -> None:
    pod = {
        "containers": [
            {"resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": "2", "nvidia.com/gpu": "1"}}},
            {"resources": {"requests": {"cpu": 1, "memory": "1Gi"}}},
            {},
        ],
        "initContainers": [{"resources": {"requests": {"cpu": "3"}}}],
        "overhead": {"cpu": "250m"},
    }
    gib = Decimal(2**30)
    assert requests(pod) == {"cpu": Decimal("3.25"), "nvidia.com/gpu": 1, "memory": gib}
    template = {"spec": {"containers": [{"resources": {"requests": {"cpu": "2"}}}]}}
    workload = {"spec": {"podSets": [{"name": "w", "count": 3, "template": template}]}}
    assert pod_sets(workload) == [PodSet("w", {"cpu": Decimal(6)})]
    counted = {**workload, "status": {"resourceRequests": [{"name": "w", "resources": {"cpu": "9"}}]}}
    assert pod_sets(counted) == [PodSet("w", {"cpu": Decimal(9)})]


@pytest.mark.parametrize(
    ("value", "resource", "text"),
    [
        ("16", "nvidia.com/gpu", "16"),
        ("1.500", "cpu", "1.5"),
        ("1000", "cpu", "1000"),
        (str(4 * 2**30), "memory", "4Gi"),
        (str(96 * 2**20), "memory", "96Mi"),
        ("0", "memory", "0"),
    ],
)
def test_amounts_read_as_people_write_them(value: str, resource: str, text: str) -> None:
    assert amount(Decimal(value), resource) == text
