"""The text of a lab as one session reads it: its prose and code blocks with that session's values.

Owns which values fill a reading, what prose says where they are examples, and the mistakes authors make with them.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from cluster.i18n import _
from grader.lab.filling import Filler, Misfit, fill_leaves, misplaced, place_of
from grader.lab.problems import LabProblem, did_you_mean, read_source
from grader.lab.values import ValueMatter, example, fits, variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from grader.lab.located import Located
    from grader.lab.located import Path as ValuePath
    from grader.lab.markdown import Outline, Section
    from grader.lab.values import Value

_VARIABLE = re.compile(r"\$\{?(?P<name>VALUES_[A-Za-z0-9_]*)")
_ANY_MATTER = ValueMatter(one_of=(1, 2))
"""Stands for a declaration that is wrong itself: nothing else shall be complained of for it."""


def declared_in(written: Located | None) -> dict[str, ValueMatter]:
    """The values that a front matter declares, as far as it can be read."""
    value = None if written is None else written.value.get("values")
    return {name: _matter(one) for name, one in value.items()} if isinstance(value, dict) else {}


def _matter(written: Any) -> ValueMatter:
    try:
        return ValueMatter.model_validate(written)
    except ValidationError:
        return _ANY_MATTER


def filler_of(
    declared: Mapping[str, ValueMatter], values: Mapping[str, Value] | None
) -> tuple[Filler | None, frozenset[str]]:
    """What fills the texts of a lab, and the names of those values that nobody has drawn."""
    if not declared:
        return None, frozenset()
    drawn = {name: value for name, value in (values or {}).items() if name in declared and fits(declared[name], value)}
    return Filler({**example(declared), **drawn}), frozenset(declared.keys() - drawn.keys())


def filled_section(section: Section, filler: Filler, examples: frozenset[str]) -> Section:
    """The section with values in it; where one is an example its text says so, for nothing else could."""
    before = set(filler.used)
    filler.used.clear()
    body = filler.prose(section.body)
    shown = sorted(filler.used & examples)
    if shown:
        message = _("{values}: an example. Yours are drawn when you start the lab.")
        values = ", ".join(f"`{filler.values[name]}` ({name})" for name in shown)
        body = f"> {message.format(values=values)}\n\n{body}"
    filled = replace(
        section,
        title=filler.prose(section.title),
        body=body,
        blocks=[replace(block, text=filler.prose(block.text)) for block in section.blocks],
        asides=[replace(aside, text=filler.prose(aside.text)) for aside in section.asides],
    )
    filler.used |= before
    return filled


# -- mistakes ---------------------------------------------------------------------------------------------


def wrong_prose(outline: Outline, filler: Filler) -> Iterator[LabProblem]:
    """Where the words of a file speak of a value that can't be filled in, line by line."""
    source = outline.source
    for number, line in _prose_lines(outline):
        try:
            filler.prose(line)
        except Misfit as misfit:
            yield place_of(source.text, number, 1, misfit, str(source.path))


def _prose_lines(outline: Outline) -> Iterator[tuple[int, str]]:
    """The lines of a file behind its front matter, without those of check blocks."""
    first = len((outline.matter or "").split("\n")) + 2
    checks = {
        line
        for section in (outline.intro, *outline.steps)
        for block in section.checks
        for line in range(block.first_line - 1, block.first_line + block.text.count("\n") + 1)
    }
    for number, line in enumerate(outline.source.text.split("\n"), start=1):
        if number >= first and number not in checks:
            yield number, line


def wrong_matter(written: Located) -> Iterator[LabProblem]:
    """Values in the front matter, which says what is the same for every learner."""
    wrong: list[tuple[ValuePath, Misfit]] = []
    rest = {key: value for key, value in written.value.items() if key != "values"}
    fill_leaves(rest, _refused, wrong)
    yield from misplaced(written, wrong)


def _refused(text: str) -> str:
    if re.search(r"\{\{[^\n]*\bvalues\b", text):
        raise Misfit(_("the front matter can't hold a value: it is the same for every learner"), text)
    return text


def unused(written: Located, used: Iterable[str]) -> Iterator[LabProblem]:
    """Values that are declared and stand nowhere."""
    for name in declared_in(written).keys() - set(used):
        message = _("nothing uses the value '{name}'").format(name=name)
        yield written.problem(("values", name), message, key=True)


def wrong_scripts(scripts: Iterable[Path], names: Iterable[str], used: set[str]) -> Iterator[LabProblem]:
    """Variables `VALUES_…` of scripts that no value stands behind; those that one does are added to `used`."""
    known = {variable(name): name for name in names}
    for script in scripts:
        source = read_source(script, [])  # what is wrong with the file itself is told by who reads it
        for number, line in enumerate(source.text.split("\n") if source is not None else (), start=1):
            for found in _VARIABLE.finditer(line):
                if found["name"] in known:
                    used.add(known[found["name"]])
                    continue
                message = _("no value stands behind ${name}").format(name=found["name"])
                message += did_you_mean(found["name"], known)
                yield LabProblem(str(script), number, found.start() + 1, message)


def untranslated(outline: Outline, other: Outline, filler: Filler) -> Iterator[LabProblem]:
    """Steps in which the translation `other` leaves out a value that `outline` tells the learner."""

    def told_in(section: Section) -> set[str]:
        texts = [section.title, section.body, *(aside.text for aside in section.asides)]
        return _used(filler, texts)

    sections = {section.id: section for section in other.steps}
    pairs = [(outline.intro, other.intro)]
    pairs += [(section, sections[section.id]) for section in outline.steps if section.id in sections]
    for ours, theirs in pairs:
        for name in sorted(told_in(ours) - told_in(theirs)):
            message = _("step '{id}' says nothing of the value '{name}', as lab.md does")
            if ours.is_intro:
                message = _("the introduction says nothing of the value '{name}', as lab.md does")
            yield other.source.problem(theirs.line, 1, message.format(id=ours.id, name=name))


def _used(filler: Filler, texts: Iterable[str]) -> set[str]:
    alone = Filler(filler.values)
    for text in texts:
        with suppress(Misfit):  # told where it stands
            alone.prose(text)
    return alone.used
