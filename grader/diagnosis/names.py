"""KIND/NAME as people write it: `job/x`, `lws/x`, `clusterqueue/x`.

Owns the words for kinds; looks nothing up.
"""

from __future__ import annotations

from typing import NamedTuple

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.checks.objects import KINDS
from grader.checks.words import near, shorten

_SHORT = {
    "po": "Pod",
    "no": "Node",
    "ns": "Namespace",
    "svc": "Service",
    "sts": "StatefulSet",
    "rs": "ReplicaSet",
    "ds": "DaemonSet",
    "deploy": "Deployment",
    "pvc": "PersistentVolumeClaim",
    "quota": "ResourceQuota",
    "js": "JobSet",
    "lws": "LeaderWorkerSet",
    "wl": "Workload",
    "lq": "LocalQueue",
    "queue": "LocalQueue",
    "cq": "ClusterQueue",
    "rf": "ResourceFlavor",
    "flavor": "ResourceFlavor",
}
_WORDS = {**{kind.lower(): kind for kind in KINDS if kind not in ("Event", "Secret")}, **_SHORT}


class Target(NamedTuple):
    """What is asked about."""

    kind: str
    name: str


def parse_target(text: str) -> Target:
    """The object `text` names; UsageProblem, with a near word, where it names none."""
    word, slash, name = text.partition("/")
    name = name.strip()
    if not slash or not name or "/" in name:
        raise UsageProblem(
            _("{text} is not KIND/NAME").format(text=shorten(text)), _("for example: grader why job/NAME")
        )
    kind = kind_of(word)
    if not kind:
        guess = near(word, _WORDS)
        advice = _("did you mean {guess}?").format(guess=guess) if guess else ""
        raise UsageProblem(_("unknown kind {word}").format(word=shorten(word)), advice)
    return Target(kind, name)


def kind_of(word: str) -> str:
    """The kind a word means: singular, plural or short, with or without its group; "" for none."""
    plain = word.strip().lower().partition(".")[0]
    return _WORDS.get(plain) or _WORDS.get(plain.removesuffix("s")) or _WORDS.get(plain.removesuffix("es")) or ""
