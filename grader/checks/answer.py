"""`answer`: a file of `key=value` lines whose values equal those rendered from live or past objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind, FileName, Name, Template, WithRefs, names_problem

if TYPE_CHECKING:
    from grader.checks.world import World
    from grader.results import Verdict


class Answer(CheckKind, WithRefs):
    """Every key of `fields` once, with the value its template gives."""

    name: ClassVar[str] = "answer"

    file: FileName
    values: dict[Name, Template] = Field(alias="fields", min_length=1)
    extra: Literal["allow", "refuse"] = "refuse"

    @model_validator(mode="after")
    def _known_names(self) -> Answer:
        if wrong := names_problem(self.templates(), self.refs.keys()):
            raise ValueError(wrong)
        if bad := next(
            (key for key in self.values if key != key.strip() or "=" in key or key.startswith("#")), ""
        ):
            raise ValueError(_("{key} can't be a key of a key=value line").format(key=repr(bad)))
        return self

    @property
    def uses_history(self) -> bool:
        return any(ref.before or ref.when == "written" for ref in self.refs.values())

    def kinds(self) -> frozenset[str]:
        return self.ref_kinds()

    def files(self) -> tuple[str, ...]:
        return (self.file,)

    def references(self) -> tuple[str, ...]:
        return self.befores()

    def templates(self) -> tuple[str, ...]:
        return tuple(self.values.values())

    def evaluate(self, world: World) -> Verdict:
        raise NotImplementedError
