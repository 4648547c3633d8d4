"""The tasks in the front matter of an iximiuz-style challenge: set-up before, checks after, helpers beside.

Owns the keys of a task and what becomes of each; where a text shows a task is `challenge`'s.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from cluster.i18n import _
from grader.importing import parts
from grader.importing.draft import CheckDraft, LabDraft, StepDraft, slug
from grader.importing.ledger import Place
from grader.importing.places import Document, Pointer, shown

_KNOWN = (
    *("init", "helper", "machine", "user", "needs", "timeout_seconds", "run", "hintcheck", "failcheck", "env"),
    *("name", "retries", "delay"),
)
_TEMPLATE = re.compile(r"x\(\.(?P<what>[^)]*)\)")
_INLINE = re.compile(r"(?P<quote>')?x\(\.(?P<template>[^)]*)\)(?(quote)')")
_NEEDED = re.compile(r"needs\.(?P<task>[\w-]+)\.(?P<stream>stdout|stderr)\Z")
_SECONDS = 30
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)\Z", re.DOTALL)


@dataclass(slots=True)
class Task:
    """One task, as far as its keys could be read."""

    name: str
    pointer: Pointer
    run: str
    needs: list[str] = field(default_factory=list)
    env: list[str] = field(default_factory=list)
    kind: str = "regular"
    seconds: int = _SECONDS
    hint: str = ""
    fail: str = ""

    @property
    def check_id(self) -> str:
        """Its id as a check."""
        return slug(self.name, "task")


class Tasks:
    """The tasks of one challenge."""

    def __init__(self, file: str, matter: Document, lab: LabDraft) -> None:
        self.file, self.matter, self.lab = file, matter, lab
        self.tasks: dict[str, Task] = {}
        self.inputs: dict[str, str] = {}
        """The file of the work folder in which the learner answers, by the task that asks."""
        self.destinations: dict[str, str] = {}
        raw = matter.value.get("tasks")
        if isinstance(raw, dict):
            for name, value in raw.items():
                self._read(str(name), value)
        elif raw is not None:
            lab.ledger.unmapped(self._place(("tasks",)), "tasks", _("must be {kind}").format(kind=_("a mapping")))

    def _place(self, pointer: Pointer) -> Place:
        return Place(self.file, self.matter.line(pointer))

    def _read(self, name: str, value: Any) -> None:
        pointer: Pointer = ("tasks", name)
        ledger = self.lab.ledger
        if not isinstance(value, dict) or not isinstance(value.get("run"), str):
            ledger.unmapped(self._place(pointer), shown(pointer), _("a task without a script in 'run'"))
            return
        task = Task(name, pointer, value["run"])
        task.needs = [str(need) for need in value.get("needs") or [] if isinstance(need, str)]
        task.env = [str(one) for one in value.get("env") or [] if isinstance(one, str)]
        task.kind = "init" if value.get("init") is True else "helper" if value.get("helper") is True else "regular"
        if isinstance(seconds := value.get("timeout_seconds"), int):
            task.seconds = seconds
        task.hint = value["hintcheck"] if isinstance(value.get("hintcheck"), str) else ""
        task.fail = value["failcheck"] if isinstance(value.get("failcheck"), str) else ""
        self.tasks[name] = task
        for key in value:
            inner = (*pointer, key)
            if key == "machine":
                reason = _("there is one place for scripts, not a machine {name}").format(name=str(value[key])[:40])
                ledger.approximated(self._place(inner), shown(inner), "scripts/", reason)
            elif key == "user":
                reason = _("every script runs as nobody, not as {name}").format(name=str(value[key])[:40])
                ledger.approximated(self._place(inner), shown(inner), "scripts/", reason)
            elif key not in _KNOWN or key in ("retries", "delay"):
                ledger.unmapped(self._place(inner), shown(inner), _("no such key is documented"))

    def set_up(self) -> None:
        """The init tasks, each after those it needs; of helpers it is told that nothing runs all the time."""
        done: set[str] = set()

        def do(task: Task, above: tuple[str, ...]) -> None:
            for need in task.needs:
                if need in self.tasks and need not in done and need not in above:
                    do(self.tasks[need], (*above, task.name))
            if task.name in done or task.kind != "init":
                return
            done.add(task.name)
            text = self._prelude(task, cell=False) + task.run
            what = f"{shown(task.pointer)} (init)"
            parts.set_up(self.lab, slug(task.name), text, self._body(task, "run"), what)

        for task in self.tasks.values():
            do(task, (task.name,))
            if task.kind == "helper":
                reason = _("nothing of a lab's runs all the time")
                self.lab.ledger.unmapped(self._place(task.pointer), f"{shown(task.pointer)} (helper)", reason)

    def check(self, step: StepDraft, name: str, says: str, known: set[str]) -> CheckDraft | None:
        """The check of a regular task in `step`. `known`: ids of checks that stand before it."""
        task = self.tasks.get(name)
        if task is None or task.kind != "regular":
            return None
        ledger, check_id = self.lab.ledger, task.check_id
        hint = fail = ""
        for key, text in (("hintcheck", task.hint), ("failcheck", task.fail)):
            if not text:
                continue
            path = self.lab.free(f"scripts/{key}-{check_id}.sh")
            self.lab.add_text(
                path, parts.readable(self.lab, self._filled(task, key, text), self._body(task, key)) or "exit 0"
            )
            parts.warn(self.lab, text, self._body(task, key), may_change=False)
            inner = (*task.pointer, key)
            if key == "hintcheck":
                hint = path.rpartition("/")[2]
                reason = _("it is said where the check fails")
            else:
                fail = path.rpartition("/")[2]
                reason = _("where it fails the check fails; nothing else is over")
            ledger.approximated(self._place(inner), shown(inner), path, reason)
        check = parts.check_script(
            self.lab,
            step,
            f"{check_id}.sh",
            self._filled(task, "run", task.run),
            self._body(task, "run"),
            shown(task.pointer),
            check_id=check_id,
            says=says,
            prelude=self._prelude(task, cell=True),
            hint=hint,
            fail=fail,
            seconds=task.seconds,
        )
        for number, need in enumerate(task.needs):
            other = self.tasks.get(need)
            inner = (*task.pointer, "needs", number)
            if other is not None and other.kind == "init":
                ledger.converted(self._place(inner), f"{shown(inner)}: {need}", "start/")
            elif other is not None and other.check_id in known:
                check.after.append(other.check_id)
                ledger.converted(self._place(inner), f"{shown(inner)}: {need}", "lab.md")
            else:
                reason = _("no check of that name stands before this one")
                ledger.unmapped(self._place(inner), f"{shown(inner)}: {need}", reason)
        return check

    def _body(self, task: Task, key: str) -> Place:
        """Where the text of a script begins: below its key, since nearly all are blocks."""
        return Place(self.file, self.matter.line((*task.pointer, key)) + 1)

    def _prelude(self, task: Task, *, cell: bool) -> str:
        """Shell that sets what the platform would: variables, answers of the learner."""
        lines = []
        for number, one in enumerate(task.env):
            pointer = (*task.pointer, "env", number)
            match = _VARIABLE.match(one)
            if match is None:
                self.lab.ledger.unmapped(self._place(pointer), one[:60], _("is not NAME=value"))
                continue
            value = self._value(match["value"], task, pointer, cell=cell)
            if value is not None:
                lines.append(f"export {match['name']}={value}")
        if cell and (file := self.inputs.get(task.name)) and (there := self.destinations.get(task.name)):
            lines.append(f"mkdir -p {_quoted(there.rpartition('/')[0] or '/')} 2>/dev/null")
            lines.append(f"cp -- {_quoted(file)} {_quoted(there)} 2>/dev/null")
        return "\n".join(lines) + "\n" if lines else ""

    def _value(self, value: str, task: Task, pointer: Pointer, *, cell: bool) -> str | None:
        ledger, place = self.lab.ledger, self._place(pointer)
        template = _TEMPLATE.search(value)
        if template is None:
            ledger.converted(place, shown(pointer), "scripts/" if cell else "start/")
            return _quoted(value)
        needed = _NEEDED.match(template["what"])
        other = self.tasks.get(needed["task"]) if needed else None
        if other is not None and other.kind == "regular" and cell and needed and needed["stream"] == "stdout":
            reason = _("the script of {task} runs once more for what it says").format(task=other.name)
            ledger.approximated(place, value[:60], "scripts/", reason)
            return f'"$(bash "$BATCHLAB_SCRIPTS/{other.check_id}.sh" 2>/dev/null)"'
        if template["what"] == "input" and cell:
            ledger.converted(place, value[:60], "scripts/")
            return f'"$(cat {_quoted(self.inputs.get(task.name, "answer.txt"))} 2>/dev/null)"'
        reason = _("what {what} stands for is not kept: the variable is not set").format(what=template[0][:40])
        ledger.unmapped(place, value[:60], reason)
        return None

    def _filled(self, task: Task, key: str, text: str) -> str:
        """A script in which shell finds out what the platform's templates `x(…)` stand for: what the learner wrote into
        the task's file, what the script of another task says."""

        def value(match: re.Match[str]) -> str:
            quote, template = match["quote"] or "", match["template"]
            place = self._body(task, key).down(text[: match.start()].count("\n"))
            needed = _NEEDED.match(template)
            other = self.tasks.get(needed["task"]) if needed else None
            file = self.inputs.get(task.name)
            if template == "input" and file is not None:
                reason = _("the learner writes the answer into {file}").format(file=file)
                shell = f"$(cat {_quoted(file)} 2>/dev/null)"
            elif other is not None and needed and needed["stream"] == "stdout" and other.kind == "regular":
                reason = _("the script of {task} runs once more for what it says").format(task=other.name)
                shell = f'$(bash "$BATCHLAB_SCRIPTS/{other.check_id}.sh" 2>/dev/null)'
            else:
                self.lab.ledger.unmapped(place, match[0][:60], _("the platform's templates are not filled in"))
                return match[0]
            self.lab.ledger.approximated(place, f"x(.{template})"[:60], "scripts/", reason)
            # Between single quotes shell would find out nothing.
            return f'"{shell}"' if quote else shell

        return _INLINE.sub(value, text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
