"""What lab-cohort asks of Kueue's history: who was kept out, who had to go for whom, what a trainer lost.

Everything is read from recorded Workloads, pods and ClusterQueues, so a learner may tidy up before checking.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cluster.i18n import language
from cluster.spec import GPU
from grader.checks.base import ObjectRef
from grader.checks.happened.lives import lives
from grader.checks.matching import matches
from grader.checks.objects import meta
from grader.checks.text import quotes
from grader.checks.work import FileTrouble, LearnerFile
from grader.checks.workloads import Queued, in_motion, none_made, queued, refuse_unseen, standing
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.checks.happened.lives import Instant, Life
    from grader.checks.objects import Object
    from grader.checks.world import World


_LATE = 5.0
"""Seconds by which a recorded change may be late on a busy machine: each kind has its own watch."""


def say(en: str, ko: str) -> str:
    """What only this lab says, in the language in force; the catalog holds what every lab may say."""
    return ko if language() == "ko" else en


def _no(wanted: str, saw: str, *where: str, moving: bool = False, plain: bool = False) -> Verdict:
    """`plain`: what was seen is itself the mistake; no cause is looked for."""
    finding = Finding(wanted=wanted, saw=saw, where=where, plain=plain)
    return Verdict(passed=False, finding=finding, moving=moving)


# -- steps 2 and 3: limits --------------------------------------------------------------------------------


def _beyond(one: Queued, capacity: int) -> Iterator[str]:
    """The messages by which Kueue kept it out because its queue can reach no more than `capacity`."""
    for _when, why in one.waits():
        message = str(why.get("message", ""))
        if f"maximum capacity ({capacity})" in message:
            yield message


def kept_out(world: World, jobset: str, gpus: int, queue: str, capacity: int) -> Verdict:
    """The JobSet could not come in because its queue reached `capacity` GPUs only."""
    wanted = say(
        f"JobSet {jobset} with {gpus} GPUs, kept out by the borrowing limit of its queue",
        f"GPU {gpus}장을 요청했고, 큐의 borrowingLimit 때문에 들어가지 못한 JobSet {jobset}",
    )
    tries = queued(world, "JobSet", jobset)
    for one in tries:
        if one.asks() == gpus and any(_beyond(one, capacity)):
            return Verdict(passed=True, evidence=(one.life.title,))
    refuse_unseen(world, tries)
    if not tries:
        return none_made(world, wanted, "JobSet", jobset)
    limit = _quota(world, queue).get("borrowingLimit", say("none", "없음"))
    saw = standing(tries[-1], jobset) + say(f"; its borrowingLimit now: {limit}", f". 지금 borrowingLimit: {limit}")
    return _no(wanted, saw, tries[-1].life.title, moving=in_motion(world), plain=True)


def _quota(world: World, queue: str) -> Object:
    """What the ClusterQueue says of GPUs now, in the first flavor that has them."""
    for obj in world.select(ObjectRef(kind="ClusterQueue", name=queue)):
        for group in obj["spec"].get("resourceGroups") or []:
            for flavor in group.get("flavors") or []:
                for resource in flavor.get("resources") or []:
                    if resource.get("name") == GPU:
                        return dict(resource)
    return {}


def quoted(world: World, file: str, jobset: str, capacity: int) -> Verdict:
    """The file quotes the message by which the JobSet was kept out."""
    wanted = say(
        f"{file} with the message that keeps JobSet {jobset} out, word for word",
        f"{file}: JobSet {jobset} 대기 이유의 메시지, 글자 그대로",
    )
    try:
        text = world.work.read(file).text
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    tries = queued(world, "JobSet", jobset)
    meant = [message for one in tries for message in _beyond(one, capacity)]
    if any(quotes(text, message) for message in meant):
        return Verdict(passed=True, evidence=(file,))
    others = [str(why.get("message", "")) for one in tries for _when, why in one.waits()]
    saw = say("no such message", "그런 메시지가 없습니다")
    if any(quotes(message, text) for message in meant):
        saw = say("only a part of the message", "메시지의 일부만 있습니다")
    elif any(quotes(text, message) or quotes(message, text) for message in others):
        saw = say("what was said at another time, before the limit", "한도를 두기 전, 다른 때의 메시지입니다")
    return _no(wanted, saw, file)


def reach_probed(world: World, queue: str, lender: str, lends: int, reachable: int) -> Verdict:
    """Since `lender` lends so much, a job of `reachable` GPUs came in, and one of one more was told it never can."""
    wanted = say(
        f"with {lender} lending {lends}: a job of {reachable} GPUs admitted by ClusterQueue {queue}, "
        f"and one of {reachable + 1} that can never fit",
        f"{lender}의 lendingLimit이 {lends}인 동안 ClusterQueue {queue}에 입장한 {reachable}장짜리 작업, "
        f"그리고 결코 들어갈 수 없는 {reachable + 1}장짜리 작업",
    )
    since = _lends_since(world, lender, lends)
    every = [Queued(life) for life in lives(ObjectRef(kind="Workload"), world)]
    fit = [one for one in every if one.asks() == reachable]
    beyond = [one for one in every if one.asks() == reachable + 1]
    let_in = any(when.at > since for one in fit if one.queue == queue for when, _why in one.turns("Admitted"))
    if let_in and any(any(_beyond(one, reachable)) for one in beyond):
        return Verdict(passed=True, evidence=tuple(one.life.title for one in (fit[-1], beyond[-1])))
    refuse_unseen(world, every)
    if not beyond:
        saw = say(f"no job has asked for {reachable + 1} GPUs", f"GPU {reachable + 1}장을 요청한 작업이 없습니다")
        return _no(wanted, saw, moving=in_motion(world))
    probes = [*fit[-1:], *beyond[-1:]]
    saw = "; ".join(standing(one, one.life.name) for one in probes)
    return _no(wanted, saw, *(one.life.title for one in probes), moving=in_motion(world))


def _lends_since(world: World, lender: str, lends: int) -> float:
    """When the ClusterQueue first had that lending limit, a little before the record of it; endless if never."""
    wanted = {"spec": {"resourceGroups": [{"flavors": [{"resources": [{"name": GPU, "lendingLimit": lends}]}]}]}}
    for life in lives(ObjectRef(kind="ClusterQueue", name=lender), world):
        for when, obj in life.versions:
            if matches(wanted, obj, {}):
                return when.at - _LATE
    return math.inf


# -- steps 4 and 5: preemption ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Party:
    """A Job that takes part in a preemption, and its Workloads."""

    name: str
    every: list[Queued]


def preempted(
    world: World,
    victim: dict[str, str],
    winner: dict[str, str],
    spared: dict[str, str],
    reason: str,
    rule: dict[str, str],
) -> Verdict:
    """The victim was evicted by Kueue for that reason and requeued, then the winner came in; `spared` stayed.

    `rule`: the ClusterQueue (`queue`) and the `field` of its preemption that allow it.
    """
    wanted = say(
        f"Job {winner['name']} in, Job {victim['name']} preempted for it by {rule['field']} and back in the line, "
        f"Job {spared['name']} untouched",
        f"Job {winner['name']} 입장, {rule['field']}에 따라 자리를 내주고 다시 줄을 선 Job {victim['name']}, "
        f"그대로 있는 Job {spared['name']}",
    )
    losers, winners, others = (_party(world, job) for job in (victim, winner, spared))
    for job, party in ((victim, losers), (winner, winners)):
        if not party.every:
            return none_made(world, wanted, "Job", job["name"], job.get("namespace", ""))
    saw, moving = "", True
    for loser in losers.every:
        for gainer in winners.every:
            saw, moving = _fall(loser, gainer, others, reason)
            if not saw:
                return Verdict(passed=True, evidence=(loser.life.title, gainer.life.title))
    refuse_unseen(world, losers.every)
    refuse_unseen(world, winners.every, winner.get("namespace", ""))
    loser, gainer = losers.every[-1], winners.every[-1]
    if not any(loser.turns("Preempted")):
        saw += _unruled(world, rule, (winner["name"], gainer), (victim["name"], loser))
    return _no(wanted, saw, loser.life.title, gainer.life.title, moving=moving and in_motion(world))


def _unruled(world: World, rule: dict[str, str], winner: tuple[str, Queued], victim: tuple[str, Queued]) -> str:
    """What of the rule or the priorities keeps anybody from being preempted, as a clause; "" for nothing."""
    queue, field = rule["queue"], rule["field"]
    found = next(iter(world.select(ObjectRef(kind="ClusterQueue", name=queue))), {})
    policy = ((found.get("spec") or {}).get("preemption") or {}).get(field, "Never")
    (greater, gainer), (lesser, loser) = winner, victim
    if policy == "LowerPriority" and gainer.priority <= loser.priority:
        both = f"{greater} {gainer.priority}, {lesser} {loser.priority}"
        return say(f"; priorities: {both}", f". 우선순위: {both}")
    if policy == "Never":
        return say(f"; {field} of ClusterQueue {queue} is Never", f". ClusterQueue {queue}의 {field}: Never")
    return ""


def _party(world: World, job: dict[str, str]) -> _Party:
    return _Party(job["name"], queued(world, "Job", job["name"], job.get("namespace", "")))


def _fall(loser: Queued, gainer: Queued, others: _Party, reason: str) -> tuple[str, bool]:
    """Why this was no such preemption, and whether it may become one; no words where it was."""
    name = loser.life.name
    falls = list(loser.turns("Preempted"))
    if not falls and loser.life.doomed is not None:
        return say(f"{name} was deleted, not preempted", f"{name}: 선점이 아니라 삭제되었습니다"), False
    told = say(f"{name} has not been preempted", f"{name}: 선점된 적이 없습니다"), True
    for out, why in falls:
        if why.get("reason") != reason:
            told = say(f"{name} was preempted: {why.get('reason')}", f"{name}: 선점 이유 {why.get('reason')}"), True
        elif gainer.life.uid not in str(why.get("message")):
            told = say(f"{name} was preempted for another job", f"{name}: 다른 작업에 선점되었습니다"), True
        else:
            told = _after(loser, gainer, others, out)
            if not told[0]:
                return told
    return told


def _after(loser: Queued, gainer: Queued, others: _Party, out: Instant) -> tuple[str, bool]:
    """What is wrong with what followed a preemption, and whether it may still come; no words where all is well."""
    name, let_in = loser.life.name, gainer.admitted(since=out)
    if let_in is None:
        return say(f"{gainer.life.name} is not in yet", f"{gainer.life.name}: 아직 입장하지 않았습니다"), True
    again, doomed = loser.when("QuotaReserved", "False", since=out), loser.life.doomed
    if again is None or (doomed is not None and doomed.seq < let_in.seq):
        return say(f"{name} did not go back into the line", f"{name}: 줄로 돌아가지 않았습니다"), True
    if not any(one.is_admitted(out.seq) and one.is_admitted(let_in.seq) for one in others.every):
        return say(f"Job {others.name} did not run all the while", f"Job {others.name}: 내내 돌지는 않았습니다"), False
    return "", False


# -- step 6 ----------------------------------------------------------------------------------------------


def went_on(world: World, job: str, file: str) -> Verdict:
    """By the log, a pod of the Job went on where the one before it, which was preempted, had stopped."""
    wanted = say(
        f"{file} with the steps of two pods of Job {job}, the second going on where the preempted first one stopped",
        f"{file}: Job {job} 파드 둘의 step. 둘째 파드는 선점된 첫째가 멈춘 곳에서 이어져야 합니다",
    )
    try:
        log = world.work.read(file)
    except FileTrouble as trouble:
        more = say(
            "; play.sh writes it while a pod of the Job runs", ". Job의 파드가 도는 동안 play.sh가 쓰는 파일입니다"
        )
        return _no(wanted, trouble.message + more, trouble.where)
    tries = queued(world, "Job", job)
    evictions = [at for one in tries for at, _why in one.turns("Evicted", reason="Preempted")]
    pods = {life.uid: life for life in lives(ObjectRef(kind="Pod", selector=f"job-name={job}"), world)}
    runs = [(uid, steps) for uid, steps in _runs(log).items() if uid in pods]
    saw = say(f"pods of Job {job} with steps in it: {len(runs)}", f"step이 적힌 Job {job}의 파드: {len(runs)}개")
    for (uid, before), (next_uid, after) in pairwise(runs):
        first, second = pods[uid], pods[next_uid]
        if not any(_between(first, second, eviction.at) for eviction in evictions):
            saw = say(f"{first.title} was not preempted", f"{first.title}: 선점되지 않았습니다")
        elif len(before) < 3:
            saw = say("the first pod had done fewer than 3 steps", "첫 파드가 한 step이 3개가 안 됩니다")
        elif before[-1] <= after[0] <= before[-1] + 2:  # a signal may come between counting a step and telling it
            return Verdict(passed=True, evidence=(first.title, second.title, f"{before[-1]} -> {after[0]}"))
        else:
            saw = say(
                f"the first pod stopped at step {before[-1]}, the next one began at step {after[0]}",
                f"첫 파드는 step {before[-1]}에서 멈췄고, 다음 파드는 step {after[0]}부터 시작했습니다",
            )
    refuse_unseen(world, tries)
    return _no(wanted, saw, file, moving=in_motion(world) and len(runs) < 2)


def _runs(log: LearnerFile) -> dict[str, list[int]]:
    """The steps each pod told, by its UID, in the order of the log."""
    runs: dict[str, list[int]] = {}
    for line in log.lines:
        words = dict(word.partition("=")[::2] for word in line.text.split())
        if words.get("step", "").isdecimal() and words.get("pod"):
            runs.setdefault(words["pod"], []).append(int(words["step"]))
    return runs


def _between(first: Life, second: Life, eviction: float) -> bool:
    """Whether the eviction ended the first pod, and the second is its successor."""
    owners = [meta(life.versions[0][1]).get("ownerReferences") for life in (first, second)]
    if first.doomed is None or owners[0] != owners[1] or second.born.seq < first.doomed.seq:
        return False
    return abs(first.doomed.at - eviction) < _LATE


# -- step 7 ----------------------------------------------------------------------------------------------


def metrics_told(world: World, file: str, queues: list[str]) -> Verdict:
    """One line for each queue with what waits and what is admitted, now or when the file was written.

    Kueue's gauges and a ClusterQueue's status are two views of the same count, the status up to a second late;
    the status is recorded.
    """
    wanted = say(
        f"{file}: queue=… pending=… admitted=… for {', '.join(queues)}, while somebody waits",
        f"{file}: 기다리는 것이 있을 때 {', '.join(queues)}의 queue=… pending=… admitted=…",
    )
    try:
        learner = world.work.read(file)
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    given: dict[str, tuple[str, str]] = {}
    for line in learner.lines:
        words = dict(word.partition("=")[::2] for word in line.text.split())
        numbers = (words.get("pending", ""), words.get("admitted", ""))
        if len(words) != 3 or not all(map(str.isdecimal, numbers)) or words.get("queue") in (None, *given):
            saw = say(
                f"line {line.number} is not a new queue=… pending=<number> admitted=<number>",
                f"{line.number}번째 줄이 queue=… pending=<수> admitted=<수> 꼴의 새 줄이 아닙니다",
            )
            return _no(wanted, saw, learner.place(line.number))
        given[words["queue"]] = numbers
    ref = ObjectRef(kind="ClusterQueue")
    moments = [world.select(ref), *(world.select_at(ref, learner.mtime + late) for late in (0.0, 1.0, 2.0))]
    counts = [_counts(objects, queues) for objects in moments]
    busy = [count for count in counts if any(pending != "0" for pending, _in in count.values())]
    if given in busy:
        return Verdict(passed=True, evidence=(file,))
    if not busy:
        saw = say(
            "nobody waits, and nobody waited when the file was written",
            "지금도, 파일을 쓸 때에도 기다리는 것이 없습니다",
        )
        return _no(wanted, saw, file, moving=in_motion(world))
    if set(given) != set(queues):
        saw = say("lines for: ", "적힌 큐: ") + ", ".join(given)
        return _no(wanted, saw, file)
    off = [queue for queue in queues if all(count.get(queue) != given[queue] for count in busy)]
    saw = say("not the numbers of ", "수가 다른 큐: ") + ", ".join(off or queues)
    return _no(wanted, saw, file)


def _counts(objects: list[Object], queues: list[str]) -> dict[str, tuple[str, str]]:
    status = {str(meta(obj)["name"]): obj.get("status") or {} for obj in objects}
    return {
        name: (str(status[name].get("pendingWorkloads") or 0), str(status[name].get("admittedWorkloads") or 0))
        for name in queues
        if name in status
    }
