"""What lab-topology asks of places: in which racks the pods of a job stood, all of them at the same time.

Racks are labels of nodes, which pods do not carry, so each look joins pods with the nodes they are bound to. What
was right at some time counts: jobs are deleted between the steps.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cluster.i18n import language
from grader.checks.answer import read_entries
from grader.checks.base import ObjectRef
from grader.checks.happened.lives import lives
from grader.checks.instead import instead
from grader.checks.objects import condition, labels, meta, terminating, title
from grader.checks.quotes import misquoted
from grader.checks.settling import any_moving
from grader.checks.text import quotes
from grader.checks.words import listed, shown
from grader.checks.work import FileTrouble
from grader.checks.world import HistoryGap
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.checks.objects import Object
    from grader.checks.work import LearnerFile
    from grader.checks.world import World

RACK = "example.com/rack"
JOB, JOBSET, JOB_INDEX = "job-name", "jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/job-index"
PREFERRED = "kueue.x-k8s.io/podset-preferred-topology"
_ON_ITS_WAY = frozenset({"Pod", "Job", "Workload", "JobSet"})


def say(en: str, ko: str) -> str:
    """What only this lab says, in the language in force; the catalog holds what every lab may say."""
    return ko if language() == "ko" else en


def _no(wanted: str, saw: str, *where: str, moving: bool = False, plain: bool = False) -> Verdict:
    return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw, where=where, plain=plain), moving=moving)


# -- where pods stood --------------------------------------------------------------------------------------


def _racks(world: World) -> dict[str, str]:
    """The rack of each node that stands in one."""
    nodes = world.select(ObjectRef(kind="Node", selector=RACK))
    return {str(meta(node)["name"]): labels(node)[RACK] for node in nodes}


def _whole(world: World, selector: str, pods: int) -> Iterator[tuple[Object, ...]]:
    """The pods of a selector at each time at which exactly so many ran at once, the latest time first."""
    pod = ObjectRef(kind="Pod", selector=selector)
    every = lives(pod, world)
    for seq in sorted({when.seq for life in every for when, _obj in life.versions}, reverse=True):
        running = [life for life in every if life.stands(seq) and life.running(seq)]
        if len(running) == pods:
            yield tuple(life.version(seq) for life in running)


def _by_rack(pods: tuple[Object, ...], racks: Mapping[str, str]) -> Counter[str]:
    return Counter(racks.get(str(pod["spec"].get("nodeName", "")), "?") for pod in pods)


def _none_whole(world: World, wanted: str, job: str, pods: int) -> Verdict:
    """Why there was no time at which all pods of a Job ran."""
    ref = ObjectRef(kind="Pod", selector=f"{JOB}={job}")
    there = ObjectRef(kind="Job", name=job)
    if gaps := world.gaps(ref):
        raise HistoryGap(gaps[0].start, gaps[-1].end)
    if not world.changes(there):
        saw = say(f"there has been no Job {job} yet", f"아직 없었던 Job {job}")
        return _no(wanted, saw + instead(world, there))
    now = world.select(ref)
    running = [pod for pod in now if (pod.get("status") or {}).get("phase") == "Running" and not terminating(pod)]
    saw = say(
        f"never {pods} of its pods at once; {len(running)} run now",
        f"파드 {pods}개가 함께 돈 적이 없고, 지금은 {len(running)}개가 돕니다",
    )
    moving = any_moving(now, world.now) or world.changed_within(_ON_ITS_WAY, 2.0)
    return _no(wanted, saw, there.title(world.namespace), moving=moving)


# -- steps 2 and 6: how many in each rack ------------------------------------------------------------------


def scattered(world: World, job: str, pods: int) -> Verdict:
    """All pods of the Job ran at once, in more than one rack."""
    wanted = say(
        f"{pods} running pods of the Job {job}, in several racks",
        f"여러 랙에서 도는 Job {job}의 파드 {pods}개",
    )
    racks = _racks(world)
    found = list(_whole(world, f"{JOB}={job}", pods))
    for standing in found:
        if len(_by_rack(standing, racks)) > 1:
            return Verdict(passed=True, evidence=tuple(map(title, standing)))
    if not found:
        return _none_whole(world, wanted, job, pods)
    saw = say("all of them in one rack", "모두 한 랙에 있습니다")
    return _no(wanted, saw, ObjectRef(kind="Job", name=job).title(world.namespace), plain=True)


def racks_told(world: World, file: str, job: str, pods: int) -> Verdict:
    """The file has a line for each rack with how many pods of the Job stood there, at some time with all running."""
    wanted = say(
        f"{file} with a line rack=… pods=… for each rack that had pods of {job}",
        f"{job}의 파드가 있던 랙마다 rack=… pods=… 한 줄씩 쓴 {file}",
    )
    try:
        found = world.work.read(file)
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    told, wrong = _told(found)
    if wrong:
        return _no(wanted, wrong[1], wrong[0])
    racks = _racks(world)
    times = list(_whole(world, f"{JOB}={job}", pods))
    if any(told == _by_rack(standing, racks) for standing in times):
        return Verdict(passed=True, evidence=(file,))
    if not times:
        return _none_whole(world, wanted, job, pods)
    total = sum(told.values())
    if total != pods:
        saw = say(f"{total} pods in all, the Job has {pods}", f"모두 {total}개인데, Job의 파드는 {pods}개입니다")
    elif unknown := sorted(told.keys() - set(racks.values())):
        saw = say(f"there is no rack {listed(unknown)}", f"{listed(unknown)}라는 랙은 없습니다")
    else:
        saw = say("numbers that are not those of its pods", "파드의 수와 다른 숫자가 적혀 있습니다")
    return _no(wanted, saw, file)


def _told(file: LearnerFile) -> tuple[Counter[str], tuple[str, str] | None]:
    """How many pods each rack has by the file; or the place and what is wrong there."""
    told: Counter[str] = Counter()
    for line in file.lines:
        if line.text.lstrip().startswith("#"):
            continue
        words = dict(word.split("=", 1) for word in line.text.split() if "=" in word)
        rack, pods = words.get("rack", ""), words.get("pods", "")
        place = file.place(line.number)
        if not rack or not pods.isdecimal() or len(words) != len(line.text.split()):
            text = shown(line.text.strip())
            return told, (place, say(f"line {line.number}: {text}", f"{line.number}번째 줄: {text}"))
        if rack in told:
            again = say(f"line {line.number}: {rack} again", f"{line.number}번째 줄: {rack}가 또 있습니다")
            return told, (place, again)
        told[rack] = int(pods)
    return told, None


def preferred(world: World, job: str, pods: int, racks: int, label: str) -> Verdict:
    """Kueue admitted the Job, which prefers one place of that kind, and its pods ran at once in so many racks."""
    wanted = say(
        f"{pods} running pods of the Job {job}, which prefers one rack, in {racks} racks",
        f"한 랙을 선호하는 Job {job}의 파드 {pods}개가 {racks}개 랙에서 도는 상태",
    )
    there = ObjectRef(kind="Job", name=job)
    versions = world.changes(there)
    if versions:
        template = versions[-1].object["spec"]["template"].get("metadata") or {}
        if (template.get("annotations") or {}).get(PREFERRED) != label:
            saw = say("its pod template does not prefer a rack", "파드 템플릿에 랙을 선호한다는 말이 없습니다")
            return _no(wanted, saw, there.title(world.namespace), plain=True)
    return _placed(world, wanted, job, pods, racks)


# -- step 3: the Topology ----------------------------------------------------------------------------------


def levels(world: World, topology: str, labels: list[str]) -> Verdict:
    """The Topology has exactly these levels, in this order."""
    wanted = say(
        f"Topology {topology} with {len(labels)} levels, the widest first",
        f"넓은 것부터 {len(labels)}단계로 된 Topology {topology}",
    )
    ref = ObjectRef(kind="Topology", name=topology)
    found = world.get(ref)
    if found is None:
        saw = say(f"there is no {ref.title(world.namespace)}", f"{ref.title(world.namespace)}가 없습니다")
        return _no(wanted, saw + instead(world, ref))
    has = [str(level.get("nodeLabel", "")) for level in found["spec"].get("levels", [])]
    if has == labels:
        return Verdict(passed=True, evidence=(title(found),))
    if sorted(has) == sorted(labels):
        saw = say("these levels in another order", "순서가 다릅니다")
    elif unknown := [label for label in has if label not in labels]:
        saw = say(f"a level {listed(unknown)}", f"{listed(unknown)}라는 단계가 있습니다")
    else:
        saw = say(f"{len(has)} levels", f"{len(has)}단계입니다")
    return _no(wanted, saw, title(found), plain=True)


# -- step 4: one rack --------------------------------------------------------------------------------------


def together(world: World, job: str, pods: int) -> Verdict:
    """Kueue admitted the Job, and all of its pods ran at once in one rack."""
    wanted = say(f"{pods} running pods of the Job {job}, in one rack", f"한 랙에서 도는 Job {job}의 파드 {pods}개")
    return _placed(world, wanted, job, pods, 1)


def _placed(world: World, wanted: str, job: str, pods: int, racks: int) -> Verdict:
    """Kueue admitted the Job, and at some time its pods ran at once in exactly so many racks."""
    where = ObjectRef(kind="Job", name=job).title(world.namespace)
    known = _racks(world)
    times = list(_whole(world, f"{JOB}={job}", pods))
    for standing in times:
        gated = all((meta(pod).get("annotations") or {}).get("kueue.x-k8s.io/workload") for pod in standing)
        if gated and len(_by_rack(standing, known)) == racks:
            return Verdict(passed=True, evidence=tuple(map(title, standing)))
    if not times:
        return _none_whole(world, wanted, job, pods)
    in_queue = any((meta(pod).get("annotations") or {}).get("kueue.x-k8s.io/workload") for pod in times[0])
    if not in_queue:
        saw = say("its pods did not come through Kueue", "파드가 Kueue를 거치지 않았습니다")
    else:
        count = len(_by_rack(times[0], known))
        saw = say(f"they stand in {count} racks", f"{count}개 랙에 있습니다")
    return _no(wanted, saw, where, plain=True)


def rack_told(world: World, file: str, job: str, pods: int) -> Verdict:
    """The file names the rack in which the pods of the Job ran."""
    wanted = say(f"{file} with rack=…, that of {job}", f"{job}의 랙을 rack=…로 쓴 {file}")
    try:
        found = world.work.read(file)
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    entries, wrong = read_entries(found)
    if wrong:
        return _no(wanted, wrong[0].what, wrong[0].where)
    if [entry.key for entry in entries] != ["rack"]:
        return _no(wanted, say("not one line rack=…", "rack=… 한 줄이 아닙니다"), file)
    racks = _racks(world)
    if any(_by_rack(standing, racks).keys() == {entries[0].value} for standing in _whole(world, f"{JOB}={job}", pods)):
        return Verdict(passed=True, evidence=(file,))
    value = shown(entries[0].value)
    return _no(wanted, say(f"its pods stood elsewhere than in {value}", f"파드가 있던 곳은 {value}가 아닙니다"), file)


# -- step 7: a rack for each Job ---------------------------------------------------------------------------


def exclusive(world: World, jobset: str, jobs: int, pods: int, racks: int) -> Verdict:
    """Of so many Jobs as many run as there are racks, each whole in one of its own; the others wait."""
    wanted = say(
        f"JobSet {jobset} with {jobs} Jobs, of which {racks} run, each in a rack of its own",
        f"Job {jobs}개 가운데 {racks}개가 저마다 다른 랙에서 도는 JobSet {jobset}",
    )
    ref = ObjectRef(kind="JobSet", name=jobset)
    found = world.get(ref)
    if found is None:
        saw = say(f"there is no {ref.title(world.namespace)}", f"{ref.title(world.namespace)}가 없습니다")
        return _no(wanted, saw + instead(world, ref))
    there = [pod for pod in world.select(ObjectRef(kind="Pod", selector=f"{JOBSET}={jobset}")) if not terminating(pod)]
    moving = any_moving(there, world.now) or world.changed_within(_ON_ITS_WAY, 2.0)
    asked = sum(int(one.get("replicas", 1)) for one in found["spec"].get("replicatedJobs", []))
    if asked != jobs:
        return _no(wanted, say(f"it has {asked} Jobs", f"Job이 {asked}개입니다"), title(found), plain=True)
    known = _racks(world)
    places: dict[str, list[str]] = {}
    for pod in there:
        if (pod.get("status") or {}).get("phase") == "Running":
            places.setdefault(labels(pod).get(JOB_INDEX, "?"), []).append(known.get(pod["spec"].get("nodeName"), "?"))
    jobs_in = Counter(rack for job in places.values() for rack in set(job))
    shared = [rack for rack, count in jobs_in.items() if count > 1]
    split = [job for job, found_in in places.items() if len(set(found_in)) > 1]
    if shared or split:
        saw = say("Jobs that share a rack", "랙을 함께 쓰는 Job이 있습니다")
        if not shared:
            saw = say("a Job in more than one rack", "여러 랙에 걸친 Job이 있습니다")
        return _no(wanted, saw, title(found), plain=True)
    whole = [job for job, found_in in places.items() if len(found_in) == pods]
    if len(whole) == racks == len(places):
        return Verdict(passed=True, evidence=tuple(map(title, there)))
    saw = say(f"{len(whole)} Jobs run whole", f"온전히 도는 Job은 {len(whole)}개입니다")
    return _no(wanted, saw, title(found), moving=moving)


def fourth_quoted(world: World, file: str, jobset: str) -> Verdict:
    """The file quotes, word for word, what the scheduler said of a pod of the JobSet that found no node."""
    wanted = say(
        f"{file} with what the scheduler says of the pod of {jobset} that is Pending",
        f"Pending인 {jobset} 파드를 두고 스케줄러가 한 말이 담긴 {file}",
    )
    try:
        found = world.work.read(file)
    except FileTrouble as trouble:
        return trouble.verdict(wanted)
    messages = dict.fromkeys(_refused(world, jobset))
    if any(quotes(found.text, message) for message in messages):
        return Verdict(passed=True, evidence=(file,))
    if not messages:
        return _no(wanted, say("no such pod was refused a node", "노드를 얻지 못한 파드가 없었습니다"), file)
    return _no(wanted, misquoted(found, *messages), file)


def _refused(world: World, jobset: str) -> Iterator[str]:
    """What the scheduler said of pods of the set that could not stand beside others, the latest first."""
    changes = world.changes(ObjectRef(kind="Pod", selector=f"{JOBSET}={jobset}"))
    for change in reversed(changes):
        scheduled = condition(change.object, "PodScheduled") or {}
        message = str(scheduled.get("message", ""))
        if scheduled.get("status") == "False" and "anti-affinity" in message:
            yield message
