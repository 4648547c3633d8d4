"""The cell of scripts: where those of a lab run, whoever wrote them.

Owns what a script sees and who it is there. Run inside the sandbox as `python -m cluster.sandbox.script_cell FOLDER`
(the session's), with an `Order` on its standard input; its answer is an `Ending`. A cell is a root file system of its
own, in memory: the host's programs, kubectl, a copy of the learner's work folder, a kubeconfig and the lab's scripts,
and nothing else of the host, of the session or of the lab. Whoever runs in it is nobody: no other process is there,
what it starts dies with it (`cluster.sandbox.inmate`), and of what it wrote only the work folder is ever kept, if the
order says so.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from cluster.identities import SCRIPT
from cluster.machine import RUNTIME, Layout, MachineConfig, write_private
from cluster.sandbox import bounds, inmate, kernel, rootfs
from cluster.sandbox.cell_group import CellGroup, cell_group
from cluster.sandbox.copying import Copying, TooMuchError
from cluster.sandbox.desk import BIN, HOME
from cluster.scripts import Ending, Order

SCRIPTS = RUNTIME / "scripts"
"""Where scripts and what lies beside them are seen."""
KUBECONFIG = RUNTIME / "kubeconfig"
_LIBRARY = RUNTIME / "lib"
REFUSED = _LIBRARY / "refused"
"""Filled by the kubectl of a cell that may only look: a script that throws kubectl's words away is still told of."""
_WATCHED_KUBECTL = f"""#!/bin/sh
said=$(mktemp /tmp/.kubectl.XXXXXX) || exec {_LIBRARY}/kubectl "$@"
{_LIBRARY}/kubectl "$@" 2>"$said"
code=$?
cat "$said" >&2
grep -m 1 'User "{SCRIPT}" cannot' "$said" >>{REFUSED}
rm -f "$said"
exit "$code"
"""
WORK_BYTES, WORK_ENTRIES = 48 << 20, 10_000
"""How much of a work folder can be shown to a script."""
_TMPFS = "64m"
_ETC = (
    *("alternatives", "bash.bashrc", "group", "hosts", "inputrc", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
    *("locale.alias", "localtime", "mime.types", "nsswitch.conf", "os-release", "passwd", "profile", "protocols"),
    *("python3", "resolv.conf", "services", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone"),
)
"""Of the host's /etc: what programs look up, and no secret."""
_FOR_EXECUTION = 0o755
_MOST_REPORT = 1 << 20
_MOST_REFUSED = 2000


def main() -> None:
    """Carry out the order on standard input, or the one for the start of the lab; the answer goes to the output."""
    home, *what = sys.argv[1:]
    config = MachineConfig.from_json((Path(home) / "machine.json").read_text())
    if what == ["setup"]:
        ending = run(config, Order(scripts=config.setup, keeps=True))
        write_private(Layout(config.home).setup, ending.to_json())
    else:
        # Who asked may be interrupted; then nobody wants the answer.
        kernel.die_with_parent(signal.SIGKILL)
        ending = run(config, Order.from_json(sys.stdin.read()))
    sys.stdout.write(ending.to_json() + "\n")


def run(config: MachineConfig, order: Order) -> Ending:
    """Make a cell, run the scripts in it and take it away. OSError where it can't be made."""
    kernel.unshare(kernel.CLONE_NEWNS)
    name = order.scripts[0].name
    try:
        root = _furnish(config, order)
    except TooMuchError:
        return Ending(script=name, exit=None, cause="files")
    with cell_group(bounds.bounds(config.spec).scripts) as group:
        ending = _confined(config, order, root, group)
        if group.out_of_memory and not ending.good:
            ending = replace(ending, exit=None, cause="memory")
        elif group.out_of_tasks and not ending.good:
            ending = replace(ending, exit=None, cause="processes")
    if order.keeps:
        _keep_work(config, root)
        return ending
    return replace(ending, refused=_refused(root))


# -- what is in it ----------------------------------------------------------------------------------------


def _furnish(config: MachineConfig, order: Order) -> Path:
    layout = Layout(config.home)
    root = rootfs.build(RUNTIME / "cell", privileged=False, lower=Path("/"), size=_TMPFS, etc=_ETC)
    rootfs.cover(root, [Path("/opt")])
    kubectl = BIN if order.keeps else _LIBRARY
    rootfs.add(root, [rootfs.Bind(source=config.binaries / "bin/kubectl", target=kubectl / "kubectl")])
    if not order.keeps:
        _watch_kubectl(root)
    work = root / _work(config).relative_to("/")
    work.mkdir(parents=True)
    owner = _owner(config)
    Copying(bytes=WORK_BYTES, entries=WORK_ENTRIES, owner=owner).run(layout.work, work)
    if owner:
        os.chown(work, *owner)
    # Scripts of other platforms know the learner's folder by this name.
    (root / "root").rmdir()
    (root / "root").symlink_to(_work(config))
    scripts = root / SCRIPTS.relative_to("/")
    scripts.mkdir(parents=True)
    for name, text in {**order.library, **{script.name: script.text for script in order.scripts}}.items():
        path = scripts / name
        path.write_text(text)
        path.chmod(_FOR_EXECUTION)
    kubeconfig = root / KUBECONFIG.relative_to("/")
    write_private(kubeconfig, (layout.kubeconfig if order.keeps else layout.scripts_kubeconfig).read_bytes())
    if owner:
        os.chown(kubeconfig, *owner)
    return root


def _watch_kubectl(root: Path) -> None:
    """In front of kubectl a script that keeps what the cluster refuses."""
    watched = root / (BIN / "kubectl").relative_to("/")
    watched.parent.mkdir(parents=True, exist_ok=True)
    watched.write_text(_WATCHED_KUBECTL)
    watched.chmod(_FOR_EXECUTION)
    refused = root / REFUSED.relative_to("/")
    refused.touch()
    refused.chmod(0o666)


def _refused(root: Path) -> str:
    """The first of what was refused. A script can write there what it likes: it is about itself."""
    try:
        with os.fdopen(os.open(root / REFUSED.relative_to("/"), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
            return file.read(_MOST_REFUSED).partition("\n")[0]
    except (OSError, ValueError):
        return ""


def _work(config: MachineConfig) -> Path:
    return HOME / config.workdir


def _owner(config: MachineConfig) -> tuple[int, int] | None:
    """Whose files a script's are; in an ordinary user's sandbox there is only one user, by whatever name."""
    return (inmate.NOBODY, inmate.NOBODY) if config.privileged else None


def _environment(config: MachineConfig, order: Order) -> dict[str, str]:
    work = str(_work(config))
    return {
        "HOME": work,
        "USER": "nobody",
        "LOGNAME": "nobody",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "PATH": f"{BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "TMPDIR": "/tmp",  # noqa: S108  # the cell's own
        "KUBECONFIG": str(KUBECONFIG),
        "KUBECACHEDIR": "/tmp/.kube-cache",  # noqa: S108
        "BATCHLAB_WORK": work,
        "BATCHLAB_SCRIPTS": str(SCRIPTS),
        **order.env,
    }


# -- its life ---------------------------------------------------------------------------------------------


def _confined(config: MachineConfig, order: Order, root: Path, group: CellGroup) -> Ending:
    cell = inmate.Cell(
        scripts_folder=SCRIPTS,
        work=_work(config),
        env=_environment(config, order),
        group=group.entrances(),
        maps_user=not config.privileged,
    )
    told, tell = os.pipe()
    kernel.unshare(kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC)
    init = os.fork()
    if init == 0:
        os.close(told)
        _as_init(cell, order, root, tell)
    os.close(tell)
    report = b""
    with os.fdopen(told, "rb") as pipe:
        report = pipe.read(_MOST_REPORT)
    os.waitpid(init, 0)
    if not report:
        return Ending(script=order.scripts[0].name, exit=None, cause="start")
    return Ending.from_json(report.decode())


def _as_init(cell: inmate.Cell, order: Order, root: Path, tell: int) -> None:
    """Never returns: PID 1 of the cell."""
    try:
        kernel.die_with_parent(signal.SIGKILL)
        # Who furnished the cell goes on seeing it where it was made.
        kernel.unshare(kernel.CLONE_NEWNS)
        # The one that is there shows the sandbox's processes.
        kernel.unmount(root / "proc")
        kernel.mount("proc", root / "proc", "proc", rootfs.QUIET)
        rootfs.enter(root)
        ending = inmate.run_all(cell, order.scripts)
        os.write(tell, ending.to_json().encode())
    except BaseException as error:  # noqa: BLE001  # this fork must never return into its parent's code
        with suppress(OSError):
            os.write(2, f"cell: {type(error).__name__}: {error}\n".encode())
    os._exit(0)


def _keep_work(config: MachineConfig, root: Path) -> None:
    """What the scripts left in their work folder becomes the learner's; everything else goes with the cell."""
    owner = (os.geteuid(), os.getegid()) if config.privileged else None
    with suppress(TooMuchError):  # a cell has no room for so much
        kept = Copying(bytes=2 * WORK_BYTES, entries=2 * WORK_ENTRIES, owner=owner)
        kept.run(root / _work(config).relative_to("/"), Layout(config.home).work)


if __name__ == "__main__":
    main()
