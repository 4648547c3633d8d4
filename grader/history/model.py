"""What the history is made of, as plain data.

Owns Change, Gap and Mark; knows nothing of SQLite or of the API server.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cluster.spec import Manifest

Verb = Literal["ADDED", "MODIFIED", "DELETED"]

EVERY_KIND = "*"
"""The kind of a gap that holds for all kinds."""

EXPIRED = "expired"
REPLACED = "replaced"
DAMAGED = "damaged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One version of one object, as the API server told it.

    `at` is Unix seconds of the recorder's clock when it arrived: it never decreases from one `seq` to the
    next. `object` has no managedFields; that of a DELETED is the last state.
    """

    seq: int = 0
    at: float
    verb: Verb
    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str
    resource_version: str
    object: Manifest


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which changes of `kind` (EVERY_KIND: of all) may have been missed.

    `start` and `end` are Unix seconds, both inside the gap; a start of 0.0 means "since the session began".
    `reason` is one of this module's words or a sentence.
    """

    kind: str
    start: float
    end: float
    reason: str

    @property
    def sentence(self) -> str:
        """The reason in the language in force."""
        from cluster.i18n import _

        match self.reason:
            case "expired":
                return _("the API server no longer had the changes the recorder missed")
            case "replaced":
                return _("the cluster was replaced by another one while its history was kept")
            case "damaged":
                return _("the history file was damaged, a new one was begun")
            case other:
                return other


@dataclass(frozen=True, slots=True)
class Mark:
    """A named moment: `at` in Unix seconds."""

    name: str
    at: float
    value: str
