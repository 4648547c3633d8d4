"""`happened`: what the history shows: recreated together, rolled, never existed, created after, changed.

Owns the kind and the choice of its form; each form has its module, `lives` reads the history for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind
from grader.checks.happened.forms import Form, Incident
from grader.checks.happened.recreated import Recreated
from grader.checks.happened.rolled import Rolled
from grader.checks.happened.simple import Changed, CreatedAfter, Never
from grader.results import Verdict

if TYPE_CHECKING:
    from grader.checks.world import World

__all__ = ["FORMS", "Form", "Happened", "Incident"]

FORMS = ("recreated", "rolled", "never", "created_after", "changed")


class Happened(CheckKind):
    """Exactly one form."""

    name: ClassVar[str] = "happened"

    recreated: Recreated | None = None
    rolled: Rolled | None = None
    never: Never | None = None
    created_after: CreatedAfter | None = None
    changed: Changed | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Happened:
        if len(self._given()) != 1:
            raise ValueError(_("exactly one of {forms}").format(forms=", ".join(FORMS)))
        return self

    def _given(self) -> list[Form]:
        forms = (self.recreated, self.rolled, self.never, self.created_after, self.changed)
        return [form for form in forms if form is not None]

    @property
    def form(self) -> Form:
        """The one form that is given."""
        return self._given()[0]

    @property
    def uses_history(self) -> bool:
        return True

    def kinds(self) -> frozenset[str]:
        return self.form.kinds()

    def templates(self) -> tuple[str, ...]:
        return self.form.templates()

    def evaluate(self, world: World) -> Verdict:
        account = world.account(self.form)
        evidence = tuple(line for incident in account.incidents for line in incident.evidence)
        return Verdict(passed=account.passed, finding=account.finding, moving=account.moving, evidence=evidence)
