"""Checks: a closed, small set of kinds, one module each; KINDS is the list.

`CheckSource` is a check as a lab file writes it (envelope keys and exactly one kind's key), to validate a
check block with and to publish a JSON Schema from; `CheckSource.check()` is the check itself.
"""

from __future__ import annotations

from pydantic import Field, model_validator

from cluster.i18n import _
from grader.checks.answer import Answer
from grader.checks.base import Check, CheckKind, Envelope
from grader.checks.exec import Exec
from grader.checks.file import FileCheck
from grader.checks.happened import Happened
from grader.checks.python import Python
from grader.checks.quotes import Quotes
from grader.checks.records import Records
from grader.checks.resource import Resource
from grader.checks.resources import Resources
from grader.checks.script import ScriptCheck

__all__ = ["KINDS", "Check", "CheckKind", "CheckSource"]

KINDS: dict[str, type[CheckKind]] = {
    kind.name: kind
    for kind in (Resource, Resources, FileCheck, Records, Answer, Quotes, Exec, Happened, ScriptCheck, Python)
}


class CheckSource(Envelope):
    """One entry of a ```yaml check block. Places in a ValidationError are the YAML's own keys."""

    resource: Resource | None = None
    resources: Resources | None = None
    file: FileCheck | None = None
    records: Records | None = None
    answer: Answer | None = None
    quotes: Quotes | None = None
    exec_: Exec | None = Field(default=None, alias="exec")
    happened: Happened | None = None
    script: ScriptCheck | None = None
    python: Python | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> CheckSource:
        if len(self._given()) != 1:
            raise ValueError(_("a check has exactly one of {kinds}").format(kinds=", ".join(KINDS)))
        return self

    def _given(self) -> list[CheckKind]:
        kinds = (
            self.resource,
            self.resources,
            self.file,
            self.records,
            self.answer,
            self.quotes,
            self.exec_,
            self.happened,
            self.script,
            self.python,
        )
        return [kind for kind in kinds if kind is not None]

    def check(self) -> Check:
        """The check it describes."""
        envelope = {name: getattr(self, name) for name in Envelope.model_fields}
        return Check(**envelope, kind=self._given()[0])
