"""`exec`: a command in a pod, or in the learner's shell, ends as wanted and says what is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind, Model, Name, Template, WithRefs, names_problem

if TYPE_CHECKING:
    from grader.checks.world import World
    from grader.results import Verdict


class Output(Model):
    """Whole words the command's standard output holds."""

    mentions: tuple[Template, ...] = Field(min_length=1)


class Exec(CheckKind, WithRefs):
    """`command` (a list) or `run` (a line for sh), in `pod` or, without one, where the learner works."""

    name: ClassVar[str] = "exec"

    command: tuple[Name, ...] = ()
    run: str = ""
    pod: str = ""
    container: str = ""
    namespace: str = ""
    stdout: Output | None = None
    exit: Annotated[int, Field(strict=True, ge=0, le=255)] = 0
    seconds: Annotated[int, Field(strict=True, ge=1, le=60)] = 10

    @model_validator(mode="after")
    def _one_command(self) -> Exec:
        if bool(self.command) == bool(self.run.strip()):
            raise ValueError(_("`command` (a list) or `run` (a line for sh): exactly one of them"))
        if self.container and not self.pod:
            raise ValueError(_("a container needs its pod"))
        if wrong := names_problem(self.templates(), self.refs.keys()):
            raise ValueError(wrong)
        return self

    @property
    def uses_history(self) -> bool:
        return any(ref.before for ref in self.refs.values())

    def kinds(self) -> frozenset[str]:
        return self.ref_kinds() | (frozenset({"Pod"}) if self.pod else frozenset())

    def references(self) -> tuple[str, ...]:
        return self.befores()

    def templates(self) -> tuple[str, ...]:
        return self.stdout.mentions if self.stdout else ()

    def evaluate(self, world: World) -> Verdict:
        raise NotImplementedError
