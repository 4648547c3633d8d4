"""Whether this machine can run labs, and what to do where it can't.

Owns the list of checks and the verdicts drawn from them, as data; prints nothing, installs nothing, and
leaves nothing behind: kernel features are tried in namespaces that end with the trial.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cluster import controllers
from cluster.binaries import packages
from cluster.binaries.cache import default_root
from cluster.binaries.lock import read_lock, version_numbers
from cluster.errors import Problem
from cluster.host import Host
from cluster.i18n import _
from cluster.needs import needs
from cluster.paths import state_dir
from cluster.room import GIB, Free, amount_of, name_of, room
from cluster.spec import ClusterSpec, NodeSpec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Purpose = Literal["fake-nodes", "real-node", "build"]
State = Literal["ready", "needs-root", "not-ready"]
PURPOSES: tuple[Purpose, ...] = ("fake-nodes", "real-node", "build")

_USUAL = ("jobset", "lws", "kueue")
LARGEST: dict[Purpose, ClusterSpec] = {
    "fake-nodes": ClusterSpec(addons=_USUAL),
    "real-node": ClusterSpec(addons=_USUAL, nodes=(NodeSpec(name="lab", real=True),)),
}
"""The labs that take most, but for those with rarer add-ons, which are told when they are started."""
DISK_RUN, DISK_BUILD = 2 * GIB, 10 * GIB
"""Bytes: the binaries and a session; Go's module and build caches, which reach 9 GB, besides."""

_LABS: frozenset[Purpose] = frozenset({"fake-nodes", "real-node"})
_REAL: frozenset[Purpose] = frozenset({"real-node"})
_FAKE: frozenset[Purpose] = frozenset({"fake-nodes"})
_BUILD: frozenset[Purpose] = frozenset({"build"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at: what was found, and what to do if it is not `ok`."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    needed_for: frozenset[Purpose] = frozenset()
    """What is not ready while this is not `ok`; empty for what only informs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether this machine can do one thing now; `blocked_by` names the findings in the way."""

    purpose: Purpose
    state: State
    blocked_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Everything `grader doctor` has to say. `install` is one command, empty if no package is missing."""

    findings: tuple[Finding, ...]
    verdicts: tuple[Verdict, ...]
    install: str

    def verdict(self, purpose: Purpose) -> Verdict:
        """The verdict on `purpose`."""
        return next(verdict for verdict in self.verdicts if verdict.purpose == purpose)


def diagnose(host: Host | None = None) -> Diagnosis:
    """Look at everything; takes about a second. Raises nothing: what can't be found out is a finding."""
    host = host or Host()
    root = host.is_root()
    findings = (
        *_packages(host, "run", _LABS),
        *_packages(host, "build", _BUILD),
        _go(host),
        *_namespaces(host),
        *(_root_only(host) if root else ()),
        *_room(host),
        _disk(host),
    )
    findings = (*findings, _binaries(host, can_build=_verdict("build", findings, root).state == "ready"))
    missing = tuple(package.name for purpose in packages.PURPOSES for package in host.missing(purpose))
    return Diagnosis(
        findings=findings,
        verdicts=tuple(_verdict(purpose, findings, root) for purpose in PURPOSES),
        install=packages.install_command(missing),
    )


def _verdict(purpose: Purpose, findings: tuple[Finding, ...], is_root: bool) -> Verdict:
    blocked = tuple(f.name for f in findings if not f.ok and purpose in f.needed_for)
    # Whether the rest would do is known only to root, so that is said first.
    state: State = "needs-root" if purpose == "real-node" and not is_root else "not-ready" if blocked else "ready"
    return Verdict(purpose=purpose, state=state, blocked_by=blocked)


def _packages(host: Host, purpose: packages.Purpose, needed_for: frozenset[Purpose]) -> Iterator[Finding]:
    missing = {package.name: package for package in host.missing(purpose)}
    for package in packages.packages(purpose):
        lacking = package.name in missing
        has = ", ".join(package.programs) or package.header or package.files[0]
        yield Finding(
            name=package.name,
            ok=not lacking,
            detail=_("{thing} is missing").format(thing=package.lacks() or has) if lacking else has,
            remedy=packages.install_command((package.name,)) if lacking else "",
            needed_for=needed_for,
        )


def _go(host: Host) -> Finding:
    wanted = read_lock().go
    path, version = host.go()
    numbers = version_numbers(version)
    new_enough = numbers >= version_numbers(wanted)
    fetches = numbers >= version_numbers(packages.go_fetches_newer()) and host.go_may_fetch()
    if not path:
        detail = _("not installed; {wanted} or newer is needed").format(wanted=wanted)
    elif new_enough:
        detail = f"{path} ({version})"
    elif fetches:
        detail = _("{path} ({version}), which fetches {wanted} by itself").format(
            path=path, version=version, wanted=wanted
        )
    else:
        detail = _("{path} ({version}) is too old; {wanted} or newer is needed").format(
            path=path, version=version, wanted=wanted
        )
    ok = bool(path) and (new_enough or fetches)
    return Finding(name="go", ok=ok, detail=detail, remedy="" if ok else packages.go_remedy(wanted), needed_for=_BUILD)


def _namespaces(host: Host) -> Iterator[Finding]:
    """The sandbox's parts, each tried the way the current user would start it."""
    as_user = [] if host.is_root() else ["--user", "--map-root-user"]
    ok, said = host.try_out(["unshare", "--user", "--map-root-user", "true"])
    yield Finding(
        name=_("user namespaces"),
        ok=ok,
        detail=_("an ordinary user may make them") if ok else said,
        remedy="" if ok else _user_namespace_remedy(host),
        # An ordinary user's sandbox is one, and every learner's shell has one of its own.
        needed_for=_LABS,
    )
    every = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child"]
    ok, said = host.try_out(["unshare", *as_user, *every, "--mount-proc", "true"])
    yield Finding(
        name=_("namespaces"),
        ok=ok,
        detail=_("mount, pid, net, uts, ipc and cgroup work") if ok else said,
        remedy="" if ok else _("in a container: run it privileged; else use a kernel that has all of them"),
        needed_for=_LABS if host.is_root() else _FAKE,
    )
    ok, said = host.try_out(["unshare", *as_user, "--net", "ip", "link", "add", "name", "lab", "type", "bridge"])
    yield Finding(
        name=_("bridge links"),
        ok=ok,
        detail=_("can be made") if ok else said,
        remedy="" if ok else "modprobe bridge",
        needed_for=_LABS,
    )


def _root_only(host: Host) -> Iterator[Finding]:
    """What only a real node needs, and only root can try."""
    pair = ["name", "lab0", "type", "veth", "peer", "name", "lab1"]
    ok, said = host.try_out(["unshare", "--net", "ip", "link", "add", *pair])
    yield Finding(
        name=_("veth links"),
        ok=ok,
        detail=_("can be made") if ok else said,
        remedy="" if ok else "modprobe veth",
        needed_for=_REAL,
    )
    with tempfile.TemporaryDirectory(prefix="batchlab-doctor-") as folder:
        # A tmpfs for what is written: an overlay's upper layer can't lie on another overlay (containers).
        script = (
            'mount -t tmpfs tmpfs "$1" && mkdir "$1/up" "$1/work" "$1/root" && '
            'mount -t overlay overlay -o "lowerdir=/,upperdir=$1/up,workdir=$1/work" "$1/root"'
        )
        ok, said = host.try_out(["unshare", "--mount", "sh", "-c", script, "sh", folder])
    yield Finding(
        name=_("overlay file system"),
        ok=ok,
        detail=_("a private overlay of / can be mounted") if ok else said,
        remedy="" if ok else "modprobe overlay",
        needed_for=_LABS,
    )
    yield _cgroups(host)


def _cgroups(host: Host) -> Finding:
    detail, remedy = controllers.look(host)
    return Finding(name="cgroups", ok=not remedy, detail=detail, remedy=remedy, needed_for=_REAL)


def _room(host: Host) -> Iterator[Finding]:
    """For one session more; a start looks likewise, with what its own lab needs."""
    for free in room(state_dir(), host):
        yield _stock(free, {purpose: getattr(needs(spec), free.thing) for purpose, spec in LARGEST.items()})


def _stock(free: Free, wanted: dict[Purpose, int]) -> Finding:
    blocked = frozenset(purpose for purpose, need in wanted.items() if free.amount < need)
    detail = _("{free} free; a session takes up to {fake}, with a real node {real}").format(
        free=amount_of(free.thing, free.amount),
        fake=amount_of(free.thing, wanted["fake-nodes"]),
        real=amount_of(free.thing, wanted["real-node"]),
    )
    return Finding(
        name=_("disk for sessions") if free.thing == "disk" else name_of(free.thing),
        ok=not blocked,
        detail=f"{detail} ({free.by})" if free.by else detail,
        remedy="; ".join((free.remedy, _("or stop sessions: grader stop --all"))) if blocked else "",
        needed_for=blocked or _LABS,
    )


def _disk(host: Host) -> Finding:
    free = host.free_disk()
    blocked = _LABS | _BUILD if free < DISK_RUN else _BUILD if free < DISK_BUILD else frozenset()
    # Who has the binaries needs no room to build them, and a nearly full disk is no fault then.
    enough = not blocked or (blocked == _BUILD and _folder(host)[0] is not None)
    return Finding(
        name=_("disk"),
        ok=enough,
        detail=_("{free} GiB are free for {folder}; {run} GiB are needed, {build} GiB to build").format(
            free=f"{free / GIB:.1f}", folder=default_root(), run=DISK_RUN // GIB, build=DISK_BUILD // GIB
        ),
        remedy="" if enough else _("make room, or set XDG_CACHE_HOME to a larger disk"),
        needed_for=blocked or _LABS | _BUILD,
    )


def _binaries(host: Host, *, can_build: bool) -> Finding:
    folder, trouble = _folder(host)
    if folder is not None or trouble:
        detail = trouble or str(folder)
        remedy = _("unset BATCHLAB_BIN_DIR") if trouble else ""
    elif host.has_bundle():
        detail, remedy = _("not unpacked yet: the first start unpacks $BATCHLAB_BUNDLE"), ""
    elif can_build:
        detail, remedy = _("not made yet: the first start builds them, which takes a quarter of an hour"), ""
    else:
        detail = _("not made yet, and this machine can't build them")
        remedy = _("install what building needs (above), or use a bundle (--from-bundle)")
    return Finding(name=_("binaries"), ok=not remedy, detail=detail, remedy=remedy, needed_for=_LABS)


def _folder(host: Host) -> tuple[Path | None, str]:
    try:
        return host.binaries(), ""
    except Problem as problem:  # a $BATCHLAB_BIN_DIR that does not fit
        return None, problem.message


def _user_namespace_remedy(host: Host) -> str:
    if host.read("/proc/sys/kernel/unprivileged_userns_clone").strip() == "0":
        return "sysctl -w kernel.unprivileged_userns_clone=1"
    if host.read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").strip() == "1":
        return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    if host.read("/proc/sys/user/max_user_namespaces").strip() in ("", "0"):
        return "sysctl -w user.max_user_namespaces=10000"
    return _("run labs as root (or the container that this is, privileged)")
