"""What no check kind can say: whether a restart was counted and if not where the failure went; events; podsets.

Owns these three and their words in both languages; a lab has no catalog of messages.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from cluster.i18n import _, language
from grader.checks.base import ObjectRef
from grader.checks.objects import condition, meta, title, uid
from grader.checks.quotes import misquoted
from grader.checks.settling import instant
from grader.checks.text import quotes, record_key
from grader.checks.words import clock, listed, shown
from grader.checks.work import FileTrouble
from grader.checks.world import HistoryGap
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.checks.objects import Object
    from grader.checks.work import LearnerFile
    from grader.checks.world import World

OF = "jobset.sigs.k8s.io/jobset-name"

WORDS = {
    "counted": {
        "en": "status.restarts of {set} to grow by one, because a Job of it failed",
        "ko": "{set}: Job이 실패해서 status.restarts가 하나 늘어날 것",
    },
    "in-place": {
        "en": "{pod}: the kubelet restarted its container in place (restartPolicy {policy}), so its Job did not fail",
        "ko": "{pod}: kubelet이 컨테이너를 그 자리에서 다시 시작했습니다(restartPolicy {policy}). "
        "그래서 Job은 실패하지 않았습니다",
    },
    "eaten": {
        "en": "{pod} failed, but {job} may make up for {limit} pods (backoffLimit): the Job did not fail, "
        "and a JobSet looks at Jobs only",
        "ko": "{pod}: 실패했지만 그 Job이 파드를 {limit}번까지 다시 만듭니다({job}의 backoffLimit). "
        "Job은 실패하지 않았고, JobSet은 Job만 봅니다",
    },
    "over": {
        "en": "{set} is over: {reason}",
        "ko": "{set}: 이미 끝났습니다. {reason}",
    },
    "anew": {
        "en": "no pod of {set} has failed since it was made anew at {time}: a set that is deleted and applied again "
        "counts from 0",
        "ko": "{set}: {time}에 새로 만든 뒤로 실패한 파드가 없습니다. 지우고 다시 적용한 세트는 0부터 셉니다",
    },
    "none": {
        "en": "no pod of {set} has failed yet",
        "ko": "{set}: 아직 실패한 파드가 없습니다",
    },
    "not-yet": {
        "en": "{pod} failed; {set} has not counted it yet",
        "ko": "{pod}: 실패했고, {set}에는 아직 세어지지 않았습니다",
    },
    "no-event": {
        "en": "{set} has no event {reason}",
        "ko": "{set}: {reason} 이벤트가 없습니다",
    },
    "podsets": {
        "en": "one line podset=<name> count=<n> for each podset of {workload}, and no other",
        "ko": "{workload}: podset마다 podset=<이름> count=<수> 한 줄씩, 다른 줄 없이",
    },
    "extra": {
        "en": "lines that are no podset of it: {lines}",
        "ko": "podset과 맞지 않는 줄: {lines}",
    },
    "missing": {
        "en": "podsets without a line: {number}",
        "ko": "줄이 없는 podset 수: {number}",
    },
}


def say(key: str, **values: object) -> str:
    """One of WORDS in the language in force."""
    return WORDS[key][language()].format(**values)


# -- restarts -------------------------------------------------------------------------------------------


def restart_counted(world: World, jobset: str) -> Verdict:
    """`jobset` counted one restart more than just before; where it did not, where the failure went."""
    ref = ObjectRef(kind="JobSet", name=jobset)
    known: dict[str, int] = {}
    for change in world.changes(ref):
        now = int((change.object.get("status") or {}).get("restarts") or 0)
        if now == known.get(change.uid, now) + 1:
            return Verdict(passed=True, evidence=(title(change.object),))
        known[change.uid] = now
    if gaps := world.gaps(ref):
        raise HistoryGap(gaps[0].start, gaps[-1].end)
    saw, moving = _uncounted(world, ref, made_anew=len(known) > 1)
    wanted = say("counted", set=f"JobSet {jobset}")
    look_at = f"kubectl get jobset {jobset} -o yaml"
    where = (ref.title(world.namespace),)
    # It tells itself where the failure went: no other cause has to be looked for.
    finding = Finding(wanted=wanted, saw=saw, where=where, look_at=look_at, plain=True)
    return Verdict(passed=False, finding=finding, moving=moving)


def _uncounted(world: World, ref: ObjectRef, *, made_anew: bool) -> tuple[str, bool]:
    """Why no restart was counted, in words, and whether it may still come."""
    live = world.get(ref)
    name = title(live) if live else ref.title(world.namespace)
    failed = [pod for pod in _pods(world, ref.name) if (pod.get("status") or {}).get("phase") == "Failed"]
    jobs = {uid(job): job for job in world.select(ObjectRef(kind="Job", selector=f"{OF}={ref.name}"))}
    for pod in _pods(world, ref.name):
        if any(status.get("restartCount") for status in _containers(pod)):
            return say("in-place", pod=title(pod), policy=pod["spec"].get("restartPolicy")), False
    for pod in failed:
        job = next((jobs[owner] for owner in _owners(pod) if owner in jobs), None)
        limit = (job or {}).get("spec", {}).get("backoffLimit", 0)
        if job and limit and not _is_true(job, "Failed"):
            return say("eaten", pod=title(pod), job=title(job), limit=limit), False
    for ended in ("Failed", "Completed"):
        if live and _is_true(live, ended):
            return say("over", set=name, reason=(condition(live, ended) or {}).get("message", "")), False
    if failed:
        return say("not-yet", pod=title(failed[0]), set=name), True
    if live and made_anew and (begun := instant(meta(live).get("creationTimestamp"))):
        return say("anew", set=name, time=clock(begun)), False
    return say("none", set=name), False


def _pods(world: World, jobset: str) -> list[Object]:
    return world.select(ObjectRef(kind="Pod", selector=f"{OF}={jobset}"))


def _containers(pod: Object) -> Iterable[dict[str, Any]]:
    return (pod.get("status") or {}).get("containerStatuses") or []


def _owners(obj: Object) -> list[str]:
    return [owner["uid"] for owner in meta(obj).get("ownerReferences") or []]


def _is_true(obj: Object, kind: str) -> bool:
    return (condition(obj, kind) or {}).get("status") == "True"


# -- events ---------------------------------------------------------------------------------------------


def quotes_event(world: World, file: str, kind: str, name: str, reason: str) -> Verdict:
    """The file quotes an event with that reason about that object; events expire, so the record counts too."""
    of = ObjectRef(kind=kind, name=name).title(world.namespace)
    wanted = _("a message of {object}, word for word").format(object=of)
    look_at = f"kubectl get events --field-selector involvedObject.kind={kind},involvedObject.name={name}"
    try:
        noted = world.work.read(file)
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    messages = {event["message"] for event in _events(world) if _about(event, kind, name, reason)}
    if any(quotes(noted.text, message) for message in messages):
        return Verdict(passed=True, evidence=(of,))
    saw = misquoted(noted, *sorted(messages))
    if not messages:
        if gaps := world.gaps(ObjectRef(kind="Event")):
            raise HistoryGap(gaps[0].start, gaps[-1].end)
        saw = say("no-event", set=of, reason=reason)
    return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw, where=(file, of), look_at=look_at))


def _events(world: World) -> Iterator[Object]:
    ref = ObjectRef(kind="Event")
    yield from world.select(ref)
    yield from (change.object for change in world.changes(ref))


def _about(event: Object, kind: str, name: str, reason: str) -> bool:
    of = event.get("involvedObject") or {}
    return (of.get("kind"), of.get("name"), event.get("reason")) == (kind, name, reason)


# -- podsets --------------------------------------------------------------------------------------------


def podsets_noted(world: World, file: str, jobset: str) -> Verdict:
    """The file has one line for each podset of the JobSet's Workload: as it is, or was when the file was written."""
    owner = {"kind": "JobSet", "name": jobset}
    ref = ObjectRef.model_validate({"kind": "Workload", "owner": owner})
    wanted = say("podsets", workload=ref.title(world.namespace))
    try:
        noted = world.work.read(file)
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    verdict = None
    for workload in [*world.select(ref), *world.select_at(ref, noted.mtime)]:
        verdict = _podsets_match(noted, workload, wanted)
        if verdict.passed:
            return verdict
    if gap := next((gap for gap in world.gaps(ref) if gap.start <= noted.mtime <= gap.end), None):
        raise HistoryGap(gap.start, gap.end)
    if verdict is None:
        saw = _("there is no {object}").format(object=ref.title(world.namespace))
        verdict = Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw, look_at="kubectl get workloads"))
    return verdict


def _podsets_match(file: LearnerFile, workload: Object, wanted: str) -> Verdict:
    keys = (f"podset={each['name']} count={each['count']}" for each in workload["spec"]["podSets"])
    podsets = Counter(map(record_key, keys))
    lines = [(line.number, line.text) for line in file.lines if not line.text.lstrip().startswith("#")]
    extra = []
    for number, text in lines:
        if podsets[record_key(text)] > 0:
            podsets[record_key(text)] -= 1
        else:
            extra.append((number, text))
    missing = podsets.total()
    if not extra and not missing:
        return Verdict(passed=True, evidence=(title(workload),))
    saw = [say("extra", lines=listed(shown(text) for _number, text in extra))] if extra else []
    saw += [say("missing", number=missing)] if missing else []
    where = (*(file.place(number) for number, _text in extra[:3]), title(workload))
    look_at = f"kubectl get workload {meta(workload)['name']} -o yaml"
    return Verdict(passed=False, finding=Finding(wanted=wanted, saw="; ".join(saw), where=where, look_at=look_at))
