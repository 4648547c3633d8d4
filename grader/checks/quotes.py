"""`quotes`: the file quotes a message the cluster itself gave, white space and case aside."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import model_validator

from cluster.i18n import _
from grader.checks.base import OneRef
from grader.checks.fields import Template, names_problem
from grader.checks.instead import instead
from grader.checks.moments import Moment
from grader.checks.objects import the_one
from grader.checks.settling import any_moving
from grader.checks.templates import OBJECT_NAMES, NoValueError, rendered
from grader.checks.text import departure, gapless, quotes
from grader.checks.timed_file import TimedFile
from grader.checks.words import shown
from grader.checks.work import LearnerFile
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from grader.checks.world import World

POD_MESSAGE = "{{ (status.conditions | named('PodScheduled')).message }}"
"""What is quoted of a Pod where a check names no message: why the scheduler could not place it."""


class Quotes(TimedFile):
    """The whole message is somewhere in the file."""

    name: ClassVar[str] = "quotes"

    of: OneRef
    message: Template | None = None

    @model_validator(mode="after")
    def _has_message(self) -> Quotes:
        if self.message is None and self.of.canonical_kind != "Pod":
            raise ValueError(_("say which message: only a Pod's has a default"))
        if self.past:
            self.of.need_history()
        if wrong := names_problem(self.templates(), OBJECT_NAMES):
            raise ValueError(wrong)
        return self

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind})

    def templates(self) -> tuple[str, ...]:
        return (self.message or POD_MESSAGE,)

    def evaluate(self, world: World) -> Verdict:
        title = self.of.title(world.namespace)
        wanted = _("a message of {object}, word for word").format(object=title)
        return self.judged(self.of, world, wanted, self._judge)

    def _judge(self, file: LearnerFile, wanted: str, world: World, moment: Moment) -> Verdict:
        title = self.of.title(world.namespace)
        objects = moment.select(self.of, world)
        moving = moment.at is None and any_moving(objects, world.now)
        look_at = self.of.command(world.namespace)
        told = the_one(objects)
        if told is None:
            saw = _("there is no {object}").format(object=title) + instead(world, self.of)
            return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw, look_at=look_at))
        try:
            message = rendered(self.message or POD_MESSAGE, {"namespace": world.namespace, **told})
        except NoValueError as lack:
            saw = _("the cluster gives no message (yet): {detail}").format(detail=lack.detail)
            finding = Finding(wanted=wanted, saw=saw, where=(title,), look_at=look_at)
            return Verdict(passed=False, finding=finding, moving=moving)
        if quotes(file.text, message):
            return Verdict(passed=True, evidence=(title,))
        saw = misquoted(file, message)
        finding = Finding(wanted=wanted, saw=saw, where=(self.file, title), look_at=look_at)
        return Verdict(passed=False, finding=finding, moving=moving, evidence=(title,))


def misquoted(file: LearnerFile, *messages: str) -> str:
    """What a file says that quotes none of the messages whole: where it leaves one, or how it begins."""
    for agreed, then in filter(None, (departure(file.text, message) for message in messages)):
        if then:
            return _("{file} quotes it as far as {agreed}, then it says {then}").format(
                file=file.name, agreed=shown(agreed), then=shown(then)
            )
        return _("{file} quotes it as far as {agreed}, and ends there").format(file=file.name, agreed=shown(agreed))
    return _("{file} says {text}").format(file=file.name, text=shown(gapless(file.text)))
