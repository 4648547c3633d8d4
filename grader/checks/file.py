"""`file`: a learner's file is there, mentions words, has lines, or parses as YAML that matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import model_validator

from grader.checks.base import (
    CheckKind,
    FileName,
    Model,
    Name,
    Partial,
    Template,
    WithRefs,
    names_problem,
    strings_of,
)

if TYPE_CHECKING:
    from grader.checks.world import World
    from grader.results import Verdict


class YamlFile(Model):
    """Some document of the file matches `match`."""

    match: Partial


class FileCheck(CheckKind, WithRefs):
    """What one file of the work folder holds. Without any rule: it is there and not empty."""

    name: ClassVar[str] = "file"

    file: FileName
    mentions: tuple[Template, ...] = ()
    not_mentions: tuple[Template, ...] = ()
    lines: tuple[Name, ...] = ()
    yaml: YamlFile | None = None

    @model_validator(mode="after")
    def _known_names(self) -> FileCheck:
        if wrong := names_problem(self.templates(), self.refs.keys()):
            raise ValueError(wrong)
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
        wanted = self.yaml.match if self.yaml else None
        return (*self.mentions, *self.not_mentions, *strings_of(wanted))

    def evaluate(self, world: World) -> Verdict:
        raise NotImplementedError
