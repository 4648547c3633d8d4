"""Failures and completions on purpose, for pods on fake nodes.

Owns the annotations that our KWOK stages obey (`vm-images/kwok/stages.yaml`) and what each will do to a pod;
changes pods through the learner's own identity. Knows nothing of command lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cluster.errors import ApiRefused, UsageProblem
from cluster.i18n import _

if TYPE_CHECKING:
    from cluster.api import Api
    from cluster.spec import Manifest

FAIL = "batchlab/fail"
COMPLETE = "batchlab/complete"
Fault = Literal["fail", "complete"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """One pod that was told to end. `becomes`: what its stages make of it (`Failed`, `Succeeded`, `Restarted`)."""

    pod: str
    becomes: Literal["Failed", "Succeeded", "Restarted"]
    exit_code: int


def find_pods(api: Api, namespace: str, names: tuple[str, ...], selector: str) -> list[Manifest]:
    """The pods meant by name (`pod/x` or `x`) and by label selector. UsageProblem where there are none.

    A selector means those that have not ended, if there are any.
    """
    found: dict[str, Manifest] = {}
    for word in names:
        kind, slash, rest = word.partition("/")
        if slash and kind not in ("pod", "pods", "po"):
            raise UsageProblem(_("{word}: only pods can be told to end, as pod/NAME").format(word=word))
        name = rest if slash else word
        pod = api.get("v1", "Pod", name, namespace)
        if pod is None:
            raise UsageProblem(
                _("no pod {name} in the namespace {namespace}").format(name=name, namespace=namespace),
                _elsewhere(api.list("v1", "Pod", fields=f"metadata.name={name}"), namespace),
            )
        found[name] = pod
    if selector:
        try:
            pods = api.list("v1", "Pod", namespace, labels=selector)
        except ApiRefused as refusal:
            raise UsageProblem(refusal.message) from refusal
        going_on = [pod for pod in pods if not _ended(pod)]
        found.update({pod["metadata"]["name"]: pod for pod in going_on or pods})
        if not pods:
            raise UsageProblem(
                _("no pod in the namespace {namespace} has {selector}").format(namespace=namespace, selector=selector),
                _elsewhere(api.list("v1", "Pod", labels=selector), namespace),
            )
    return list(found.values())


def _ended(pod: Manifest) -> bool:
    return "deletionTimestamp" in pod["metadata"] or pod.get("status", {}).get("phase") in ("Succeeded", "Failed")


def _elsewhere(pods: list[Manifest], namespace: str) -> str:
    """Where the pods that were not found in `namespace` are instead, and how to look there; "" if nowhere."""
    others = sorted({str(pod["metadata"]["namespace"]) for pod in pods} - {namespace})
    if not others:
        return ""
    advice = _("it is in another namespace; look there with {options}")
    return advice.format(options=", ".join(f"-n {other}" for other in others))


def steer(api: Api, pods: list[Manifest], fault: Fault, exit_code: int = 1) -> list[Steered]:
    """Tell each pod to end with `exit_code` (of `fail`), half a second from now.

    All are looked at before any is changed: UsageProblem names the first that can't be steered (it is not on a
    fake node, or does not run).
    """
    fake = {node["metadata"]["name"] for node in api.list("v1", "Node", labels="type=kwok")}
    for pod in pods:
        _must_be_steerable(pod, fake)
    annotation = {FAIL: str(exit_code)} if fault == "fail" else {COMPLETE: "true"}
    steered = []
    for pod in pods:
        meta = pod["metadata"]
        patch = {"metadata": {"annotations": annotation}}
        api.merge("v1", "Pod", meta["name"], patch, namespace=meta["namespace"])
        code = exit_code if fault == "fail" else 0
        becomes = _outcome(fault, pod["spec"].get("restartPolicy", "Always"))
        steered.append(Steered(pod=f"{meta['namespace']}/{meta['name']}", becomes=becomes, exit_code=code))
    return steered


def _must_be_steerable(pod: Manifest, fake_nodes: set[str]) -> None:
    name, node = pod["metadata"]["name"], pod["spec"].get("nodeName")
    if node is None:
        raise UsageProblem(_("pod {name} is on no node yet").format(name=name))
    if node not in fake_nodes:
        raise UsageProblem(
            _("pod {name} runs on the real node {node}").format(name=name, node=node),
            _("end it from within: kubectl exec {name} -- …").format(name=name),
        )
    phase = pod.get("status", {}).get("phase")
    if "deletionTimestamp" in pod["metadata"] or phase != "Running":
        state = _("being deleted") if "deletionTimestamp" in pod["metadata"] else phase
        raise UsageProblem(_("pod {name} is {state}, not Running").format(name=name, state=state))


def _outcome(fault: Fault, restart_policy: str) -> Literal["Failed", "Succeeded", "Restarted"]:
    if fault == "fail":
        return "Failed" if restart_policy == "Never" else "Restarted"
    return "Restarted" if restart_policy == "Always" else "Succeeded"
