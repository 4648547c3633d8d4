"""The chain: a head that names the keys, and entries, each with the hash of the one before and a signature.

Owns the form of both and how they are examined; knows nothing of files or of what entries tell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.record.keys import digest, fits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from grader.record.keys import Key

FORMAT = 1
_TIME = re.compile(r"(19[7-9]\d|2\d{3})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
ENTRY, BOND, SEAL = "entry", "bond", "seal"
"""What a signature is for."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a record: at the entry `entry` (by its number), or, where it is None, with the whole."""

    entry: int | None
    message: str


def new_head(lab: str, session: Key, learner: Key | None) -> dict[str, Any]:
    """What stands before the first entry. Where the learner's key is at hand it vouches for the session's."""
    head = {"format": FORMAT, "lab": lab, "session": session.public, "learner": learner.public if learner else ""}
    return {**head, "bond": learner.sign(BOND, head) if learner else ""}


def new_entry(number: int, before: str, content: Mapping[str, Any], session: Key) -> dict[str, Any]:
    """The entry `number`, behind the one (or the head) whose digest is `before`."""
    entry = {"seq": number, **content, "prev": before}
    return {**entry, "sig": session.sign(ENTRY, entry)}


def examine(head: Any, entries: Sequence[Any]) -> list[Fault]:
    """Everything that shows that a record is not as it was written; empty where nothing does."""
    faults = list(_head_faults(head))
    if faults:
        return faults
    return list(_entry_faults(head, entries))


def clock_went_back(entries: Sequence[Mapping[str, Any]]) -> list[int]:
    """The numbers of entries that are older than the one before: no proof of anything, but worth a look."""
    return [after["seq"] for before, after in pairwise(entries) if after["at"] < before["at"]]


def _head_faults(head: Any) -> Iterator[Fault]:
    keys = ("format", "lab", "session", "learner", "bond")
    if not isinstance(head, dict) or sorted(head) != sorted(keys) or not isinstance(head["session"], str):
        yield Fault(None, _("its head is damaged"))
        return
    if head["format"] != FORMAT:
        yield Fault(None, _("its format is unknown: {format}").format(format=head["format"]))
        return
    bond = {key: head[key] for key in keys if key != "bond"}
    if head["learner"] and not fits(str(head["learner"]), BOND, bond, head["bond"]):
        yield Fault(None, _("its head names a learner whose key did not vouch for it"))


def _entry_faults(head: Mapping[str, Any], entries: Sequence[Any]) -> Iterator[Fault]:
    expected, before, sound = 0, head, True
    for entry in entries:
        number = entry.get("seq") if isinstance(entry, dict) else None
        if not isinstance(number, int) or not _signed(head, entry):
            where = number if isinstance(number, int) else expected
            yield Fault(
                where, _("was changed, or was never written by this session: {entry}").format(entry=said(entry))
            )
            expected, before, sound = expected + 1, entry, False
            continue
        if not _well_formed(head, entry):
            yield Fault(number, _("is no entry of this version, or of another lab: {entry}").format(entry=said(entry)))
        if number > expected:
            yield from _missing(expected, number - 1)
        elif number < expected:
            yield Fault(number, _("stands out of its place, or twice: {entry}").format(entry=said(entry)))
            continue
        elif sound and entry.get("prev") != digest(before):
            yield Fault(number, _("does not follow from what stands before it: {entry}").format(entry=said(entry)))
        expected, before, sound = number + 1, entry, True


def _missing(first: int, last: int) -> Iterator[Fault]:
    if first == last:
        yield Fault(first, _("is missing"))
    else:
        yield Fault(first, _("is missing, and all up to entry {last}").format(last=last))


def _well_formed(head: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    """Whether it says when and what it is: the owner of a key can sign anything."""
    try:
        datetime.fromisoformat(entry["at"])
    except (KeyError, TypeError, ValueError):
        return False
    steps = entry.get("steps", {})
    told = isinstance(steps, dict) and all(isinstance(checks, dict) for checks in steps.values())
    return told and entry.get("lab") == head["lab"] and bool(_TIME.match(entry["at"]))


def _signed(head: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    content = {key: value for key, value in entry.items() if key != "sig"}
    return fits(str(head["session"]), ENTRY, content, entry.get("sig"))


def said(entry: Any) -> str:
    """An entry for people: its time and what it is about, as it stands."""
    from grader.checks.words import shorten

    if not isinstance(entry, dict):
        return shorten(repr(entry), 40)
    words = [str(entry.get("at", "?")), str(entry.get("what", "?"))]
    steps = entry.get("steps")
    if isinstance(steps, dict):
        words += map(str, steps)
    return shorten(" ".join(words), 80)
