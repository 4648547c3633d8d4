"""Why a Job or JobSet does not fail, restart or end as its policies seem to say.

Owns failures that never reach the JobSet, failure rules that never apply, and the states of both kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.checks.objects import Object, condition, title
from grader.checks.words import listed
from grader.diagnosis.model import Cause
from grader.diagnosis.pods import restarts
from grader.diagnosis.scene import Scene, command, is_true, name_of, spec, status

if TYPE_CHECKING:
    from collections.abc import Iterable

_ENDED = ("Complete", "Completed", "Failed", "FailureTarget", "SuccessCriteriaMet")


def ended(obj: Object) -> bool:
    """Whether a Job or JobSet is over, or about to be."""
    return any(is_true(condition(obj, kind)) for kind in _ENDED)


def pods_wanted(job: Object) -> int:
    """How many pods a Job should have now; without `completions`, none once the first has succeeded."""
    succeeded = int(status(job).get("succeeded") or 0)
    left = spec(job)["completions"] - succeeded if "completions" in spec(job) else 0 if succeeded else 1 << 30
    return min(int(spec(job).get("parallelism", 1)), int(left))


def failure_eaten(scene: Scene, jobset: Object, jobs: Iterable[Object]) -> Cause | None:
    """A failure of a pod that never became the failure of a Job, which is all that a JobSet reacts to."""
    if ended(jobset):
        return None
    for job in jobs:
        if ended(job):
            continue
        if failed := int(status(job).get("failed") or 0):
            return _by_backoff_limit(jobset, job, failed)
        restarted = next((pod for pod in scene.owned("Pod", job) if restarts(pod)), None)
        if restarted is not None and spec(restarted).get("restartPolicy") == "OnFailure":
            return _by_restart_policy(jobset, job, restarted)
    return None


def _by_backoff_limit(jobset: Object, job: Object, failed: int) -> Cause:
    says = _(
        "pods of {job} failed ({failed}), but the Job has {limit} and makes new ones: a JobSet reacts to the failure "
        "of a Job only, so the restarts of {jobset} stay at {restarts}"
    )
    return Cause(
        id="failure-eaten-by-backoff-limit",
        says=says.format(
            job=title(job), failed=failed, limit=_limit(job), jobset=title(jobset), restarts=_restarts(jobset)
        ),
        where=(title(job), title(jobset)),
        look_at=command(job),
    )


def _by_restart_policy(jobset: Object, job: Object, pod: Object) -> Cause:
    says = _(
        "a container of {pod} failed and was started again in its pod (restartPolicy: OnFailure, {limit}): a JobSet "
        "reacts to the failure of a Job only, so the restarts of {jobset} stay at {restarts}"
    )
    return Cause(
        id="failure-eaten-by-restart-policy",
        says=says.format(pod=title(pod), limit=_limit(job), jobset=title(jobset), restarts=_restarts(jobset)),
        where=(title(pod), title(jobset)),
        look_at=command(pod),
    )


def _limit(job: Object) -> str:
    """How much a Job bears, as its field has it."""
    field = "backoffLimitPerIndex" if spec(job).get("backoffLimitPerIndex") is not None else "backoffLimit"
    return f"{field}: {spec(job).get(field, 6)}"


def _restarts(jobset: Object) -> int:
    return int(status(jobset).get("restarts") or 0)


def rule_hidden(jobset: Object) -> Cause | None:
    """A failure rule that an earlier one leaves nothing to, once a failure has shown it."""
    if not _restarts(jobset) and not is_true(condition(jobset, "Failed")):
        return None
    rules: list[dict[str, Any]] = (spec(jobset).get("failurePolicy") or {}).get("rules") or []
    for index, rule in enumerate(rules):
        for before in rules[:index]:
            if before.get("action") != rule.get("action") and _covers(before, rule):
                says = _(
                    "the rule {rule} of {jobset} can never apply: {before} comes before it and matches everything it "
                    "does, and the first match wins"
                )
                return Cause(
                    id="failure-rule-hidden",
                    says=says.format(rule=rule.get("name", ""), jobset=title(jobset), before=before.get("name", "")),
                    where=(title(jobset),),
                    look_at=command(jobset),
                )
    return None


def _covers(first: dict[str, Any], later: dict[str, Any]) -> bool:
    """Whether every failure that `later` matches is matched by `first`."""
    if first.get("onJobFailureMessagePatterns"):
        return False
    for key in ("onJobFailureReasons", "targetReplicatedJobs"):
        mine, theirs = first.get(key) or [], later.get(key) or []
        if mine and (not theirs or not set(theirs) <= set(mine)):
            return False
    return True


# -- state --------------------------------------------------------------------------------------------


def job_state(job: Object) -> str:
    """How a Job is, in one line."""
    if end := _end(job, "Complete", "Failed"):
        return end
    if spec(job).get("suspend"):
        return _("suspended: it has no pods")
    counts = _counts(status(job), ("active", "ready", "succeeded", "failed"))
    said = counts or _("no pods yet")
    return f"{said}; {_limit(job)}" if status(job).get("failed") else said


def jobset_state(scene: Scene, jobset: Object) -> str:
    """How a JobSet is, in one line."""
    if end := _end(jobset, "Completed", "Failed"):
        policy = spec(jobset).get("successPolicy") or {}
        if is_true(condition(jobset, "Completed")) and policy.get("operator") == "Any":
            targets = listed(policy.get("targetReplicatedJobs") or ()) or _("all roles")
            end += _("; successPolicy Any: one finished Job of {targets} is enough").format(targets=targets)
        return end
    if spec(jobset).get("suspend"):
        return _("suspended: it has no pods")
    parts = [
        f"{each.get('name', '')}: {_counts(each, ('active', 'ready', 'succeeded', 'failed')) or _('no pods yet')}"
        for each in status(jobset).get("replicatedJobsStatus") or []
    ]
    parts += _held_back(scene, jobset)
    parts.append(_("restarts: {count}").format(count=_restarts(jobset)))
    return "; ".join(parts)


def _end(obj: Object, good: str, bad: str) -> str:
    for kind in (good, bad):
        found = condition(obj, kind)
        if found and is_true(found):
            return f"{kind} ({found.get('reason', '')}): {found.get('message', '')}"
    return ""


def _counts(found: dict[str, Any], keys: Iterable[str]) -> str:
    """`2 active, 1 ready`: only what is not zero, in the words of the fields."""
    return ", ".join(f"{found[key]} {key}" for key in keys if found.get(key))


def _held_back(scene: Scene, jobset: Object) -> list[str]:
    """The roles that wait for others, by dependsOn."""
    there = {name_of(job) for job in scene.owned("Job", jobset)}
    held = []
    for role in spec(jobset).get("replicatedJobs") or []:
        name, waits_for = str(role.get("name", "")), role.get("dependsOn") or []
        if waits_for and not any(job.startswith(f"{name_of(jobset)}-{name}-") for job in there):
            wanted = listed(f"{each.get('name', '')} {each.get('status', '')}" for each in waits_for)
            held.append(_("{role} waits for {wanted} (dependsOn)").format(role=name, wanted=wanted))
    return held
