"""`exec`: a command in a pod, or in the learner's shell, ends as wanted and says what is wanted."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, model_validator

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.checks.base import CheckKind, ObjectRef, WithRefs
from grader.checks.fields import Model, Name, Template, names_problem
from grader.checks.moments import in_any_scene
from grader.checks.objects import titled
from grader.checks.settling import moving
from grader.checks.templates import expression, is_template, rendered
from grader.checks.text import gapless, mentions
from grader.checks.words import shorten, shown
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.checks.world import World


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
        return self.ref_past

    def kinds(self) -> frozenset[str]:
        return self.ref_kinds() | (frozenset({"Pod"}) if self.pod else frozenset())

    def references(self) -> tuple[str, ...]:
        return self.befores()

    def templates(self) -> tuple[str, ...]:
        return self.stdout.mentions if self.stdout else ()

    def evaluate(self, world: World) -> Verdict:
        return in_any_scene(self.refs, world, None, self._shown(), partial(self._judge, world))

    def _shown(self) -> str:
        return _("{command} to work").format(command=shorten(self.run or shlex.join(self.command)))

    def _judge(self, world: World, context: Mapping[str, Any]) -> Verdict:
        if world.executor is None:
            raise EnvironmentProblem(_("no command can be run here"))
        words = [rendered(source, context) for source in self.templates()]
        if self.pod and (verdict := self._not_running(world)):
            return verdict
        done = world.executor.execute(
            self.command or ("sh", "-c", self.run),
            namespace=self.namespace or world.namespace,
            pod=self.pod,
            container=self.container,
            seconds=self.seconds,
        )
        where = (titled("Pod", self.namespace or world.namespace, self.pod),) if self.pod else ()
        if done.exit != self.exit:
            if done.exit is None:
                saw = _("no end after {seconds} s").format(seconds=self.seconds)
            else:
                said = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
                saw = _("exit code {code}").format(code=done.exit)
                saw += f": {shown(said[0])}" if said else ""
            wanted = _("{command} with exit code {code}").format(
                command=shorten(self.run or shlex.join(self.command)), code=self.exit
            )
            return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw, where=where))
        for source, word in zip(self.templates(), words, strict=True):
            if not mentions(done.stdout, word):
                what = expression(source) if is_template(source) else shown(source)
                wanted = _("an output that mentions {what}").format(what=what)
                saw = shown(gapless(done.stdout)) if done.stdout.strip() else _("no output")
                return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw, where=where))
        return Verdict(passed=True, evidence=where)

    def _not_running(self, world: World) -> Verdict | None:
        ref = ObjectRef(kind="Pod", name=self.pod, namespace=self.namespace)
        pod = world.get(ref)
        if pod is not None and (pod.get("status") or {}).get("phase") == "Running":
            return None
        title = ref.title(world.namespace)
        saw = _("there is no {object}").format(object=title) if pod is None else _("it is not running")
        finding = Finding(wanted=self._shown(), saw=saw, where=(title,))
        return Verdict(passed=False, finding=finding, moving=pod is not None and moving(pod, world.now))
