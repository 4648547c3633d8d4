"""`answer`: a file of `key=value` lines whose values equal those rendered from live or past objects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from cluster.i18n import _
from grader.checks.base import CheckKind, WithRefs
from grader.checks.fields import FileName, Name, Template, names_problem
from grader.checks.moments import in_any_scene
from grader.checks.templates import names, render
from grader.checks.words import listed, shown
from grader.checks.work import FileTrouble, LearnerFile
from grader.results import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.checks.world import World


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key=value` line as it is meant: no spaces around, no quotes, no `export`."""

    key: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is off, and where."""

    where: str
    what: str


def read_entries(file: LearnerFile) -> tuple[list[Entry], list[Wrong]]:
    """The `key=value` lines of a file, and the lines that are none."""
    entries: list[Entry] = []
    wrong: list[Wrong] = []
    for line in file.lines:
        text = line.text.strip()
        if text.startswith("#"):
            continue
        key, found, value = text.partition("=")
        key = key.strip().removeprefix("export ").strip()
        if found and key:
            entries.append(Entry(key, _unquoted(value.strip()), line.number))
        else:
            what = _("line {line} is not key=value: {text}").format(line=line.number, text=shown(text))
            wrong.append(Wrong(file.place(line.number), what))
    return entries, wrong


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].strip()
    return value


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
        if bad := next((key for key in self.values if key != key.strip() or "=" in key or key.startswith("#")), ""):
            raise ValueError(_("{key} can't be a key of a key=value line").format(key=repr(bad)))
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
        return tuple(self.values.values())

    def evaluate(self, world: World) -> Verdict:
        wanted = _("{file} with {keys}").format(file=self.file, keys=listed(self.values, limit=8))
        try:
            file = world.work.read(self.file)
        except FileTrouble as trouble:
            return trouble.verdict(wanted)
        entries, wrong = read_entries(file)
        wrong += self._wrong_keys(file, entries)
        if wrong:
            return self._failed(wanted, wrong)
        judge = partial(self._judge, world, file, entries, wanted)
        return in_any_scene(self.refs, world, file.mtime, wanted, judge)

    def _wrong_keys(self, file: LearnerFile, entries: list[Entry]) -> list[Wrong]:
        """Keys that are missing, given twice, or not asked for."""
        wrong = []
        first: dict[str, Entry] = {}
        for entry in entries:
            place = file.place(entry.line)
            if entry.key not in self.values:
                if self.extra == "refuse":
                    what = _("line {line}: {key} is not asked for").format(line=entry.line, key=shown(entry.key))
                    wrong.append(Wrong(place, what))
            elif entry.key in first:
                what = _("line {line}: {key} again, after line {first}").format(
                    line=entry.line, key=entry.key, first=first[entry.key].line
                )
                wrong.append(Wrong(place, what))
            elif not entry.value:
                wrong.append(Wrong(place, _("line {line}: {key} is empty").format(line=entry.line, key=entry.key)))
            first.setdefault(entry.key, entry)
        missing = [key for key in self.values if key not in first]
        if missing:
            wrong.append(Wrong(self.file, _("no line for {keys}").format(keys=listed(missing))))
        return wrong

    def _judge(
        self, world: World, file: LearnerFile, entries: list[Entry], wanted: str, context: Mapping[str, Any]
    ) -> Verdict:
        given = {entry.key: entry for entry in entries}
        wrong = []
        for key, source in self.values.items():
            entry = given[key]
            expected = render(source, context).strip()
            if entry.value != expected:
                what = self._unlike(world, source, entry, bracketed=expected.startswith("<"))
                wrong.append(Wrong(file.place(entry.line), what))
        return self._failed(wanted, wrong) if wrong else Verdict(passed=True, evidence=(self.file,))

    def _unlike(self, world: World, source: str, entry: Entry, *, bracketed: bool) -> str:
        """In words. Objects are called as the check calls them, for the name of one may be the answer."""
        if re.fullmatch("<.*>", entry.value) and not bracketed:
            return _("line {line}: {value} stands for what belongs there; write that, without < and >").format(
                line=entry.line, value=shown(entry.value)
            )
        where = listed(self.refs[name].title(world.namespace) for name in sorted(names(source)) if name in self.refs)
        return _("line {line}: {key} is not what {objects} had, but {value}").format(
            line=entry.line, key=entry.key, objects=where or _("the cluster"), value=shown(entry.value)
        )

    def _failed(self, wanted: str, wrong: list[Wrong]) -> Verdict:
        few = wrong[:3]
        saw = "; ".join(each.what for each in few)
        where = tuple(dict.fromkeys(each.where for each in few))
        return Verdict(passed=False, finding=Finding(wanted=wanted, saw=saw, where=where), evidence=(self.file,))
