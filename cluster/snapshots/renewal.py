"""Making a restored datastore the machine's own: other UIDs, and times as if it had been made now.

Values are opaque here (protobuf for Kubernetes' own kinds, JSON for custom resources): what is replaced has the same
length in both, so nothing around it has to be understood. A UID is 36 characters. A time is a varint of five bytes
(until the year 3058) or RFC 3339 text; only those between the start of the first machine and the taking are moved,
all by the same number of seconds, so that their order stays.
"""

from __future__ import annotations

import math
import re
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cluster.snapshots.archive import Snapshot

_UUID = rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
# Where an object says its own: ObjectMeta.uid (field 5, 36 bytes), or `"uid":"…"`. Other places that name it follow.
_OWN_UID = re.compile(rb'(?:\x2a\x24|"uid":")(' + _UUID + rb")")
_ANY_UUID = re.compile(_UUID)
_SECONDS_FIELD = b"\x08"  # Time.seconds: field 1, varint
_LONGEST = 600
"""Seconds: a first start that took longer keeps its times; they are in the past, and only odd to look at."""


def renewed(snapshot: Snapshot, now: float) -> dict[bytes, bytes]:
    """The entries for a machine that starts at `now` (Unix seconds)."""
    values = list(snapshot.entries.values())
    joined = b"".join(values)
    joined = _with_new_uids(joined)
    joined = _moved(joined, math.floor(snapshot.began), math.floor(snapshot.made), math.floor(now))
    result: dict[bytes, bytes] = {}
    at = 0
    for key, value in zip(snapshot.entries, values, strict=True):
        result[key] = joined[at : at + len(value)]
        at += len(value)
    return result


def _with_new_uids(values: bytes) -> bytes:
    new = {old: str(uuid.uuid4()).encode() for old in set(_OWN_UID.findall(values))}
    return _ANY_UUID.sub(lambda match: new.get(match.group(), match.group()), values)


def _moved(values: bytes, began: int, made: int, now: int) -> bytes:
    new: dict[bytes, bytes] = {}
    for second in range(max(began, made - _LONGEST), made + 1):
        moved = second + now - made
        new[_SECONDS_FIELD + _varint(second)] = _SECONDS_FIELD + _varint(moved)
        new[_text(second)] = _text(moved)
    if not new:
        return values
    pattern = re.compile(b"|".join(map(re.escape, new)))
    return pattern.sub(lambda match: new[match.group()], values)


def _text(second: int) -> bytes:
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%S}".encode()


def _varint(number: int) -> bytes:
    result = bytearray()
    while number > 0x7F:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    result.append(number)
    return bytes(result)
