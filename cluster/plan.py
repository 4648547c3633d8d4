"""From a `MachineConfig` to everything that has to happen, and what has to come first: the start of a machine
in one function.

Owns the order; what a component or a step is, is said in `cluster.components` and `cluster.steps`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from cluster import bootstrap
from cluster.addons import ADDONS
from cluster.components import control_plane, nodes
from cluster.components.model import Component
from cluster.components.sidecars import sidecar
from cluster.machine import NODE_IP, Layout, MachineConfig
from cluster.spec import Manifest
from cluster.steps import access, setup, snapshots
from cluster.steps import addons as addon_steps
from cluster.steps import nodes as node_steps
from cluster.steps.model import Step

Task = Component | Step
_OWN_OBJECTS = node_steps.START_MANIFESTS


def plan(config: MachineConfig) -> tuple[Task, ...]:
    """Every task of a start, a cold or a warm one. READY is when those are done that are `awaited`."""
    addons = [ADDONS[name] for name in config.spec.addons]
    real = config.spec.real_node
    tasks: list[Task] = [
        control_plane.etcd(config),
        control_plane.kube_apiserver(config),
        control_plane.kube_controller_manager(config),
        control_plane.kube_scheduler(config),
        access.await_default_roles(),
        access.await_health(),
        access.apply_roles(),
    ]
    usable = [control_plane.CONTROLLERS, "kube-scheduler", "roles"]
    for addon in addons:
        tasks += [
            addon_steps.apply_definitions(addon),
            addon_steps.await_established(addon),
            addon_steps.apply_rest(addon),
            access.request_token(addon.account, after=f"{addon.name}-definitions"),
            addon.component(config),
            addon_steps.probe_addon(addon),
        ]
        if addon.lease:
            tasks.append(addon_steps.release_lease(addon, addon.lease))
        if addon.has_objects:
            tasks.append(addon_steps.apply_objects(addon))
        usable.append(f"{addon.name}-probe")
    if config.spec.fake_nodes:
        tasks += [
            access.apply_accounts("kwok", _kwok_manifests),
            access.request_token(nodes.KWOK_ACCOUNT, after="kwok-account"),
            node_steps.clear_kwok_leases(),
            nodes.kwok(config),
            node_steps.create_fake_nodes(),
        ]
        usable.append("fake-nodes")
    if real is not None:
        tasks += [
            access.apply_accounts("coredns", lambda _config: bootstrap.dns()),
            access.request_token(nodes.COREDNS_ACCOUNT, after="coredns-account"),
            nodes.coredns(config),
            nodes.containerd(config),
            nodes.kubelet(config),
            node_steps.import_images(),
            node_steps.ready_real_node(real),
        ]
        usable += ["coredns", "real-node"]
    established = tuple(f"{addon.name}-established" for addon in addons)
    for program in config.sidecars:
        beginning = sidecar(program, needs=(_OWN_OBJECTS,) if program.late else ("roles", *established))
        tasks.append(replace(beginning, awaited=not program.late))
    usable += [program.name for program in config.sidecars if not program.late]
    if config.recipe and not config.warm:
        tasks.append(snapshots.take_snapshot(needs=tuple(usable)))
        usable.append("snapshot")
    # The lab's own objects come last, so that the recorder sees them from their first moment.
    tasks.append(node_steps.apply_start_manifests(needs=tuple(usable)))
    if config.setup:
        tasks.append(setup.run_setup(needs=(_OWN_OBJECTS, control_plane.CONTROLLERS)))
    return tuple(_warm(tasks) if config.warm else tasks)


def _warm(tasks: list[Task]) -> list[Task]:
    """The same start with a restored datastore: what would be applied is there once kube-apiserver answers.

    READY does not wait for kube-controller-manager, which does nothing in the second before kube-apiserver calls
    itself healthy; what pods need of it in a new namespace is made with the lab's own objects.
    """
    applied = {task.name for task in tasks if isinstance(task, Step) and task.restored}
    result: list[Task] = [snapshots.restore_datastore()]
    for task in tasks:
        if task.name not in applied:
            needs = ["kube-apiserver" if need in applied else need for need in task.needs]
            if task.name == _OWN_OBJECTS:
                needs.remove(control_plane.CONTROLLERS)
            awaited = task.awaited and task.name not in (control_plane.API_HEALTH, control_plane.CONTROLLERS)
            result.append(replace(task, needs=tuple(dict.fromkeys(needs)), awaited=awaited))
    return result


def waves(tasks: Iterable[Task]) -> list[list[Task]]:
    """The tasks in groups that may run together, in order. ValueError on an unknown need or a cycle."""
    by_name = {task.name: task for task in tasks}
    for task in by_name.values():
        if missing := set(task.needs) - by_name.keys():
            raise ValueError(f"{task.name} needs unknown {sorted(missing)}")
    sorter = TopologicalSorter({name: task.needs for name, task in by_name.items()})
    try:
        sorter.prepare()
    except CycleError as error:
        raise ValueError(f"tasks need each other: {error.args[1]}") from error
    result = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        result.append([by_name[name] for name in ready])
        sorter.done(*ready)
    return result


def shell(config: MachineConfig) -> str:
    """What a start would do, as a person would type it (`grader start --dry-run`)."""
    user = "" if config.privileged else " --user --map-root-user"
    lines = [
        f"# {config.name}",
        "# wave 0: the sandbox",
        f"unshare{user} --mount --pid --net --uts --ipc --cgroup --fork --kill-child --mount-proc",
        f"# enters cgroup {Layout(config.home).cgroup}" if config.privileged else "# stays in the caller's cgroup",
        "mount -t overlay overlay -o lowerdir=/ && pivot_root"
        if config.privileged
        else "mount -t tmpfs tmpfs && mount --rbind -o ro /usr && pivot_root",
        f"ip link set lo up && ip link add node0 type bridge && ip addr add {NODE_IP}/24 dev node0",
    ]
    for number, wave in enumerate(waves(plan(config)), 1):
        lines.append(f"\n# wave {number}")
        for task in wave:
            lines += _component_lines(task) if isinstance(task, Component) else task.typed
    return "\n".join(lines) + "\n"


def _component_lines(component: Component) -> list[str]:
    files = [f"# writes {path}" for path in component.files]
    binds = [f"# sees {source} at {target}" for source, target in component.mounts]
    env = [f"{key}={shlex.quote(value)}" for key, value in component.env.items()]
    return [*files, *binds, " ".join([*env, shlex.join(component.argv), "&"])]


def _kwok_manifests(config: MachineConfig) -> list[Manifest]:
    manifests: list[Manifest] = json.loads((config.binaries / "manifests" / "kwok.json").read_text())
    return manifests


def write_files(config: MachineConfig) -> None:
    """Write every component's configuration files below the session folder."""
    layout = Layout(config.home)
    layout.etc.mkdir(mode=0o700, parents=True, exist_ok=True)
    for task in plan(config):
        if isinstance(task, Component):
            for path, text in task.files.items():
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.write_text(text)
