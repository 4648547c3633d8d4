"""`records`: the file's lines are exactly those rendered from the objects of a selector, in any order."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from pydantic import model_validator

from cluster.i18n import _
from grader.checks.base import ObjectRef
from grader.checks.fields import Template, names_problem
from grader.checks.instead import instead
from grader.checks.moments import Moment
from grader.checks.objects import terminating, title
from grader.checks.settling import any_moving
from grader.checks.templates import OBJECT_NAMES, NoValueError, render
from grader.checks.text import record_key
from grader.checks.timed_file import TimedFile
from grader.checks.words import shown
from grader.checks.work import LearnerFile, Line
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from grader.checks.world import World

_FIRST_FEW = 3


class Records(TimedFile):
    """One line for each object. Blank lines, `#` lines, order and the width of gaps don't matter."""

    name: ClassVar[str] = "records"

    each: ObjectRef
    line: Template

    @model_validator(mode="after")
    def _known_names(self) -> Records:
        if self.each.name:
            raise ValueError(_("`each` selects by labels: one line for each object"))
        if self.past:
            self.each.need_history()
        if wrong := names_problem(self.templates(), OBJECT_NAMES):
            raise ValueError(wrong)
        return self

    def kinds(self) -> frozenset[str]:
        return frozenset({self.each.canonical_kind})

    def templates(self) -> tuple[str, ...]:
        return (self.line,)

    def evaluate(self, world: World) -> Verdict:
        wanted = _("one line {form} for each of {objects}").format(
            form=_form(self.line), objects=self.each.title(world.namespace)
        )
        return self.judged(self.each, world, wanted, self._judge)

    def _judge(self, file: LearnerFile, wanted: str, world: World, moment: Moment) -> Verdict:
        objects = moment.select(self.each, world)
        live = moment.at is None
        evidence = tuple(map(title, objects))
        on_the_way = live and any_moving(objects, world.now)
        if live:  # what is on its way out has no line any more; its successor may
            objects = [obj for obj in objects if not terminating(obj)]
        try:
            lines = [render(self.line, {"namespace": world.namespace, **obj}) for obj in objects]
        except NoValueError as lack:
            saw = _("the cluster does not show it (yet): {detail}").format(detail=lack.detail)
            return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw), moving=on_the_way)
        finding = self._wrong(file, lines, world)
        if finding is None:
            return Verdict(passed=True, evidence=evidence)
        finding = replace(finding, wanted=wanted, look_at=self.each.command(world.namespace))
        return Verdict(passed=False, finding=finding, moving=on_the_way, evidence=evidence)

    def _wrong(self, file: LearnerFile, wanted: list[str], world: World) -> Finding | None:
        """What is off, line by line, without telling what would be right. `wanted`: the lines of the objects."""
        if not wanted:
            none = _("no {objects}").format(objects=self.each.title(world.namespace))
            return Finding(saw=none + instead(world, self.each))
        kind = self.each.canonical_kind
        left = Counter(map(record_key, wanted))
        seen: dict[str, int] = {}
        wrong: list[tuple[int, str]] = []
        repeated = 0
        for line in file.lines:
            if line.text.lstrip().startswith("#"):
                continue
            key = record_key(line.text)
            if left[key] > 0:
                left[key] -= 1
            elif key in seen:
                what = _("line {line} repeats line {first}").format(line=line.number, first=seen[key])
                wrong.append((line.number, what))
                repeated += 1
            else:
                wrong.append((line.number, self._unlike(line, wanted)))
            seen.setdefault(key, line.number)
        few = wrong[:_FIRST_FEW]
        saw = [what for _number, what in few]
        if len(wrong) > len(few):
            saw.append(_("more lines like that: {number}").format(number=len(wrong) - len(few)))
        missing = left.total() - (len(wrong) - repeated)  # a wrong line was meant to be one of those
        if missing > 0:
            saw.append(
                _("{missing} of {all} {kind} objects without a line").format(
                    missing=missing, all=len(wanted), kind=kind
                )
            )
        if not saw:
            return None
        return Finding(saw="; ".join(saw), where=tuple(file.place(number) for number, _what in few) or (self.file,))

    def _unlike(self, line: Line, wanted: list[str]) -> str:
        """What is off in a line: the words that don't belong to its first one, which tells whose line it is."""
        words = line.text.split()
        meant = [each.split() for each in wanted if words[0] in each.split()[:1]]
        if meant:
            nearest = max(meant, key=lambda each: len({*words} & {*each}))
            right = [word for word in words if word in nearest]
            if off := [word for word in words if word not in nearest]:
                return _("line {line}: {wrong} does not go with {right}").format(
                    line=line.number, wrong=shown(" ".join(off)), right=shown(" ".join(right))
                )
        return _("line {line}: no {kind} has these values: {text}").format(
            line=line.number, kind=self.each.canonical_kind, text=shown(line.text)
        )


def _form(line: str) -> str:
    """What a line looks like, without telling what is in it: `pod=… group=…`."""
    blank = re.sub(r"\{\{.*?\}\}", "\0", line, flags=re.DOTALL)
    return " ".join(re.sub(r"(^|=)[^=]*\0.*", r"\1…", word) for word in blank.split())
