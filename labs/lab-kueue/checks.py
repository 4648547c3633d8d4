"""What lab-kueue asks of Kueue's history: who was admitted, who waited for whom, who stood where in the line.

Everything is read from recorded Workloads, pods and events, so a learner may tidy up before checking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.i18n import language
from grader.checks.answer import Entry, read_entries
from grader.checks.base import ObjectRef
from grader.checks.happened.lives import lives
from grader.checks.instead import instead
from grader.checks.objects import condition, meta, terminating
from grader.checks.settling import instant
from grader.checks.text import quotes
from grader.checks.words import listed, shorten
from grader.checks.work import FileTrouble
from grader.checks.workloads import Queued, in_motion, none_made, queued, refuse_unseen, standing
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.checks.happened.lives import Instant, Life
    from grader.checks.objects import Object
    from grader.checks.world import World

JOBSET_LABEL = "jobset.sigs.k8s.io/jobset-name"
JOBSET_UID = "jobset.sigs.k8s.io/jobset-uid"

_NOT_YET, _NEVER = "insufficient unused quota", "maximum capacity"
"""Words of Kueue's two messages: others hold what is needed; there is not so much."""
_LATE = 5.0
"""Seconds by which a recorded change may be late on a busy machine."""


def say(en: str, ko: str) -> str:
    """What only this lab says, in the language in force; the catalog holds what every lab may say."""
    return ko if language() == "ko" else en


def _no(wanted: str, saw: str, *where: str, moving: bool = False, plain: bool = False) -> Verdict:
    """`plain`: what was seen is itself the mistake; no cause is looked for."""
    finding = Finding(wanted=wanted, saw=saw, where=where, plain=plain)
    return Verdict(passed=False, finding=finding, moving=moving)


def _gpus(count: object) -> str:
    return say(f"{count} GPU" if str(count) == "1" else f"{count} GPUs", f"GPU {count}장")


# -- step 1 ----------------------------------------------------------------------------------------------


def half_started(world: World, namespace: str, jobset: str) -> Verdict:
    """Some pods of the JobSet ran, never all of them at once, because a ResourceQuota refused the rest."""
    wanted = say(
        f"a JobSet {jobset} in {namespace} that the quota lets in only in part",
        f"{namespace}의 JobSet {jobset} 가운데 일부만 쿼터를 통과한 상태",
    )
    gang = ObjectRef(kind="JobSet", name=jobset, namespace=namespace)
    sets = lives(gang, world)
    if not sets:
        saw = say(f"there has been no JobSet {namespace}/{jobset} yet", f"아직 없었던 JobSet {namespace}/{jobset}")
        return _no(wanted, saw + instead(world, gang))
    pods = lives(ObjectRef(kind="Pod", selector=f"{JOBSET_LABEL}={jobset}", namespace=namespace), world)
    most = max((_running(pods, when.seq) for life in pods for when, _obj in life.versions), default=0)
    refused = bool(list(_refusals(world, namespace, jobset)))
    asked = _pods_of(sets[-1].versions[-1][1])
    if refused and 0 < most < asked:
        return Verdict(passed=True, evidence=(sets[-1].title, f"{most}/{asked}"))
    saw = say(
        f"at most {most} of {asked} pods ran at once, and the quota refused " + ("some" if refused else "none"),
        f"파드 {asked}개 중 많을 때 {most}개가 돌았고, 쿼터가 거절한 파드는 " + ("있습니다" if refused else "없습니다"),
    )
    moving = world.changed_within(frozenset({"Pod", "Job", "JobSet"}), 2.0)
    return _no(wanted, saw, sets[-1].title, moving=moving)


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
    messages = list(_refusals(world, namespace, jobset))
    if any(quotes(text, message) for message in messages):
        return Verdict(passed=True, evidence=(file,))
    if any(quotes(message, text) for message in messages):
        saw = say("only a part of such a message", "그런 메시지의 일부만 있습니다")
    else:
        saw = say("no such message, word for word", "글자 그대로 옮긴 메시지가 없습니다")
    return _no(wanted, saw, file)


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
        f"{kind} {name}, admitted by ClusterQueue {queue} with {_gpus(gpus)}",
        f"ClusterQueue {queue}에서 {_gpus(gpus)}을 받고 입장한 {kind} {name}",
    )
    found = queued(world, kind, name)
    for one in found:
        if one.asks() == gpus and one.queue == queue and one.admitted():
            return Verdict(passed=True, evidence=(one.life.title,))
    refuse_unseen(world, found)
    if not found:
        return none_made(world, wanted, kind, name)
    unlike = found[-1].asks() != gpus
    return _no(wanted, standing(found[-1], name), found[-1].life.title, moving=in_motion(world), plain=unlike)


def went_through(world: World, name: str) -> Verdict:
    """The Job was admitted, and then its pods ran and succeeded."""
    wanted = say(
        f"Job {name}, admitted, its pod placed on a node and succeeded",
        f"입장하고, 파드가 노드에 놓여 성공까지 마친 Job {name}",
    )
    found = queued(world, "Job", name)
    done = next((one for one in found if one.finished and one.admitted()), None)
    if done:
        return Verdict(passed=True, evidence=(done.life.title,))
    refuse_unseen(world, found)
    if not found:
        return none_made(world, wanted, "Job", name)
    saw = say("admitted, and its pod has not ended", "입장했지만 파드가 끝나지 않았습니다")
    if not found[-1].admitted():
        saw = standing(found[-1], name)
    return _no(wanted, saw, _title(world, "Job", name), moving=in_motion(world))


def _title(world: World, kind: str, name: str) -> str:
    return ObjectRef(kind=kind, name=name).title(world.namespace)


def _said(one: Queued, words: str) -> bool:
    """Whether Kueue gave that reason at any time for which the Workload waited."""
    return any(words in str(why.get("message")) for _when, why in one.waits())


def waited_whole(world: World, jobset: str, gpus: int, behind: str) -> Verdict:
    """The JobSet waited for quota without a single pod for as long as the Job `behind` had its own."""
    wanted = say(
        f"JobSet {jobset} with {_gpus(gpus)} in the queue, and no pod of it before Job {behind} has ended",
        f"{_gpus(gpus)}을 요청하고 줄을 선 JobSet {jobset}. 파드는 Job {behind}가 끝난 뒤에만 있어야 합니다",
    )
    firsts = [one for one in queued(world, "Job", behind) if one.admitted()]
    every = queued(world, "JobSet", jobset)
    tries = [one for one in every if one.asks() == gpus]
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
        if not told and _said(one, _NOT_YET):
            return Verdict(passed=True, evidence=(one.life.title,))
    refuse_unseen(world, [*firsts, *tries])
    if told:
        return _no(wanted, told, tries[-1].life.title, plain=True)
    if not every:
        return none_made(world, wanted, "JobSet", jobset)
    return _no(wanted, standing(every[-1], jobset), every[-1].life.title, moving=in_motion(world), plain=not tries)


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
        if let_in and _said(one, _NOT_YET) and any(end.seq < let_in.seq for end in done):
            return Verdict(passed=True, evidence=(one.life.title,))
    refuse_unseen(world, [*firsts, *tries])
    if not tries:
        return none_made(world, wanted, "JobSet", jobset)
    saw = standing(tries[-1], jobset)
    if not any(one.finished for one in firsts):
        saw = say(f"Job {behind} has not completed; ", f"Job {behind}: 아직 완료되지 않았습니다. ") + saw
    return _no(wanted, saw, tries[-1].life.title, moving=in_motion(world))


def never_fits(world: World, jobset: str, gpus: int, queue: str) -> Verdict:
    """The JobSet asks for more than its queue can ever give, and Kueue says so."""
    wanted = say(
        f"JobSet {jobset} with {_gpus(gpus)} in ClusterQueue {queue}, and what Kueue says of it",
        f"ClusterQueue {queue}에 {_gpus(gpus)}을 요청한 JobSet {jobset}, 그리고 Kueue의 답",
    )
    tries = queued(world, "JobSet", jobset)
    for one in tries:
        if one.asks() == gpus and _said(one, _NEVER) and one.admitted() is None:
            return Verdict(passed=True, evidence=(one.life.title,))
    refuse_unseen(world, tries)
    if not tries:
        return none_made(world, wanted, "JobSet", jobset)
    unlike = tries[-1].asks() != gpus
    return _no(wanted, standing(tries[-1], jobset), tries[-1].life.title, moving=in_motion(world), plain=unlike)


def reason_given(
    world: World,
    file: str,
    jobset: str,
    because: str,
    fields: dict[str, str],
    one_of: dict[str, list[str]] | None = None,
) -> Verdict:
    """The file gives what Kueue said of the JobSet at any time while it waited for the reason meant.

    `because`: words of the message by which that reason is known; `fields`: key → value, where `<reason>` and
    `<message>` stand for those of the condition; `one_of`: key → the words among which a learner is to choose.
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
        return _no(wanted, wrong[0].what if wrong else _keys_off(entries, fields), file)
    for key, words in (one_of or {}).items():
        given[key] = given[key].casefold()
        if given[key] not in words:
            line = next(entry.line for entry in entries if entry.key == key)
            choice = say(" nor ", ", ").join(words)
            saw = say(f'{key} is "{given[key]}", neither {choice}', f'{key}: "{given[key]}". 쓸 수 있는 말: {choice}')
            return _no(wanted, saw, f"{file}:{line}")
    tries = queued(world, "JobSet", jobset)
    nearest = list(fields)
    for one in tries:
        for _when, why in one.waits():
            meant = {"<reason>": str(why.get("reason")), "<message>": " ".join(str(why.get("message")).split())}
            off = [key for key, value in fields.items() if given[key] != meant.get(value, value)]
            if because not in meant["<message>"]:
                continue
            if not off:
                return Verdict(passed=True, evidence=(file, one.life.title))
            nearest = min(nearest, off, key=len)
    refuse_unseen(world, tries)
    lines = {entry.key: entry.line for entry in entries}
    saw = "; ".join(
        say(
            f'line {lines[key]}: {key} is not what Kueue said, but "{shorten(given[key])}"',
            f'{lines[key]}번 줄: {key} 값이 Kueue의 말과 다름: "{shorten(given[key])}"',
        )
        for key in nearest
    )
    return _no(wanted, saw, *(f"{file}:{lines[key]}" for key in nearest))


def _keys_off(entries: list[Entry], fields: dict[str, str]) -> str:
    """What is wrong with the keys of a file, in words: missing, given twice, not asked for."""
    keys = [entry.key for entry in entries]
    if missing := [key for key in fields if key not in keys]:
        return say("no line for ", "없는 줄: ") + ", ".join(missing)
    if extra := [key for key in keys if key not in fields]:
        return say("not asked for: ", "필요 없는 줄: ") + ", ".join(extra)
    return say("twice: ", "두 번 적힌 줄: ") + ", ".join(sorted({key for key in keys if keys.count(key) > 1}))


# -- step 6 ----------------------------------------------------------------------------------------------


def classes(world: World, low: str, high: str) -> Verdict:
    """Both Jobs have a priority from a WorkloadPriorityClass, `high` the higher one."""
    wanted = say(
        f"Jobs {low} and {high} with a WorkloadPriorityClass each, {high} above {low}",
        f"저마다 WorkloadPriorityClass가 있는 Job {low}, {high}. 우선순위는 {high} 쪽이 더 높게",
    )
    every = {name: queued(world, "Job", name) for name in (low, high)}
    for first in filter(_classed, every[low]):
        for second in filter(_classed, every[high]):
            if second.priority > first.priority:
                return Verdict(passed=True, evidence=(first.life.title, second.life.title))
    for name, found in every.items():
        if not found:
            return none_made(world, wanted, "Job", name)
        if found[-1].life.doomed and lives(ObjectRef(kind="Job", name=name), world)[-1].doomed is None:
            saw = say(
                f"Kueue has made no Workload for Job {name}", f"Kueue가 Job {name}의 Workload를 만들지 않았습니다"
            )
            return _no(wanted, saw, _title(world, "Job", name), moving=in_motion(world))
        if not _classed(found[-1]):
            given = found[-1].priority_from or say("no class", "클래스 없음")
            saw = say(f"the priority of {name} comes from: {given}", f"{name}의 우선순위가 온 곳: {given}")
            return _no(wanted, saw, found[-1].life.title, plain=True)
    saw = say("the priorities: ", "우선순위: ") + ", ".join(f"{name} {one[-1].priority}" for name, one in every.items())
    return _no(wanted, saw, *(one[-1].life.title for one in every.values()), plain=True)


def _classed(one: Queued) -> bool:
    return one.priority_from == "WorkloadPriorityClass"


def overtook(world: World, low: str, high: str) -> Verdict:
    """`low` was there first, both waited, and `high` was admitted while `low` went on waiting."""
    wanted = say(
        f"{low} first in time, both waiting, then {high} admitted before {low}",
        f"{low} 먼저 제출, 둘 다 대기, 그다음 {high} 쪽이 먼저 입장",
    )
    lows, highs = queued(world, "Job", low), queued(world, "Job", high)
    if not (lows and highs):
        return none_made(world, wanted, "Job", high if lows else low)
    saw, moving = "", True
    for one in lows:
        for other in highs:
            saw, moving = _race((low, one), (high, other))
            if not saw:
                return Verdict(passed=True, evidence=(one.life.title, other.life.title))
    refuse_unseen(world, [*lows, *highs])
    return _no(
        wanted, saw, *(one.life.title for one in highs[-1:]), moving=moving and in_motion(world), plain=not moving
    )


def _race(low: tuple[str, Queued], high: tuple[str, Queued]) -> tuple[str, bool]:
    """Why `high` did not overtake `low`, and whether it still may; no words where it did."""
    (lesser, one), (greater, other) = low, high
    low_in, high_in = one.admitted(), other.admitted()
    if other.life.born.seq < one.life.born.seq:
        return say(f"{greater} was there before {lesser}", f"{lesser}보다 {greater}가 먼저 와 있었습니다"), False
    if low_in is not None and (high_in is None or low_in.seq < high_in.seq):
        return say(f"{lesser} was admitted first", f"{lesser}가 먼저 입장했습니다"), False
    if high_in is None:
        return say(f"{greater} is not admitted yet", f"{greater}가 아직 입장하지 않았습니다"), True
    gone = one.life.doomed is not None and one.life.doomed.seq < high_in.seq
    if gone or not (any(one.waits()) and any(other.waits())):
        return say("they did not wait at the same time", "둘이 함께 기다린 때가 없습니다"), False
    return "", False


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
            saw = say(
                f"line {line.number} is not a new workload=… position=…",
                f"{line.number}번째 줄이 workload=… position=… 꼴의 새 줄이 아닙니다",
            )
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
            f"{len(then)} waited; it takes {least} Workloads, that of Job {newest} among them",
            f"기다린 Workload가 {len(then)}개입니다. Job {newest}의 것을 포함해 {least}개여야 합니다",
        )
        return _no(wanted, saw, file, moving=in_motion(world))
    return _no(wanted, _unlike_line(given, then), file)


def _unlike_line(given: dict[str, int], waiting: list[Object]) -> str:
    """What is wrong with the places, in words that give none away."""
    names = {str(meta(obj)["name"]) for obj in waiting}
    if unknown := [name for name in given if name not in names]:
        return say("no Workload of this name waits: ", "이런 이름으로 기다리는 Workload 없음: ") + listed(unknown)
    if len(given) < len(names):
        return say(
            f"lines for {len(given)} of {len(names)} waiting Workloads",
            f"기다리는 Workload {len(names)}개 가운데 {len(given)}개만 적혀 있습니다",
        )
    if min(given.values()) > 0:
        return say("nobody is at place 0, where the line begins", "줄이 시작하는 0번 자리에 아무도 없습니다")
    return say("the names are right, the places are not", "이름은 맞지만 자리가 다릅니다")


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
