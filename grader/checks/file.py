"""`file`: a learner's file is there, mentions words, has lines, or parses as YAML that matches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind, WithRefs
from grader.checks.fields import FileName, Model, Name, Partial, Template, names_problem, strings_of
from grader.checks.matching import Difference, differences, explained
from grader.checks.moments import in_any_scene
from grader.checks.objects import title
from grader.checks.templates import expression, is_template, names, rendered
from grader.checks.text import gapless, mentions
from grader.checks.words import shown
from grader.checks.work import FileTrouble, LearnerFile
from grader.checks.yamldoc import Document, documents
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.checks.world import World


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
        return self.ref_past

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
        wanted = _("{file} as asked").format(file=self.file)
        try:
            file = world.work.read(self.file)
            parsed = documents(file) if self.yaml else []
        except FileTrouble as trouble:
            return trouble.verdict(wanted)
        return in_any_scene(self.refs, world, file.mtime, wanted, partial(self._judge, file, parsed))

    def _judge(self, file: LearnerFile, parsed: list[Document], context: Mapping[str, Any]) -> Verdict:
        finding = self._wrong_lines(file) or self._wrong_words(file, context) or self._wrong_yaml(file, parsed, context)
        return Verdict(passed=finding is None, finding=finding or Finding(), evidence=(self.file,))

    def _wrong_lines(self, file: LearnerFile) -> Finding | None:
        there = {gapless(line.text) for line in file.lines}
        missing = [line for line in self.lines if gapless(line) not in there]
        if not missing:
            return None
        return Finding(
            wanted=_("the line {line}").format(line=shown(missing[0])),
            saw=_("no such line"),
            where=(self.file,),
        )

    def _wrong_words(self, file: LearnerFile, context: Mapping[str, Any]) -> Finding | None:
        for source in self.mentions:
            if not mentions(file.text, rendered(source, context)):
                # A rendered value is the answer itself: only its place in the object is told.
                what = expression(source) if is_template(source) else shown(source)
                return Finding(
                    wanted=_("{what} as a whole word").format(what=what),
                    saw=_("{file} does not mention it").format(file=self.file),
                    where=(self.file, *self._objects(source, context)),
                )
        for source in self.not_mentions:
            words = rendered(source, context)
            line = next((line for line in file.lines if mentions(line.text, words)), None)
            if line is not None or mentions(file.text, words):
                return Finding(
                    wanted=_("{what} nowhere in it").format(what=shown(words)),
                    saw=shown(line.text) if line else _("it is there"),
                    where=(file.place(line.number) if line else self.file,),
                )
        return None

    def _objects(self, source: str, context: Mapping[str, Any]) -> list[str]:
        """Titles of the objects a template takes its value from."""
        return [title(context[name]) for name in sorted(names(source)) if name in self.refs]

    def _wrong_yaml(self, file: LearnerFile, parsed: list[Document], context: Mapping[str, Any]) -> Finding | None:
        if self.yaml is None:
            return None
        nearest: tuple[int, Document, list[Difference]] | None = None
        for document in parsed:
            unlike = differences(self.yaml.match, document.value, context)
            if not unlike:
                return None
            far = len(unlike) + (0 if _same_object(self.yaml.match, document.value) else 100)
            if nearest is None or far < nearest[0]:
                nearest = (far, document, unlike)
        if nearest is None:
            return Finding(
                wanted=_("a YAML object"),
                saw=_("{file} holds none").format(file=self.file),
                where=(self.file,),
            )
        _far, document, unlike = nearest
        wanted, saw = explained(unlike)
        where = dict.fromkeys(file.place(document.line(each.keys)) for each in unlike)
        return Finding(wanted=wanted, saw=saw, where=tuple(where))


def _same_object(wanted: Mapping[str, Any], value: object) -> bool:
    """Whether a document is the object that is meant: its differences are the ones worth telling."""
    if not isinstance(value, dict):
        return False
    names = (wanted.get("metadata") or {}, value.get("metadata") or {})
    return wanted.get("kind") == value.get("kind") and names[0].get("name") == names[1].get("name")
