"""Steps of a warm start and of the cold one before it: the datastore restored, and taken."""

from __future__ import annotations

import re
import time

from cluster.components.control_plane import DATASTORE, ETCD_URL
from cluster.datastore import Datastore
from cluster.machine import Layout, write_private
from cluster.snapshots.archive import Snapshot
from cluster.snapshots.renewal import renewed
from cluster.steps.insist import insist
from cluster.steps.model import Step, StepContext

_OWN = re.compile(
    # What each machine has to itself, or what ends: nodes and what plays them, pods, leases, events …
    rb"/registry/(?:minions|csinodes|pods|leases|events|masterleases|apiserver-identity|tokens|peerserverleases)/"
    # … and what is written about this machine's keys.
    rb"|/registry/configmaps/[^/]+/kube-root-ca\.crt$"
    rb"|/registry/configmaps/kube-system/(?:extension-apiserver-authentication$|kube-apiserver-legacy-)"
)


def restore_datastore() -> Step:
    """What an earlier machine of the same recipe had applied, as if it had been applied now."""

    def work(context: StepContext) -> int:
        layout = Layout(context.config.home)
        # While etcd comes up, which this step does not wait for.
        snapshot = Snapshot.from_bytes(layout.snapshot.read_bytes())
        datastore = Datastore(ETCD_URL, layout.pki)
        insist(datastore.put_all, renewed(snapshot, time.time()))
        return len(snapshot.entries)

    return Step(
        name=DATASTORE,
        work=work,
        typed=("etcdctl put each entry of the snapshot, with other UIDs and times",),
    )


def take_snapshot(needs: tuple[str, ...]) -> Step:
    """What this machine has applied, for the next one of its recipe."""

    def work(context: StepContext) -> None:
        config = context.config
        layout = Layout(config.home)
        folders = [layout.pki / name for name in config.spec.addons]
        served = [folder for folder in folders if folder.is_dir()]  # an add-on without a webhook has no certificate
        keys = [layout.pki / "webhook-ca.crt", *(path for folder in served for path in folder.iterdir())]
        snapshot = Snapshot(
            recipe=config.recipe,
            began=layout.machine.stat().st_mtime,
            made=time.time(),
            entries={key: value for key, value in Datastore(ETCD_URL, layout.pki).entries() if not _OWN.match(key)},
            keys={str(path.relative_to(layout.pki)): path.read_text() for path in keys},
        )
        write_private(layout.taken, snapshot.to_bytes())

    return Step(name="snapshot", needs=needs, work=work, typed=("etcdctl get --prefix /registry/",))
