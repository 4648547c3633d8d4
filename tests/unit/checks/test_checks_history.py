"""The real store and the real API client behind the ports checks are written against."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader.checks import CheckSource
from grader.checks.objects import meta
from grader.checks.work import WorkFolder
from grader.checks.world import ClusterReader, History, World
from grader.history.store import Change, HistoryReader, HistoryWriter

if TYPE_CHECKING:
    from cluster.api import Api
    from tests.unit.checks.conftest import Llm


def as_ports(api: Api, reader: HistoryReader) -> tuple[ClusterReader, History]:
    """Held true by mypy: both fit without a cast."""
    return api, reader


def test_recreation_from_the_store(llm: Llm, tmp_path: Path) -> None:
    llm.apply()
    before = {name: llm.uid(name) for name in llm.pods}
    llm.fail()
    llm.recreate()
    path = tmp_path / "history.db"
    writer = HistoryWriter(path)
    writer.append(
        [
            Change(
                at=change.at,
                verb=change.verb,  # type: ignore[arg-type]  # the trace plays the three verbs only
                api_version=change.object["apiVersion"],
                kind=change.object["kind"],
                namespace=str(meta(change.object)["namespace"]),
                name=change.name,
                uid=change.uid,
                resource_version=str(change.seq),
                object=change.object,
            )
            for change in llm.trace.history.recorded
        ]
    )
    writer.close()
    work = tmp_path / "work"
    work.mkdir()
    (work / "restart.txt").write_text(f"group0_before={before['llm-0']}\ngroup1_before={before['llm-1']}\n")
    happened = {
        "recreated": {
            "of": {"kind": "Pod", "selector": "leaderworkerset.sigs.k8s.io/name=llm"},
            "group_by": 'metadata.labels["leaderworkerset.sigs.k8s.io/group-index"]',
            "group": "0",
        }
    }
    restarted = CheckSource.model_validate({"id": "restarted", "says": "x", "happened": happened}).check()
    answer = {
        "file": "restart.txt",
        "with": {
            "leader0": {"kind": "Pod", "name": "llm-0", "before": "restarted"},
            "leader1": {"kind": "Pod", "name": "llm-1", "before": "restarted"},
        },
        "fields": {
            "group0_before": "{{ leader0.metadata.uid }}",
            "group1_before": "{{ leader1.metadata.uid }}",
        },
    }
    noted = CheckSource.model_validate({"id": "noted", "says": "x", "answer": answer}).check()
    with HistoryReader(path) as reader:
        world = World(
            cluster=llm.trace.cluster,
            history=reader,
            work=WorkFolder(work),
            namespace="infer",
            lab_folder=tmp_path,
            checks={"restarted": restarted, "noted": noted},
            now=datetime.fromtimestamp(llm.trace.now, UTC),
        )
        assert restarted.kind.evaluate(world).passed
        assert noted.kind.evaluate(world).passed
        assert world.changed_within(frozenset({"Pod"}), 2.0)
        assert not world.changed_within(frozenset({"Node"}), 2.0)
