"""What the machine of another platform had and a lab's places have not: paths, programs, rights.

Owns the two lists and the rewriting of paths; knows nothing of where a script stands. A lab's shell and its cell
(`cluster.sandbox.script_cell`) have the host's programs, kubectl, the work folder, and no network but the cluster's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cluster.i18n import _
from cluster.spec import NodeSpec
from grader.importing.draft import WORKDIR

HOME, WHOLE_HOME = f"~/{WORKDIR}", f"/home/learner/{WORKDIR}"
"""The work folder in the lab's shell."""
CELL_HOME = "/root"
"""The work folder in a cell, by a name that needs no shell."""
_ROOT_PATH = re.compile(r"(?<![\w./~-])/root(?=/|\b(?![\w-]))")
_TILDE = re.compile(rf"(?<![\w./~])~/(?!{WORKDIR}(?:/|\b))")
_COMMENT = re.compile(r"\s*#(?!!)")
_START = r"(?:^|[;&|(`]|\$\(|\b(?:sudo|then|do|else|exec|time|xargs|nohup|timeout \S+)\s)\s*(?:\w+=\S*\s+)*"
_SERVICES = (
    "systemctl|service|journalctl|loginctl|hostnamectl|timedatectl|sysctl|modprobe|mount|umount|swapoff|iptables|nft"
)
_PACKAGES = "apt|apt-get|dpkg|yum|dnf|apk|snap|pip|pip3|npm|gem|cargo|go install"
_CONTAINERS = "docker|docker-compose|podman|nerdctl|crictl|ctr|buildah|kind|minikube|k3s|k3d"
_NETWORK = "curl|wget|git clone|git pull|helm repo|helm pull|nc|ssh|scp|ping"
_USERS = "useradd|usermod|groupadd|adduser|passwd|chpasswd|su|visudo"
_CLUSTER = "kubeadm|etcdctl|etcdutl|kubelet|examinerctl|launch\\.sh"
_CHANGES = (
    "apply|create|delete|run|patch|replace|edit|scale|label|annotate|expose|set|rollout|cp|drain|cordon|uncordon|taint"
)


def _lacks() -> tuple[tuple[str, str], ...]:
    """(programs, why they are of no use there). A function: the language is known only when one asks."""
    return (
        (_CONTAINERS, _("needs {word}: no container engine is at hand")),
        (_PACKAGES, _("needs {word}: nothing can be installed, there is no network")),
        (_SERVICES, _("needs {word}: no services run there, and nobody has power over the system")),
        (_NETWORK, _("needs {word}: there is no network but the cluster's own")),
        (_USERS, _("needs {word}: no users can be made there")),
        (_CLUSTER, _("needs {word}: the cluster's programs are out of reach")),
    )


_FROM_THE_WEB = re.compile(r"\bkubectl\b.*\s(?:-[fk]|--filename|--kustomize)[ =]?[\"']?https?://")
_SUDO = re.compile(r"(?:^|[;&|(]\s*)\s*(?P<word>sudo)\s")
_ONLY_LOOKS = r"(?!.*--dry-run(?:=.?client.?)?(?:\s|$))(?!.*\bstatus\b)(?!.*\bhistory\b)"
_KUBECTL_CHANGES = re.compile(_START + rf"(?:kubectl|k)\s(?:[^|;&#]*\s)?(?P<word>{_CHANGES})\s{_ONLY_LOOKS}")
_IMPERSONATES = re.compile(r"\bkubectl\b.*\s--as(?:-group)?[= ]")
_PART = re.compile(
    r"(?:\\|&&|\|\|?|[{(]|\bdo|\bthen|\belse)\s*$"
    r"|^\s*(?:[})]|(?:if|elif|while|until|for|case|function)\b)|\(\)"
)
"""A line that is no whole command by itself."""
_OUTSIDE = re.compile(r"(?<![\w./~:}-])(?P<word>/(?:etc|opt|var|usr/local|srv|mnt|data|home|tmp)(?:/[\w.@-]+)+)")


def at_home(text: str, *, always: bool = False) -> str:
    """Paths of the machine's root user and of its home, as paths of the work folder.

    A shell reads `~` at the beginning of a word only: elsewhere, and everywhere with `always`, the whole path is
    written.
    """

    def home(match: re.Match[str]) -> str:
        before = match.string[match.start() - 1 : match.start()]
        return WHOLE_HOME if always or before not in ("", " ", "\t", "\n", "`", "(", "*", "_", ">", "<") else HOME

    return _TILDE.sub(lambda match: f"{home(match)}/", _ROOT_PATH.sub(home, text))


def lacking(script: str, *, may_change: bool) -> Iterator[tuple[int, str]]:
    """(line, from 1; reason) of each line that can't work in a cell. `may_change`: it runs at the start, with rights to
    change the cluster."""
    for number, line in enumerate(script.split("\n"), start=1):
        if _COMMENT.match(line):
            continue
        for words, reason in _lacks():
            if match := re.search(_START + rf"(?P<word>{words})(?=\s|$|;|\))", line):
                yield number, reason.format(word=match["word"])
        if _FROM_THE_WEB.search(line):
            yield number, _("takes files from the web: there is no network but the cluster's own")
        if _SUDO.search(line):
            yield number, _("needs sudo: nobody becomes root there")
        if not may_change:
            if match := _KUBECTL_CHANGES.search(line):
                yield number, _("kubectl {word}: a check may only look at the cluster").format(word=match["word"])
            if _IMPERSONATES.search(line):
                yield number, _("kubectl --as: a check may not act for others")


def without_lacking(script: str) -> str:
    """A set-up script in which lines that can't work, and that stand by themselves, do nothing.

    Left as they were they would end it with an exit code that means nothing, and with it the start of the lab.
    """
    rows = script.split("\n")
    told = {number for number, _reason in lacking(script, may_change=True)}
    for number in told:
        row = rows[number - 1]
        before = rows[number - 2].rstrip() if number > 1 else ""
        alone = not _PART.search(row) and not before.endswith(("\\", "&&", "||", "|")) and "<<" not in row
        if alone and "kubectl" not in row and all(row.count(quote) % 2 == 0 for quote in "\"'`"):
            rows[number - 1] = f"{row[: len(row) - len(row.lstrip())]}:  # not here: {row.strip()}"
    return "\n".join(rows)


def outside(text: str) -> list[str]:
    """Paths that a shell of the lab forgets when it ends and that no check sees."""
    return list(dict.fromkeys(match["word"] for match in _OUTSIDE.finditer(text)))


def nodes(image: str) -> list[NodeSpec]:
    """The nodes for an image of a platform: by the names that texts written for it use, none of them real.

    Fake nodes run pods of every image, since none is pulled, and need no root; without the taint, pods that know
    nothing of them land there.
    """
    control = NodeSpec(name="controlplane", taint=False, labels={"node-role.kubernetes.io/control-plane": ""})
    name = image.lower()
    if "2node" in name or "kubernetes-cluster" in name:
        return [control, NodeSpec(name="node01", taint=False)]
    if any(word in name for word in ("kube", "k3s", "k8s", "minikube")):
        return [control]
    return [NodeSpec(name="node01", taint=False)]


def is_cluster(image: str) -> bool:
    """Whether the image has a Kubernetes cluster."""
    return any(word in image.lower() for word in ("kube", "k3s", "k8s", "openshift"))
