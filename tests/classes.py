"""Reports of pretended learners: records written by real keys, as `grader report --export` has them.

Owns the making of them, whole or bent; tests say what is in them.
"""

from __future__ import annotations

import copy
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from grader.record.chain import new_entry, new_head
from grader.record.keys import Key, digest
from grader.record.seal import SCHEMA, lab_seal, sealed
from grader.report.json import utc

STEPS = ("groups", "names", "restart")
BEGIN = 1_790_000_000.0
Document = dict[str, Any]


def key(seed: int) -> Key:
    """A key that is the same each time."""
    return Key(Ed25519PrivateKey.from_private_bytes(random.Random(seed).randbytes(32)))


def check(*passed: str, at: float, counted: bool = True, lab: str = "lab-toy") -> Document:
    """A check of the whole lab, in which the steps `passed` pass."""
    steps = {step: {f"{step}-check": "passed" if step in passed else "failed"} for step in STEPS}
    return {**common(at, lab), "what": "check", "counted": counted, "steps": steps}


def start(*, at: float, again: bool = False, lab: str = "lab-toy", **drawn: int | str) -> Document:
    return {**common(at, lab), "what": "reset" if again else "start", "drawn": drawn}


def hint(step: str, *, at: float, lab: str = "lab-toy") -> Document:
    return {**common(at, lab), "what": "hint", "step": step, "shown": 1}


def common(at: float, lab: str) -> Document:
    text = {"content": "sha256:c", "values": "sha256:v", "version": "1"}
    return {"at": utc(BEGIN + at), "lab": lab, **text}


def ordinary(passed: int = 2) -> list[Document]:
    """Starts, tries twice, then passes `passed` steps, ten minutes each."""
    told = [start(at=0, replicas=3), check(at=60), hint("groups", at=120)]
    return told + [check(*STEPS[: number + 1], at=600 * (number + 1)) for number in range(passed)]


@dataclass
class Learner:
    """One with a name and two keys; `report` is what is handed in."""

    name: str = "Kim"
    seed: int = 1
    lab: str = "lab-toy"
    told: list[Document] = field(default_factory=ordinary)
    session: Key | None = None

    @property
    def own(self) -> Key:
        return key(self.seed)

    def record(self) -> Document:
        session = self.session or key(self.seed + 1_000_000)
        head = new_head(self.lab, session, self.own)
        entries: list[Document] = []
        last = digest(head)
        for number, content in enumerate(self.told):
            entries.append(new_entry(number, last, content, session))
            last = digest(entries[-1])
        return {"head": head, "entries": entries, "end": {"next": len(entries), "last": last, "kept": True}}

    def report(self) -> Document:
        session = self.session or key(self.seed + 1_000_000)
        learner = {"name": self.name, "key": self.own.public}
        steps: dict[str, str] = {}
        for entry in self.told:
            for step, checks in entry.get("steps", {}).items():
                if set(checks.values()) == {"passed"}:
                    steps.setdefault(step, entry["at"])
        part: Document = {
            "lab": self.lab,
            "state": "begun",
            "steps_passed": len(steps),
            "steps_total": len(STEPS),
            "steps": steps,
            "seconds_at_work": 600.0,
            "attempts": 3,
            "hints": 1,
            "started": self.told[0]["at"] if self.told else None,
            "last": self.told[-1]["at"] if self.told else None,
            "finished": None,
            "kept": [],
        }
        signed = lab_seal(part, self.record(), learner, session)
        other = {**part, "lab": "lab-other", "state": "not begun", "steps": {}, "steps_passed": 0}
        document = {"schema": SCHEMA, "at": utc(BEGIN + 9000), "learner": learner, "labs": [signed, other]}
        return sealed(document, self.own)

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.report()))
        return path


def sealed_at(learner: Learner, at: float) -> Document:
    """The learner's report as if it had been written at that time."""
    return sealed({**learner.report(), "at": utc(BEGIN + at)}, learner.own)


def bent(document: Document) -> Document:
    """A copy to be changed."""
    return copy.deepcopy(document)


def seal_again(document: Document, learner: Learner) -> Document:
    """Signed by the learner's key as it stands now, which is what somebody does who has only that key."""
    return sealed(document, learner.own)
