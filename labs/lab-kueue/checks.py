"""What lab-kueue asks of Kueue's history: who was admitted, who waited for whom, who stood where in the line.

Everything is read from recorded Workloads, pods and events, so a learner may tidy up before checking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.i18n import language
from grader.checks.answer import read_entries
from grader.checks.base import ObjectRef
from grader.checks.happened.lives import lives
from grader.checks.objects import condition, meta, terminating
from grader.checks.settling import instant
from grader.checks.text import quotes
from grader.checks.work import FileTrouble
from grader.checks.workloads import Queued, in_motion, queued, refuse_unseen, why_none
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.checks.happened.lives import Instant, Life
    from grader.checks.objects import Object
    from grader.checks.world import World

JOBSET_LABEL = "jobset.sigs.k8s.io/jobset-name"
JOBSET_UID = "jobset.sigs.k8s.io/jobset-uid"

_LATE = 5.0
"""Seconds by which a recorded change may be late on a busy machine."""


def say(en: str, ko: str) -> str:
    """What only this lab says, in the language in force; the catalog holds what every lab may say."""
    return ko if language() == "ko" else en


def _no(wanted: str, saw: str, *where: str, moving: bool = False, look_at: str = "") -> Verdict:
    finding = Finding(wanted=wanted, saw=saw, where=where, look_at=look_at)
    return Verdict(passed=False, finding=finding, moving=moving)


# -- step 1 ----------------------------------------------------------------------------------------------


def half_started(world: World, namespace: str, jobset: str) -> Verdict:
    """Some pods of the JobSet ran, never all of them at once, because a ResourceQuota refused the rest."""
    wanted = say(
        f"a JobSet {jobset} in {namespace} that the quota lets in only in part",
        f"{namespace}의 JobSet {jobset} 가운데 일부만 쿼터를 통과한 상태",
    )
    sets = lives(ObjectRef(kind="JobSet", name=jobset, namespace=namespace), world)
    if not sets:
        return _no(wanted, say(f"no JobSet {namespace}/{jobset}", f"JobSet {namespace}/{jobset}: 없습니다"))
    pods = lives(ObjectRef(kind="Pod", selector=f"{JOBSET_LABEL}={jobset}", namespace=namespace), world)
    most = max((_running(pods, when.seq) for life in pods for when, _obj in life.versions), default=0)
    refused = bool(list(_refusals(world, namespace, jobset)))
    asked = _pods_of(sets[-1].versions[-1][1])
    if refused and 0 < most < asked:
        return Verdict(passed=True, evidence=(sets[-1].title, f"{most}/{asked}"))
    saw = say(
        f"at most {most} of {asked} pods ran at once, " + ("some" if refused else "none") + " refused by the quota",
        f"파드 {asked}개 중 많을 때 {most}개가 돌았고, 쿼터가 거절한 파드는 " + ("있습니다" if refused else "없습니다"),
    )
    moving = world.changed_within(frozenset({"Pod", "Job", "JobSet"}), 2.0)
    return _no(wanted, saw, sets[-1].title, moving=moving, look_at=f"kubectl -n {namespace} describe resourcequota")


def refusal_quoted(world: World, namespace: str, jobset: str, file: str) -> Verdict:
    """The file quotes one of the refusals, word for word."""
    wanted = say(
        f"{file} with the message of an event FailedCreate in {namespace}",
        f"{namespace}의 FailedCreate 이벤트 메시지가 담긴 {file}",
    )
    try:
        text = world.work.read(file).text
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    if any(quotes(text, message) for message in _refusals(world, namespace, jobset)):
        return Verdict(passed=True, evidence=(file,))
    saw = say("no such message, word for word", "글자 그대로인 메시지가 없습니다")
    return _no(wanted, saw, file, look_at=f"kubectl -n {namespace} get events --field-selector reason=FailedCreate")


def _refusals(world: World, namespace: str, jobset: str) -> Iterable[str]:
    for change in world.changes(ObjectRef(kind="Event", namespace=namespace)):
        event = change.object
        about = event.get("involvedObject") or {}
        if event.get("reason") == "FailedCreate" and about.get("kind") == "Job":
            message = str(event.get("message", ""))
            if str(about.get("name", "")).startswith(f"{jobset}-") and "exceeded quota" in message:
                yield message


def _running(pods: list[Life], seq: int) -> int:
    return sum(1 for pod in pods if pod.stands(seq) and pod.running(seq))


def _pods_of(jobset: Object) -> int:
    total = 0
    for replicated in jobset["spec"].get("replicatedJobs", []):
        total += int(replicated.get("replicas", 1)) * int(replicated["template"]["spec"].get("parallelism", 1))
    return total


# -- steps 2 to 5: admitted, waiting, never ---------------------------------------------------------------


def admitted(world: World, kind: str, name: str, gpus: int, queue: str) -> Verdict:
    """The job was admitted by that ClusterQueue, with as many GPUs as wanted."""
    wanted = say(
        f"{kind} {name}, admitted by ClusterQueue {queue} with {gpus} GPU(s)",
        f"ClusterQueue {queue}에서 GPU {gpus}장을 받고 입장한 {kind} {name}",
    )
    found = queued(world, kind, name)
    for one in found:
        if one.asks() == gpus and one.queue == queue and one.admitted():
            return Verdict(passed=True, evidence=(one.life.title,))
    refuse_unseen(world, found)
    if not found:
        return _no(wanted, why_none(world, kind, name), moving=in_motion(world))
    return _no(wanted, _state(found[-1]), found[-1].life.title, moving=in_motion(world))


def waited_whole(world: World, jobset: str, gpus: int, behind: str) -> Verdict:
    """The JobSet waited without a single pod for as long as the Job `behind` had its quota."""
    wanted = say(
        f"JobSet {jobset} with {gpus} GPUs in the queue, and no pod of it before Job {behind} has ended",
        f"GPU {gpus}장을 요청하고 줄을 선 JobSet {jobset}. 파드는 Job {behind} 종료 뒤에만 있어야 합니다",
    )
    firsts = [one for one in queued(world, "Job", behind) if one.admitted()]
    tries = [one for one in queued(world, "JobSet", jobset) if one.asks() == gpus]
    told = ""
    for one in tries:
        first = next((other for other in firsts if other.is_admitted(one.life.born.seq)), None)
        told = (
            _early(world, jobset, one, first)
            if first
            else say(
                f"Job {behind} did not run when {jobset} came",
                f"{jobset} 제출 때 Job {behind}: 돌고 있지 않았습니다",
            )
        )
        if not told and any(one.waits()):
            return Verdict(passed=True, evidence=(one.life.title,))
    refuse_unseen(world, [*firsts, *tries])
    if told:
        return _no(wanted, told, tries[-1].life.title)
    others = queued(world, "JobSet", jobset)
    saw = _state(others[-1]) if others else why_none(world, "JobSet", jobset)
    return _no(wanted, saw, moving=in_motion(world) and bool(others))


def _early(world: World, jobset: str, one: Queued, first: Queued) -> str:
    """What of the JobSet was there before the first job had ended, in words; empty where nothing was."""
    end, let_in = first.ended, one.admitted()
    if let_in and (end is None or let_in.seq < end.seq):
        return say(
            f"{jobset} was admitted while {first.life.name} still ran",
            f"{jobset}: {first.life.name} 실행 중에 이미 입장했습니다",
        )
    mine = {str(owner.get("uid")) for owner in meta(one.latest).get("ownerReferences") or []}
    for pod in lives(ObjectRef(kind="Pod", selector=f"{JOBSET_LABEL}={jobset}"), world):
        of_this = (meta(pod.versions[0][1]).get("labels") or {}).get(JOBSET_UID) in mine
        if of_this and (end is None or pod.created() < _clock(first, end)):
            return say(f"{pod.title} existed before that", f"그 전에 파드가 있었습니다: {pod.title}")
    return ""


def _clock(first: Queued, end: Instant) -> float:
    """When it ended by the API's clock, in whole seconds: kinds are watched apart, so only that compares them."""
    finished = condition(first.life.version(end.seq), "Finished") or {}
    stamp = instant(finished.get("lastTransitionTime"))
    return end.at - _LATE if stamp is None else stamp


def admitted_after(world: World, jobset: str, behind: str) -> Verdict:
    """The Workload that had waited was admitted once the Job `behind` had completed."""
    wanted = say(
        f"JobSet {jobset}, admitted after Job {behind} completed",
        f"Job {behind} 완료 뒤에 입장한 JobSet {jobset}",
    )
    firsts = queued(world, "Job", behind)
    tries = queued(world, "JobSet", jobset)
    for one in tries:
        let_in = one.admitted()
        done = [other.finished for other in firsts if other.is_admitted(one.life.born.seq) and other.finished]
        if let_in and any(one.waits()) and any(end.seq < let_in.seq for end in done):
            return Verdict(passed=True, evidence=(one.life.title,))
    refuse_unseen(world, [*firsts, *tries])
    completed = any(one.finished for one in firsts)
    saw = _state(tries[-1]) if tries else why_none(world, "JobSet", jobset)
    if not completed:
        saw = say(f"Job {behind} has not completed; ", f"Job {behind}: 아직 완료되지 않았습니다. ") + saw
    return _no(wanted, saw, *(one.life.title for one in tries[-1:]), moving=completed and in_motion(world))


def never_fits(world: World, jobset: str, gpus: int, queue: str) -> Verdict:
    """The JobSet asks for more than its queue can ever give, and Kueue says so."""
    wanted = say(
        f"JobSet {jobset} with {gpus} GPUs in ClusterQueue {queue}, and what Kueue says of it",
        f"ClusterQueue {queue}에 GPU {gpus}장을 요청한 JobSet {jobset}, 그리고 Kueue의 답",
    )
    tries = queued(world, "JobSet", jobset)
    for one in tries:
        beyond = any("maximum capacity" in str(why.get("message")) for _when, why in one.waits())
        if one.asks() == gpus and beyond and one.admitted() is None:
            return Verdict(passed=True, evidence=(one.life.title,))
    refuse_unseen(world, tries)
    if not tries:
        return _no(wanted, why_none(world, "JobSet", jobset), moving=in_motion(world))
    return _no(wanted, _state(tries[-1]), tries[-1].life.title, moving=in_motion(world))


def _state(one: Queued) -> str:
    """What became of a Workload, in words."""
    asks = say(f"it asks for {one.asks()} GPU(s); ", f"GPU {one.asks()}장을 요청했습니다. ")
    if one.finished:
        return asks + say("it has finished", "끝났습니다")
    if one.admitted():
        return asks + say(f"ClusterQueue {one.queue} admitted it", f"ClusterQueue {one.queue}에 입장했습니다")
    why = [str(found.get("message")) for _when, found in one.waits()]
    return asks + (why[-1] if why else say("Kueue has not looked at it yet", "Kueue가 아직 보지 않았습니다"))


def reason_given(world: World, file: str, jobset: str, fields: dict[str, str]) -> Verdict:
    """The file gives what Kueue said of the JobSet at any time while it waited.

    `fields`: key → value, where `<reason>` and `<message>` stand for those of the condition.
    """
    keys = ", ".join(fields)
    wanted = say(
        f"{file} with {keys}, as Kueue said of JobSet {jobset} while it waited",
        f"{file}: JobSet {jobset} 대기 중에 Kueue가 남긴 그대로의 {keys}",
    )
    try:
        entries, wrong = read_entries(world.work.read(file))
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    given = {entry.key: " ".join(entry.value.split()) for entry in entries}
    if wrong or set(given) != set(fields) or len(entries) != len(given):
        saw = wrong[0].what if wrong else say("its keys are: ", "적힌 키: ") + ", ".join(entry.key for entry in entries)
        return _no(wanted, saw, file)
    tries = queued(world, "JobSet", jobset)
    nearest = list(fields)
    for one in tries:
        for _when, why in one.waits():
            meant = {"<reason>": str(why.get("reason")), "<message>": " ".join(str(why.get("message")).split())}
            off = [key for key, value in fields.items() if given[key] != meant.get(value, value)]
            if not off:
                return Verdict(passed=True, evidence=(file, one.life.title))
            nearest = min(nearest, off, key=len)
    refuse_unseen(world, tries)
    lines = {entry.key: entry.line for entry in entries}
    saw = say("not so: ", "다릅니다: ") + ", ".join(nearest)
    return _no(wanted, saw, *(f"{file}:{lines[key]}" for key in nearest))


# -- step 6 ----------------------------------------------------------------------------------------------


def classes(world: World, low: str, high: str) -> Verdict:
    """Both Jobs have a priority from a WorkloadPriorityClass, `high` the higher one."""
    wanted = say(
        f"Jobs {low} and {high} with a WorkloadPriorityClass each, {high} above {low}",
        f"저마다 WorkloadPriorityClass가 있는 Job {low}, {high}. 우선순위는 {high} 쪽이 더 높게",
    )
    saw = ""
    for name in (low, high):
        found = queued(world, "Job", name)
        if not found:
            return _no(wanted, why_none(world, "Job", name), moving=in_motion(world))
        if found[-1].priority_from != "WorkloadPriorityClass":
            given = found[-1].priority_from or say("no class", "클래스 없음")
            saw = say(f"the priority of {name} comes from: {given}", f"{name}의 우선순위가 온 곳: {given}")
            return _no(wanted, saw, found[-1].life.title)
    first, second = queued(world, "Job", low)[-1], queued(world, "Job", high)[-1]
    if second.priority > first.priority:
        return Verdict(passed=True, evidence=(first.life.title, second.life.title))
    saw = f"{low} {first.priority}, {high} {second.priority}"
    return _no(wanted, saw, first.life.title, second.life.title)


def overtook(world: World, low: str, high: str) -> Verdict:
    """`low` was there first, both waited, and `high` was admitted while `low` went on waiting."""
    wanted = say(
        f"{low} first in time, both waiting, then {high} admitted before {low}",
        f"{low} 먼저 제출, 둘 다 대기, 그다음 {high} 쪽이 먼저 입장",
    )
    lows, highs = queued(world, "Job", low), queued(world, "Job", high)
    saw, moving = why_none(world, "Job", low if not lows else high), False
    for one in lows:
        for other in highs:
            saw, moving = _race(one, other)
            if not saw:
                return Verdict(passed=True, evidence=(one.life.title, other.life.title))
    refuse_unseen(world, [*lows, *highs])
    return _no(wanted, saw, moving=in_motion(world) and (moving or not (lows and highs)))


def _race(low: Queued, high: Queued) -> tuple[str, bool]:
    """Why `high` did not overtake `low`, and whether it still may; no words where it did."""
    if high.life.born.seq < low.life.born.seq:
        return say("the one of high priority was there first", "높은 우선순위가 먼저 와 있었습니다"), False
    if not _overlap(low, high):
        return say("they did not wait at the same time", "둘이 함께 기다린 때가 없습니다"), False
    low_in, high_in = low.admitted(), high.admitted()
    if high_in is None:
        return say("the one of high priority is not admitted yet", "높은 우선순위가 아직 입장하지 않았습니다"), True
    if low_in is not None and low_in.seq < high_in.seq:
        return say("the one of low priority was admitted first", "낮은 우선순위가 먼저 입장했습니다"), False
    return "", False


def _overlap(low: Queued, high: Queued) -> bool:
    waited = [when for when, _why in high.waits()]
    let_in = low.admitted()
    return any(low.waits()) and any(let_in is None or when.seq < let_in.seq for when in waited)


# -- step 7 ----------------------------------------------------------------------------------------------


def positions(world: World, file: str, queue: str, newest: str, least: int) -> Verdict:
    """The file has one line for each Workload that waits, with its place; now, or when the file was written."""
    wanted = say(
        f"{file}: one line workload=… position=… for each Workload that waits",
        f"{file}: 기다리는 Workload마다 workload=… position=… 한 줄",
    )
    try:
        learner = world.work.read(file)
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    given: dict[str, int] = {}
    for line in learner.lines:
        words = dict(word.partition("=")[::2] for word in line.text.split())
        if set(words) != {"workload", "position"} or not words["position"].isdecimal() or words["workload"] in given:
            saw = say(f"line {line.number} is not a new workload=… position=…", f"{line.number}번째 줄의 꼴이 다릅니다")
            return _no(wanted, saw, learner.place(line.number))
        given[words["workload"]] = int(words["position"])
    ref = ObjectRef(kind="Workload")
    moments = [world.select(ref), world.select_at(ref, learner.mtime)]
    lines = [_line(objects, queue) for objects in moments]
    for waiting in lines:
        if len(waiting) >= least and _owner_waits(waiting, newest) and _is_line(given, waiting):
            return Verdict(passed=True, evidence=(file,))
    then = max(lines, key=len)
    if len(then) < least or not _owner_waits(then, newest):
        saw = say(
            f"{len(then)} Workload(s) waited; {least} are wanted, that of Job {newest} among them",
            f"기다린 Workload가 {len(then)}개입니다. Job {newest}의 것을 포함해 {least}개여야 합니다",
        )
        return _no(wanted, saw, file, moving=in_motion(world))
    saw = say(
        f"{len(given)} line(s) for {len(then)} waiting Workloads; names or places are not those of the queue",
        f"{len(given)}줄을 적었고 기다린 Workload는 {len(then)}개입니다. 이름이나 자리가 줄과 다릅니다",
    )
    return _no(wanted, saw, file)


def _line(objects: list[Object], queue: str) -> list[Object]:
    """The Workloads that wait in a LocalQueue, best first: by priority, then by age."""
    waiting = [
        obj
        for obj in objects
        if obj["spec"].get("queueName") == queue
        and obj["spec"].get("active", True)
        and not terminating(obj)
        and all((condition(obj, kind) or {}).get("status") != "True" for kind in ("QuotaReserved", "Finished"))
    ]
    return sorted(waiting, key=_rank)


def _rank(obj: Object) -> tuple[int, str]:
    return -int(obj["spec"].get("priority") or 0), str(meta(obj)["creationTimestamp"])


def _owner_waits(waiting: list[Object], job: str) -> bool:
    return any(owner.get("name") == job for obj in waiting for owner in meta(obj).get("ownerReferences") or [])


def _is_line(given: dict[str, int], waiting: list[Object]) -> bool:
    """Whether the places are those of the line; two of one priority and one second may stand either way."""
    names = {str(meta(obj)["name"]): _rank(obj) for obj in waiting}
    if set(given) != set(names) or sorted(given.values()) != list(range(len(names))):
        return False
    in_order = [names[name] for name in sorted(given, key=lambda name: given[name])]
    return in_order == sorted(in_order)
