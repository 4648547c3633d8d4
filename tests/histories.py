"""Histories of real labs, kept small: `tests/data/histories/<name>.jsonl.gz`, one change a line.

`python -m tests.histories HISTORY.DB NAME` takes what timelines and boards are made of out of a session's history:
the kinds in `KINDS`, without what none of them reads. Owns that form and its reading.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.history.model import Change
from grader.history.reader import HistoryReader
from grader.history.writer import HistoryWriter

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = Path(__file__).parent / "data" / "histories"
KINDS = (
    *("Pod", "Node", "Event", "Job", "JobSet", "LeaderWorkerSet"),
    *("Workload", "ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort"),
)
_DROPPED = {
    "metadata": ("annotations", "generateName", "finalizers", "generation"),
    "Pod.spec": ("volumes", "tolerations", "serviceAccount", "serviceAccountName", "schedulerName", "dnsPolicy"),
    "Pod.status": ("podIP", "podIPs", "hostIP", "hostIPs", "qosClass", "startTime"),
    "Node.status": ("images", "nodeInfo", "addresses", "daemonEndpoints", "runtimeHandlers", "features", "config"),
    "container": ("command", "args", "env", "volumeMounts", "terminationMessagePath", "terminationMessagePolicy"),
    "containerStatus": ("image", "imageID", "containerID", "volumeMounts", "user", "resources", "allocatedResources"),
    "Event": ("source", "reportingComponent", "reportingInstance", "action", "related"),
}


def load(name: str) -> list[Change]:
    """The changes of a kept history, in order."""
    lines = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).splitlines()
    return [_change(json.loads(line)) for line in lines]


def written(path: Path, changes: Iterable[Change]) -> Path:
    """`changes` as the history file at `path`."""
    with HistoryWriter(path) as writer:
        writer.append(changes)
    return path


def _change(line: dict[str, Any]) -> Change:
    obj = line["object"]
    meta = obj["metadata"]
    return Change(
        seq=line["seq"],
        at=line["at"],
        verb=line["verb"],
        api_version=obj["apiVersion"],
        kind=obj["kind"],
        namespace=meta.get("namespace", ""),
        name=meta["name"],
        uid=meta["uid"],
        resource_version=meta["resourceVersion"],
        object=obj,
    )


def _slim(obj: Any, kind: str) -> Any:
    _without(obj["metadata"], "metadata")
    for ref in obj["metadata"].get("ownerReferences") or []:
        ref.pop("blockOwnerDeletion", None)
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    _without(spec, f"{kind}.spec")
    _without(status, f"{kind}.status")
    if kind == "Event":
        _without(obj, kind)
    if kind == "Pod":
        for each in spec.get("containers") or []:
            _without(each, "container")
        for each in status.get("containerStatuses") or []:
            _without(each, "containerStatus")
    if kind in ("Job", "JobSet", "LeaderWorkerSet", "Workload"):
        leaders = spec.get("leaderWorkerTemplate") or {}
        for part in [spec, leaders, *(spec.get("replicatedJobs") or []), *(spec.get("podSets") or [])]:
            for key in ("selector", "network"):
                part.pop(key, None)
            for key in ("template", "leaderTemplate", "workerTemplate"):
                if key in part:
                    part[key] = _slim_template(part[key])
    return obj


def _slim_template(template: dict[str, Any]) -> dict[str, Any]:
    """Of a template of a pod or Job: what is asked for, and how often."""
    spec = template.get("spec") or {}
    kept = {key: spec[key] for key in ("parallelism", "completions", "restartPolicy") if key in spec}
    if "template" in spec:
        kept["template"] = _slim_template(spec["template"])
    if "containers" in spec:
        kept["containers"] = [
            {"name": each["name"], "resources": each.get("resources", {})} for each in spec["containers"]
        ]
    return {"spec": kept}


def _without(part: dict[str, Any], what: str) -> None:
    """Take out of `part` what nobody reads."""
    for key in _DROPPED.get(what, ()):
        part.pop(key, None)


def main() -> None:
    """Write the history that the command line names into the folder."""
    source, name = Path(sys.argv[1]), sys.argv[2]
    lines = []
    with HistoryReader(source) as reader:
        for change in reader.newer(0, KINDS):
            if change.kind == "Workload" and not change.api_version.startswith("kueue"):
                continue
            obj = _slim(change.object, change.kind)
            obj |= {"apiVersion": change.api_version, "kind": change.kind}
            line = {"seq": change.seq, "at": round(change.at, 3), "verb": change.verb, "object": obj}
            lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    FOLDER.mkdir(exist_ok=True)
    text = "\n".join(lines) + "\n"
    (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
