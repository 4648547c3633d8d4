"""The learner's place: a shell's own root, process list and user namespace beside the cluster.

Owns what a learner's command can see: the host's programs, kubectl, the lab's kubeconfig, the work folder and
sockets that it may call on. It sees no key of the cluster, no other session, no process of the sandbox, and nothing
it deletes is anybody else's: each shell has a fresh overlay, and the user namespace takes away the power to
mount devices or make them.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from cluster import i18n
from cluster.errors import Problem
from cluster.machine import RUNTIME, Layout, MachineConfig
from cluster.sandbox import bounds, cgroups, kernel, rootfs

HOME = Path("/home/learner")
_OWN_FILES = (Path("/home"), Path("/root"), Path("/etc/ssh"), *map(Path, ("/etc/shadow", "/etc/gshadow")))
"""What the user keeps on the host is none of a lab's business."""
CALLED_ON = RUNTIME / "desk"
"""`Layout.desk` as it is seen there."""
BIN = RUNTIME / "bin"
# Root's name is enough to write to most of them, whatever power it has: vm.swappiness, kernel.core_pattern, a reboot.
_OF_THE_MACHINE = ("bus", "fs", "irq", "mtrr", "pressure", "scsi", "sys", "sysrq-trigger")
"""Below /proc, as container runtimes have them: what is not of a process but of the whole machine."""
_READ_ONLY = """for name in {names}; do
    [ ! -e /proc/$name ] || {{ mount --bind /proc/$name /proc/$name; mount -o remount,bind,ro /proc/$name; }}
done
exec "$@"
"""


def command(home: Path, init_pid: int, argv: list[str], env: dict[str, str], *, privileged: bool) -> list[str]:
    """The command line, for the host, that runs `argv` at the learner's place with `env` and nothing else."""
    enter = ["nsenter", f"--target={init_pid}", "--mount", "--uts", "--ipc", "--net", "--pid"]
    if not privileged:
        enter += ["--user", "--preserve-credentials"]
    words = [f"{key}={value}" for key, value in sorted(env.items())]
    inner = [sys.executable, "-P", "-m", "cluster.sandbox.desk", str(home), "--", *argv]
    python_path = f"PYTHONPATH={Path(__file__).resolve().parents[2]}"
    return [*enter, "--", "env", "-i", *words, python_path, *inner]


def main() -> None:
    """`python -m cluster.sandbox.desk SESSION-FOLDER -- ARGV…`, already inside the sandbox's namespaces."""
    home, _dashes, *argv = sys.argv[1:]
    config = MachineConfig.from_json((Path(home) / "machine.json").read_text())
    _hold_back(config)
    _furnish(config)
    os.environ.pop("PYTHONPATH", None)
    os.environ.update(
        HOME=str(HOME),
        USER="learner",
        SHELL="/bin/bash",
        KUBECONFIG=str(HOME / ".kube/config"),
        PATH=f"{BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        BATCHLAB_INSIDE=config.name,
    )
    os.chdir(HOME / config.workdir)
    # A user namespace of its own: root's name, none of its power over the machine. In a pid namespace of its
    # own the cluster's programs can't be seen or signalled.
    own = ["unshare", "--user", "--map-root-user", "--mount"]
    alone = ["--pid", "--fork", "--kill-child", "--mount-proc"]
    unshare = [*own, *alone]
    if config.privileged:
        # What is read-only before the user namespace is there can't be made anything else in it, nor mounted anew.
        script = _READ_ONLY.format(names=" ".join(_OF_THE_MACHINE))
        unshare = ["unshare", "--mount", *alone, "--", "sh", "-ec", script, "sh", *own]
    # Only in there is what an ordinary user starts counted by itself.
    held = [] if config.privileged else bounds.holding_back()
    os.execvp(unshare[0], [*unshare, "--", *held, *argv])  # noqa: S606  # the learner's own command


def _hold_back(config: MachineConfig) -> None:
    """From here on what is started harms neither the host nor, where a cgroup holds it, the lab's own cluster."""
    bounds.offer_to_the_oom_killer(bounds.SHELL_OOM_SCORE)
    if not config.privileged:
        return
    try:
        cgroups.enter_desk()
    except Problem as problem:
        i18n.set_language(i18n.from_environment())
        sys.stderr.write(f"grader: {problem.message}\n        {problem.advice}\n")
        sys.exit(problem.exit_code)


def _furnish(config: MachineConfig) -> None:
    layout = Layout(config.home)
    kubectl = config.binaries / "bin/kubectl"
    kubeconfig = layout.kubeconfig.read_bytes()
    binds = [rootfs.Bind(source=folder, target=folder) for folder in rootfs.program_folders()]
    binds += [
        rootfs.Bind(source=kubectl, target=BIN / "kubectl"),
        rootfs.Bind(source=layout.work, target=HOME / config.workdir, read_only=False),
        # The folder, not the sockets in it: one that is made anew after a crash is found by open shells, too.
        rootfs.Bind(source=layout.desk, target=CALLED_ON),
    ]
    kernel.unshare(kernel.CLONE_NEWNS)
    root = rootfs.build(
        RUNTIME / f"desk-{os.getpid()}",
        privileged=config.privileged,
        lower=RUNTIME / "host",
        size=bounds.TMPFS,
    )
    if config.privileged:
        kernel.bind(root / "sys", root / "sys", read_only=True)
    rootfs.cover(root, [*_OWN_FILES, config.home])
    rootfs.add(root, binds)
    # Only now: a folder to hide may lie in one that was just shown.
    rootfs.cover(root, config.hidden)
    kube = root / HOME.relative_to("/") / ".kube"
    kube.mkdir(parents=True, exist_ok=True)
    (kube / "config").write_bytes(kubeconfig)
    (kube / "config").chmod(0o600)
    for name, words in config.tools.items():
        tool = root / (BIN / name).relative_to("/")
        tool.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        tool.chmod(0o755)
    rootfs.enter(root)


if __name__ == "__main__":
    main()
