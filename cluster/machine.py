"""One lab machine as data: what is to run, and where its files lie.

Owns `MachineConfig` (what `start` is given), `Layout` (every path below the session folder and inside the
sandbox) and the reports that come back. Knows nothing of how a sandbox is made or who asked for it.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.scripts import Script
from cluster.spec import ClusterSpec, NodeSpec

NODE_IP = "10.250.0.2"
"""Address of the sandbox's own bridge: the real node's InternalIP and the cluster's DNS server."""
POD_CIDR = "10.245.0.0/24"
SERVICE_CIDR = "10.96.0.0/16"
API_PORT = 6443
API_SERVER = f"https://127.0.0.1:{API_PORT}"
RUNTIME = Path("/run/batchlab")
"""Inside the sandbox only: a tmpfs for what must not outlive it (containerd's and kubelet's state)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sidecar:
    """A program of the caller's that is supervised beside the cluster's own (recorder, examiner).

    Ready when its unix `socket` accepts a connection. `late`: nobody wants it before READY, so it begins only then and
    takes no processor from the start.
    """

    name: str
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    socket: str = ""
    late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineConfig:
    """Everything `cluster.local.start` needs. `home` is the session folder, `workdir` the name of the
    learner's folder below the shell's home, `namespace` kubectl's default one."""

    name: str
    home: Path
    binaries: Path
    spec: ClusterSpec
    sidecars: tuple[Sidecar, ...] = ()
    workdir: str = "work"
    namespace: str = "default"
    shown: tuple[Path, ...] = ()
    """Folders of the host that the sidecars read, at the same paths."""
    hidden: tuple[Path, ...] = ()
    """Folders of the host that the learner's place does not show: other sessions, the labs' solutions."""
    tools: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Commands of the caller's at the learner's place: name on PATH → command line."""
    setup: tuple[Script, ...] = ()
    """Scripts of the lab's author, run in a cell (`cluster.sandbox.script_cell`) once everything else is there."""
    privileged: bool = field(default_factory=lambda: os.geteuid() == 0)
    """Whether the host's root is behind this sandbox (a real node needs it). Settled by whoever starts it:
    inside, everybody is root."""
    recipe: str = ""
    """Names the snapshot that fits this machine (`cluster.snapshots.recipe`); empty: none is used or taken."""
    warm: bool = False
    """The datastore is restored from that snapshot, which lies in the session folder, instead of filled."""

    def to_json(self) -> str:
        """As `machine.json` keeps it."""
        return json.dumps(asdict(self), default=str, indent=1)

    @classmethod
    def from_json(cls, text: str) -> MachineConfig:
        """The inverse of `to_json`."""
        raw: dict[str, Any] = json.loads(text)
        spec = raw["spec"]
        return cls(
            name=raw["name"],
            home=Path(raw["home"]),
            binaries=Path(raw["binaries"]),
            workdir=raw["workdir"],
            namespace=raw["namespace"],
            shown=tuple(map(Path, raw["shown"])),
            hidden=tuple(map(Path, raw["hidden"])),
            tools={name: tuple(argv) for name, argv in raw["tools"].items()},
            setup=tuple(Script(**script) for script in raw["setup"]),
            privileged=raw["privileged"],
            recipe=raw["recipe"],
            warm=raw["warm"],
            sidecars=tuple(Sidecar(**{**s, "argv": tuple(s["argv"])}) for s in raw["sidecars"]),
            spec=ClusterSpec(
                addons=tuple(spec["addons"]),
                nodes=tuple(NodeSpec(**node) for node in spec["nodes"]),
                manifests=tuple(spec["manifests"]),
            ),
        )

    @classmethod
    def read(cls, path: Path) -> MachineConfig:
        """What `path` keeps. EnvironmentProblem where it is damaged, or of a version that knew other keys."""
        try:
            return cls.from_json(path.read_text())
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise EnvironmentProblem(
                _("{path} is damaged, or another version of Batchlab wrote it").format(path=path),
                _("stop the lab and start it again; files and progress stay"),
            ) from error


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths below a session folder that the cluster owns; the same inside the sandbox and outside."""

    home: Path

    @property
    def machine(self) -> Path:
        """What was asked for."""
        return self.home / "machine.json"

    @property
    def pki(self) -> Path:
        """Certificates and keys, 0700."""
        return self.home / "pki"

    @property
    def etc(self) -> Path:
        """Rendered configuration files of components."""
        return self.home / "etc"

    @property
    def logs(self) -> Path:
        """One file per component."""
        return self.home / "logs"

    @property
    def etcd(self) -> Path:
        """The datastore; goes with the cluster."""
        return self.home / "etcd"

    @property
    def snapshot(self) -> Path:
        """What a warm start restores; a copy, since the sandbox doesn't see the user's cache."""
        return self.home / "snapshot"

    @property
    def taken(self) -> Path:
        """What a cold start leaves for later ones."""
        return self.home / "snapshot.taken"

    @property
    def run(self) -> Path:
        """Sockets, and mount points of the sandbox; emptied when it ends."""
        return self.home / "run"

    @property
    def desk(self) -> Path:
        """What the learner's place is shown of the session besides the work folder: sockets to call on."""
        return self.run / "desk"

    @property
    def control(self) -> Path:
        """The supervisor's socket."""
        return self.run / "control.sock"

    @property
    def events(self) -> Path:
        """Boot events, one JSON object a line."""
        return self.run / "boot.jsonl"

    @property
    def plan(self) -> Path:
        """What the boot set out to do (`cluster.timings`)."""
        return self.run / "plan.json"

    @property
    def keeper(self) -> Path:
        """Locked and filled by the host-side keeper while the sandbox lives."""
        return self.run / "keeper.json"

    @property
    def work(self) -> Path:
        """The learner's files."""
        return self.home / "work"

    @property
    def kubeconfig(self) -> Path:
        """The learner's identity."""
        return self.home / "kubeconfig"

    @property
    def grader_kubeconfig(self) -> Path:
        """The grader's read-only identity."""
        return self.home / "grader.kubeconfig"

    @property
    def scripts_kubeconfig(self) -> Path:
        """The read-only identity of scripts that check."""
        return self.home / "scripts.kubeconfig"

    @property
    def setup(self) -> Path:
        """How the scripts of the start ended."""
        return self.run / "setup.json"

    @property
    def admin_kubeconfig(self) -> Path:
        """The supervisor's own identity."""
        return self.pki / "admin.kubeconfig"

    def log(self, component: str) -> Path:
        """Log file of a component."""
        return self.logs / f"{component}.log"

    @property
    def cgroup(self) -> str:
        """Name of this session's cgroup: the same for the same folder, so that a later command finds it."""
        return f"batchlab-{hashlib.sha256(str(self.home).encode()).hexdigest()[:12]}"

    @property
    def cgroups(self) -> Path:
        """Where folders of that name were made on the host."""
        return self.run / "cgroups"


ComponentState = Literal["waiting", "starting", "running", "restarting", "failed", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentStatus:
    """One supervised program. `pid` is the sandbox's numbering; `since` Unix seconds; `note` says what
    happened last (for example how it ended before it was restarted)."""

    name: str
    state: ComponentState
    pid: int
    restarts: int
    since: float
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineStatus:
    """What is there. `dead`: it was started and its processes are gone without a stop."""

    state: Literal["running", "starting", "stopped", "dead"]
    pid: int = 0
    """The keeper's process id on the host; 0 when there is none."""
    init_pid: int = 0
    """The sandbox's first process, in the host's numbering."""
    since: float = 0.0
    components: tuple[ComponentStatus, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BootEvent:
    """One thing that happened while a machine came up; `seconds` since its start.

    host: from now on the host is busy with `task`; `seconds` is then time.monotonic(), since no machine may be there.
    """

    task: str
    state: Literal["started", "ready", "failed", "note", "host"]
    seconds: float
    detail: str = ""
    objects: int | None = None
    """With ready: how many objects a step applied."""


def write_private(path: Path, content: str | bytes) -> None:
    """Write a 0600 file by temp file and rename."""
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    temporary.replace(path)
