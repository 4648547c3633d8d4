"""The recorder against a scripted API server: no change lost, no gap that isn't one, none left unsaid."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from grader.history import proof, replay
from grader.history.store import HistoryReader
from tests.unit.history.conftest import EVENT, LWS, NAMESPACE, POD, eventually

if TYPE_CHECKING:
    from tests.unit.history.conftest import Lab


def test_everything_from_the_start_on(lab: Lab) -> None:
    lab.cluster.put(POD, "old", phase="Running")
    with lab.recording():
        lab.cluster.put(POD, "new", phase="Pending")
        lab.cluster.put(POD, "new", phase="Running")
        lab.cluster.put(EVENT, "said", reason="Started")
        lab.cluster.delete(POD, "new")
        told = [("ADDED", "old"), ("ADDED", "new"), ("MODIFIED", "new"), ("DELETED", "new")]
        assert lab.story() == told
        assert lab.story(EVENT) == [("ADDED", "said")]
        assert lab.story(NAMESPACE) == [("ADDED", "kube-system")]
    with HistoryReader(lab.database) as history:
        first = next(history.changes("Pod"))
        assert first.object["apiVersion"] == "v1", "lists leave it out, the history does not"
        assert first.object["kind"] == "Pod"
        assert "managedFields" not in first.object["metadata"]
        assert abs(first.at - time.time()) < 60
        phases = [change.object["phase"] for change in history.changes("Pod", name="new")]
        assert phases == ["Pending", "Running", "Running"]
    assert lab.gaps() == []
    assert not any(path.endswith(("/secrets", "/leases")) for path, _query in lab.cluster.requests)


def test_a_long_list_comes_in_pages(lab: Lab) -> None:
    names = [f"pod-{number:03}" for number in range(250)]
    for name in names:
        lab.cluster.put(POD, name)
    with lab.recording():
        assert lab.story() == [("ADDED", name) for name in names]
    assert lab.cluster.full_lists(POD) == 3


# -- the watch is lost --------------------------------------------------------------------------------


def test_a_closed_watch_is_resumed(lab: Lab) -> None:
    with lab.recording():
        made = lab.cluster.put(POD, "a")
        assert lab.story() == [("ADDED", "a")]
        lists = lab.cluster.full_lists(POD)
        lab.cluster.drop_watches()
        lab.cluster.put(POD, "a")
        lab.cluster.delete(POD, "a")
        assert lab.story() == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
        assert lab.cluster.watches(POD)[1] == made["metadata"]["resourceVersion"]
        assert lab.cluster.full_lists(POD) == lists
    assert lab.gaps() == []


def test_an_api_server_that_is_down_for_a_while(lab: Lab, caplog: pytest.LogCaptureFixture) -> None:
    with lab.recording() as recorder:
        lab.kill(recorder)
        eventually(lambda: len(recorder._outage._without) == 3)
        lab.cluster.put(POD, "brief")
        lab.cluster.delete(POD, "brief")
        assert not recorder.sync(0.05).synced
        lab.cluster.revive(forget=False)
        assert lab.story() == [("ADDED", "brief"), ("DELETED", "brief")]
    assert lab.gaps() == []
    assert caplog.text.count("can't be followed") == 1
    assert lab.cluster.full_lists(POD) == 1


def test_a_restarted_api_server_forgets_and_etcd_does_not(lab: Lab) -> None:
    """It answers 410 to any watch from before its start; versions read one by one leave no gap."""
    lab.cluster.put(POD, "stays")
    lab.cluster.put(POD, "goes")
    with lab.recording() as recorder:
        lab.cluster.hold(True)
        lab.cluster.put(POD, "stays", phase="one")
        lab.cluster.put(POD, "brief", phase="born")
        lab.cluster.other_writes(20)
        lab.cluster.put(POD, "stays", phase="two")
        lab.cluster.delete(POD, "brief")
        lab.cluster.delete(POD, "goes")
        lab.kill(recorder)
        lab.cluster.hold(False)
        lab.cluster.revive(forget=True)
        assert lab.story() == [
            ("ADDED", "goes"),
            ("ADDED", "stays"),
            ("MODIFIED", "stays"),
            ("ADDED", "brief"),
            ("MODIFIED", "stays"),
            ("DELETED", "brief"),
            ("DELETED", "goes"),
        ]
        lab.cluster.put(POD, "after")
        assert lab.story()[-1] == ("ADDED", "after")
    with HistoryReader(lab.database) as history:
        assert [change.object.get("phase") for change in history.changes("Pod", name="stays")] == [None, "one", "two"]
        born, died = history.changes("Pod", name="brief")
        assert died.resource_version == str(int(born.resource_version) + 22), "the revision of the deletion"
        assert "managedFields" not in born.object["metadata"]
    assert lab.gaps() == []
    assert lab.cluster.full_lists(POD) == 1


def test_what_was_compacted_is_a_gap(lab: Lab) -> None:
    lab.cluster.put(POD, "same")
    lab.cluster.put(POD, "changes")
    lab.cluster.put(POD, "goes", phase="last")
    with lab.recording() as recorder:
        known_good = lab_time(lab)
        lab.cluster.hold(True)
        lab.cluster.put(POD, "changes")
        lab.cluster.put(POD, "comes")
        lab.cluster.delete(POD, "goes")
        lab.kill(recorder)
        lab.cluster.compact()
        lab.cluster.hold(False)
        lab.cluster.revive(forget=True)
        assert sorted(lab.story()[3:]) == [("ADDED", "comes"), ("DELETED", "goes"), ("MODIFIED", "changes")]
        lab.cluster.put(POD, "after")
        assert lab.story()[-1] == ("ADDED", "after")
    with HistoryReader(lab.database) as history:
        [gap] = history.gaps("Pod")
        assert (gap.reason, gap.start) == ("expired", known_good)
        difference = list(history.changes("Pod"))[3:6]
        assert {change.at for change in difference} == {gap.end}
        [burial] = (change for change in difference if change.verb == "DELETED")
        assert burial.object["phase"] == "last"


def lab_time(lab: Lab) -> float:
    """When pods were last known to be right."""
    with HistoryReader(lab.database) as history:
        last = history.last_change(["Pod"])
    assert last is not None
    return last


def test_too_many_revisions_are_a_gap(lab: Lab) -> None:
    with lab.recording() as recorder:
        lab.cluster.hold(True)
        lab.cluster.put(POD, "lost")
        lab.cluster.delete(POD, "lost")
        lab.cluster.other_writes(replay.LONGEST)  # and two of ours
        lab.kill(recorder)
        lab.cluster.hold(False)
        lab.cluster.revive(forget=True)
        assert lab.story() == []
    assert lab.gaps() == ["expired"]


def test_a_gap_is_of_the_kind_that_has_it(lab: Lab) -> None:
    with lab.recording():
        lab.cluster.other_writes(replay.LONGEST + 1)
        lab.cluster.floor[POD] = lab.cluster.revision
        lab.cluster.drop_watches()
        eventually(lambda: lab.gaps(POD))
        assert lab.story() == []
    assert lab.gaps(POD) == ["expired"]
    assert lab.gaps(EVENT) == []


def test_what_was_read_back_is_not_read_again(lab: Lab) -> None:
    with lab.recording() as recorder:
        lab.cluster.other_writes(20)
        lab.kill(recorder)
        lab.cluster.revive(forget=True)
        assert lab.story() == []
        head = str(lab.cluster.revision)
        assert lab.cluster.watches(POD)[-1] == head
    with lab.recording():
        assert lab.cluster.watches(POD)[-1] == head, "it was stored"


def test_revisions_of_other_kinds_need_no_look(lab: Lab) -> None:
    """Otherwise a busy kind would make gaps of the quiet ones."""
    lab.cluster.put(POD, "stays")
    with lab.recording() as recorder:
        for number in range(replay.LONGEST + 1):
            lab.cluster.put(EVENT, f"event-{number}")
        assert len(lab.story(EVENT)) == replay.LONGEST + 1
        lab.cluster.hold(True)
        lab.cluster.put(POD, "stays")
        lab.kill(recorder)
        lab.cluster.hold(False)
        asked = len(lab.cluster.requests)
        lab.cluster.revive(forget=True)
        assert lab.story() == [("ADDED", "stays"), ("MODIFIED", "stays")]
        exact = [q for p, q in lab.cluster.requests[asked:] if p.endswith("/pods") and "resourceVersionMatch" in q]
        assert len(exact) == 2, "what there was at that revision, and the object"
    assert lab.gaps() == []


def test_garbage_on_the_wire_is_asked_for_again(lab: Lab) -> None:
    with lab.recording():
        lab.cluster.say(POD, b'{"type": "ADDED", "object": {"metadata"\n')
        lab.cluster.put(POD, "a")
        assert lab.story() == [("ADDED", "a")]


def test_an_expiry_told_inside_the_watch(lab: Lab) -> None:
    with lab.recording():
        lab.cluster.say(POD, b'{"type": "ERROR", "object": {"code": 410, "message": "too old"}}\n')
        eventually(lambda: len(lab.cluster.watches(POD)) > 1)
        lab.cluster.put(POD, "a")
        assert lab.story() == [("ADDED", "a")]
    assert lab.gaps() == []


# -- where a watch goes on ----------------------------------------------------------------------------


def test_a_bookmark_moves_the_position(lab: Lab) -> None:
    with lab.recording() as recorder:
        lab.cluster.other_writes(30)
        revision = lab.cluster.bookmark(POD)
        eventually(lambda: recorder._followers[POD].progress.position == revision)
        lab.cluster.drop_watches()
        eventually(lambda: len(lab.cluster.watches(POD)) > 1)
        assert lab.cluster.watches(POD)[1] == str(revision)
    with lab.recording():
        assert lab.cluster.watches(POD)[-1] == str(revision), "it was stored"


def test_a_quiet_kind_does_not_grow_old(lab: Lab) -> None:
    with lab.recording() as recorder:
        pods = recorder._followers[POD]
        lab.cluster.other_writes(30)
        began = pods.progress.position
        pods.progress.heard_at -= 60.0
        pods.freshen()
        assert pods.progress.position == began, "something may still be on its way"
        pods.freshen()
        assert pods.progress.position == began + 30
        recorder._journal.flush(5)
    with lab.recording():
        assert lab.cluster.watches(POD)[-1] == str(began + 30)


def test_a_position_is_not_moved_past_a_broken_watch(lab: Lab) -> None:
    with lab.recording() as recorder:
        pods = recorder._followers[POD]
        lab.cluster.hold(True)
        lab.cluster.put(POD, "brief")
        lab.cluster.delete(POD, "brief")
        began = pods.progress.position
        pods.progress.heard_at -= 60.0
        pods.freshen()  # the list fits what was seen
        lab.cluster.drop_watches()
        eventually(lambda: pods.progress.stream == 2, "a new watch")
        pods.freshen()
        assert pods.progress.position == began
        lab.cluster.hold(False)
        assert lab.story() == [("ADDED", "brief"), ("DELETED", "brief")]


# -- kinds that come and go -----------------------------------------------------------------------------


def test_a_kind_that_is_served_later_has_no_gap(lab: Lab) -> None:
    with lab.recording():
        lab.cluster.serve(LWS)
        lab.cluster.put(LWS, "llm")
        assert lab.story(LWS) == [("ADDED", "llm")]
        lab.cluster.delete(LWS, "llm")
        assert lab.story(LWS) == [("ADDED", "llm"), ("DELETED", "llm")]
    assert lab.gaps(LWS) == []


def test_the_objects_of_a_kind_that_is_served_no_more_are_gone(lab: Lab) -> None:
    lab.cluster.serve(LWS)
    lab.cluster.put(LWS, "llm", replicas=2)
    with lab.recording():
        lab.cluster.unserve(LWS)
        eventually(lambda: len(stored(lab)) == 2)
        assert lab.story(LWS) == [("ADDED", "llm"), ("DELETED", "llm")]
        lab.cluster.serve(LWS)
        lab.cluster.put(LWS, "again")
        eventually(lambda: len(stored(lab)) == 3)
        assert lab.story(LWS) == [("ADDED", "llm"), ("DELETED", "llm"), ("ADDED", "again")]
    with HistoryReader(lab.database) as history:
        assert list(history.changes("LeaderWorkerSet"))[1].object["replicas"] == 2
    assert lab.gaps(LWS) == []


def stored(lab: Lab) -> list[str]:
    """The names of the sets in the history, whether the recorder has caught up or not."""
    with HistoryReader(lab.database) as history:
        return [change.name for change in history.changes("LeaderWorkerSet")]


def test_a_starting_api_server_that_knows_no_kinds_yet(lab: Lab) -> None:
    lab.cluster.serve(LWS)
    lab.cluster.put(LWS, "llm")
    with lab.recording():
        log = list(lab.cluster.log[LWS])
        lab.cluster.ready = False
        asked = len(lab.cluster.requests)
        lab.cluster.unserve(LWS)
        eventually(lambda: any(path == "/readyz" for path, _query in lab.cluster.requests[asked:]))
        lab.cluster.log[LWS] = log
        lab.cluster.floor[LWS] = 0
        lab.cluster.serve(LWS)
        lab.cluster.ready = True
        lab.cluster.put(LWS, "llm")
        assert lab.story(LWS) == [("ADDED", "llm"), ("MODIFIED", "llm")]
    assert lab.gaps(LWS) == []


def test_one_compacted_revision_is_enough_for_a_gap(lab: Lab) -> None:
    """And what could still be read counts for nothing, or the gap would begin too late."""
    with lab.recording():
        pass
    before = lab.cluster.revision
    lab.cluster.put(POD, "brief")
    lab.cluster.delete(POD, "brief")
    lab.cluster.put(POD, "a")
    lab.cluster.compact()
    lab.cluster.compacted = before + 2
    with lab.recording():
        assert lab.story() == [("ADDED", "a")]
    assert lab.gaps() == ["expired"]


# -- the recorder is restarted --------------------------------------------------------------------------


def test_a_restart_resumes(lab: Lab) -> None:
    lab.cluster.put(POD, "a")
    lab.cluster.put(POD, "b")
    with lab.recording():
        pass
    lists = lab.cluster.full_lists(POD)
    lab.cluster.put(POD, "a")
    lab.cluster.put(POD, "brief")
    lab.cluster.delete(POD, "brief")
    lab.cluster.delete(POD, "b")
    with lab.recording():
        assert lab.story()[2:] == [("MODIFIED", "a"), ("ADDED", "brief"), ("DELETED", "brief"), ("DELETED", "b")]
        lab.cluster.delete(POD, "a")
        assert lab.story()[-1] == ("DELETED", "a")
    assert lab.gaps() == []
    assert lab.cluster.full_lists(POD) == lists


def test_a_restart_after_compaction_is_a_gap(lab: Lab) -> None:
    lab.cluster.put(POD, "goes")
    with lab.recording():
        known_good = lab_time(lab)
    lab.cluster.delete(POD, "goes")
    lab.cluster.other_writes(1)
    lab.cluster.compact()
    with lab.recording():
        assert lab.story() == [("ADDED", "goes"), ("DELETED", "goes")]
    with HistoryReader(lab.database) as history:
        [gap] = history.gaps("Pod")
        assert (gap.start, gap.reason) == (known_good, "expired")


def test_a_kind_that_vanished_while_nobody_recorded(lab: Lab) -> None:
    lab.cluster.serve(LWS)
    lab.cluster.put(LWS, "llm")
    with lab.recording():
        pass
    lab.cluster.unserve(LWS)
    with lab.recording():
        assert lab.story(LWS) == [("ADDED", "llm"), ("DELETED", "llm")]


@pytest.mark.parametrize("how", ["another identity", "an older revision"])
def test_another_cluster_is_a_gap_of_all_kinds(lab: Lab, how: str) -> None:
    lab.cluster.put(POD, "old")
    lab.cluster.other_writes(50)
    lab.cluster.put(EVENT, "old")
    with lab.recording():
        pass
    for kind in (POD, EVENT):
        lab.cluster.log[kind].clear()
    if how == "another identity":
        lab.cluster.log[NAMESPACE].clear()
        lab.cluster.put(NAMESPACE, "kube-system", uid="cluster-2")
    else:
        lab.cluster.revision = 20
    lab.cluster.put(POD, "new")
    with lab.recording():
        assert lab.story() == [("ADDED", "old"), ("DELETED", "old"), ("ADDED", "new")]
        lab.cluster.put(POD, "newer")
        assert lab.story()[-1] == ("ADDED", "newer")
    for kind in (POD, EVENT, NAMESPACE):
        assert lab.gaps(kind) == ["replaced"]
    with lab.recording():
        assert lab.story()[-1] == ("ADDED", "newer")
    assert lab.gaps() == ["replaced"], "said once"


# -- is everything stored? --------------------------------------------------------------------------------


def test_not_ready_before_all_kinds_are_followed(lab: Lab) -> None:
    lab.cluster.failing["events"] = 500
    with lab.recording(ready=False) as recorder:
        eventually(lambda: POD in recorder._followers and recorder._followers[POD].progress.followed.is_set())
        eventually(lambda: sum(path.endswith("/events") for path, _query in lab.cluster.requests) > 1)
        assert not lab.socket.exists()
        del lab.cluster.failing["events"]
        eventually(lab.socket.exists)
    assert not lab.socket.exists()


def test_synced_waits_for_what_is_on_its_way(lab: Lab) -> None:
    lab.cluster.put(POD, "goes")
    with lab.recording() as recorder:
        lab.cluster.hold(True)
        lab.cluster.delete(POD, "goes")
        answer = recorder.sync(0.1)
        assert (answer.synced, answer.behind) == (False, ("Pod",))
        lab.cluster.put(POD, "comes")
        lab.cluster.put(EVENT, "comes")
        answer = recorder.sync(0.1)
        assert (answer.synced, answer.behind) == (False, ("Event", "Pod"))
        assert recorder.sync(5, frozenset({"Namespace"})).synced
        lab.cluster.hold(False)
        answer = recorder.sync(5)
        assert (answer.synced, answer.behind) == (True, ())
        with HistoryReader(lab.database) as history:
            newest = [change.name for change in history.changes("Pod")]
            assert newest == ["goes", "goes", "comes"]
            assert all(change.at <= time.time() for change in history.changes("Pod"))
        assert abs(answer.at - time.time()) < 60


def test_synced_is_not_fooled_by_what_came_after_its_list(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """An object listed, then seen deleted: the watch has passed the list, there is nothing to wait for."""
    lab.cluster.put(POD, "goes")
    with lab.recording() as recorder:
        pods = recorder._followers[POD]
        old = pods.proof._look(5)
        lab.cluster.delete(POD, "goes")
        lab.cluster.put(POD, "comes")
        assert lab.story()[1:] == [("DELETED", "goes"), ("ADDED", "comes")]
        monkeypatch.setattr(pods.proof, "_look", lambda _timeout: old)
        assert pods.proof.ask(time.monotonic() + 0.5)()


def test_a_kind_that_has_to_wait_holds_up_no_other(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.history.recorder._ASKERS", 1)
    with lab.recording() as recorder:
        lab.cluster.hold(True)
        for kind in (POD, EVENT):
            lab.cluster.put(kind, "waits")
        assert recorder.sync(0.3).behind == ("Event", "Pod")
        lab.cluster.hold(False)


def test_a_large_kind_is_not_compared(lab: Lab) -> None:
    for number in range(proof.MANY + 1):
        lab.cluster.put(POD, f"pod-{number}")
    with lab.recording() as recorder:
        asked = len(lab.cluster.requests)
        assert recorder.sync(5, frozenset({"Pod"})).synced
        pages = [query for path, query in lab.cluster.requests[asked:] if path.endswith("/pods")]
        assert pages == [{"limit": "1", "as": "metadata"}]
        lab.cluster.hold(True)
        lab.cluster.put(POD, "one-more")
        assert not recorder.sync(0.2, frozenset({"Pod"})).synced
        lab.cluster.hold(False)
        assert recorder.sync(5, frozenset({"Pod"})).synced
        with HistoryReader(lab.database) as history:
            assert history.ever("Pod", name="one-more")


def test_synced_needs_no_more_than_metadata(lab: Lab) -> None:
    with lab.recording() as recorder:
        lists = lab.cluster.full_lists(POD)
        asked = len(lab.cluster.requests)
        assert recorder.sync(5).synced
        assert lab.cluster.full_lists(POD) == lists
        kinds = sum(query.get("as") == "metadata" for _path, query in lab.cluster.requests[asked:])
        assert kinds == 3
