"""What of lab-first no declared check can say."""

from grader.checks.base import ObjectRef
from grader.checks.world import World
from grader.results import Finding, Verdict


def holds_the_sum(world: World, key: str) -> Verdict:
    """The ConfigMap `note` holds, under `key`, the sum of all values of the ConfigMap `numbers`."""
    numbers = world.get(ObjectRef(kind="ConfigMap", name="numbers"))
    note = world.get(ObjectRef(kind="ConfigMap", name="note"))
    if numbers is None or note is None:
        return Verdict(passed=False, finding=Finding(wanted="both ConfigMaps", saw="one is not there"))
    wanted = sum(int(number) for number in numbers["data"].values())
    saw = note.get("data", {}).get(key, "nothing")
    finding = Finding(wanted="the sum", saw=saw, where=("ConfigMap notes/note",), plain=True)
    return Verdict(passed=saw == str(wanted), finding=finding)
