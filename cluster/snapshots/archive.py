"""A snapshot as one file: a digest, a header, the datastore's values.

Owns the format and the refusal of anything that is not wholly what was written. Knows nothing of where the file
lies, of etcd, or of what the values mean.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass

from cluster.i18n import _

FORMAT = 1


class Unusable(Exception):
    """This file must not be restored; the text says why. `damaged`: it is not what was once written."""

    def __init__(self, reason: str, *, damaged: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.damaged = damaged


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What a machine's datastore held, and the keys that its objects speak of.

    `began` and `made` (Unix seconds) enclose every time in it: the start of that machine and the taking. `keys` are
    the files below `pki` that belong to it: the webhooks' authority and certificates (path → PEM).
    """

    recipe: str
    began: float
    made: float
    entries: dict[bytes, bytes]
    keys: dict[str, str]

    def to_bytes(self) -> bytes:
        """As the file has it."""
        header = {
            "format": FORMAT,
            "recipe": self.recipe,
            "began": self.began,
            "made": self.made,
            "keys": self.keys,
            "entries": [[key.decode(), len(value)] for key, value in self.entries.items()],
        }
        body = json.dumps(header).encode() + b"\n" + zlib.compress(b"".join(self.entries.values()), 1)
        return hashlib.sha256(body).hexdigest().encode() + b"\n" + body

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        """The inverse of `to_bytes`. Unusable for anything else."""
        digest, _newline, body = data.partition(b"\n")
        if hashlib.sha256(body).hexdigest().encode() != digest:
            raise Unusable(_("its content does not fit its digest"), damaged=True)
        head, _newline, packed = body.partition(b"\n")
        header = json.loads(head)
        if header.get("format") != FORMAT:
            raise Unusable(
                _("it has format {theirs}, not {ours}").format(theirs=header.get("format"), ours=FORMAT), damaged=False
            )
        values = memoryview(zlib.decompress(packed))
        entries: dict[bytes, bytes] = {}
        at = 0
        for key, size in header["entries"]:
            entries[key.encode()] = bytes(values[at : at + size])
            at += size
        return cls(
            recipe=header["recipe"],
            began=header["began"],
            made=header["made"],
            entries=entries,
            keys=header["keys"],
        )
