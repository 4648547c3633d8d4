"""The words of a lab: anchors that lead nowhere, code blocks without a language, languages that disagree.

Owns the rules of lint about prose; knows nothing of checks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.lab.problems import LabProblem, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.lab.markdown import Outline, Section

_TICKS = re.compile("`+")
# Possessive, and without a "(" in it: what does not match is given up at once, and not tried in another way.
_LINK = re.compile(r"\]\(#(?P<id>[^()\s]*+)[^()]*+\)")


def check_prose(outline: Outline) -> Iterator[LabProblem]:
    """What is wrong with the words of one file."""
    problem = outline.source.problem
    for line in outline.unnamed:
        yield problem(line, 1, _("a code block without a language: write ```text for plain text"))
    for section in outline.steps:
        if not section.body:
            yield problem(section.line, 1, _("a step without a word of prose"))
    if outline.matter is not None and not outline.intro.body:
        yield problem(1, 1, _("no introduction: say before the first step what the lab is about"))
    yield from _anchors(outline)


def _anchors(outline: Outline) -> Iterator[LabProblem]:
    ids = [section.id for section in outline.steps]
    start = len((outline.matter or "").split("\n")) + 2
    for number, line in enumerate(outline.source.text.split("\n"), start=1):
        if number < start or number in outline.code_lines:
            continue
        # Code spans keep their length, so that columns stay true.
        text = _without_code_spans(line)
        if "{#" in text and not line.startswith("## "):
            message = _("'{{#…}}' names a step in a '##' heading only: link to one with [text](#id)")
            yield outline.source.problem(number, text.index("{#") + 1, message.format())
        for link in _LINK.finditer(text):
            if link["id"] not in ids:
                message = _("no step '{id}' to link to").format(id=link["id"])
                message += did_you_mean(link["id"], ids)
                yield outline.source.problem(number, link.start("id") + 1, message)


def _without_code_spans(line: str) -> str:
    """`line` with blanks in place of what stands between as many backticks as it begins with."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(line)]
    places: dict[int, list[int]] = {}
    for at, (start, end) in enumerate(runs):
        places.setdefault(end - start, []).append(at)
    kept, position, at = [], 0, 0
    while at < len(runs):
        start, end = runs[at]
        alike = places[end - start]
        following = bisect_right(alike, at)
        if following < len(alike):
            at = alike[following]
            kept += [line[position:start], " " * (runs[at][1] - start)]
            position = runs[at][1]
        at += 1
    return "".join([*kept, line[position:]])


def compare_prose(outline: Outline, other: Outline) -> Iterator[LabProblem]:
    """Where the translation `other` differs from `outline` in more than words: hints, commands to run."""
    by_id = {section.id: section for section in outline.steps if section.id}
    for section in other.steps:
        if section.id not in by_id:
            continue
        original = by_id[section.id]
        if len(section.asides) != len(original.asides):
            message = _("hints of step '{id}': {count} here, {other} in lab.md")
            message = message.format(id=section.id, count=len(section.asides), other=len(original.asides))
            yield other.source.problem(section.line, 1, message)
        ours, theirs = _commands(section), _commands(original)
        if [command for _line, command in ours] != [command for _line, command in theirs]:
            line = next(
                (a[0] for a, b in zip(ours, [*theirs, None], strict=False) if b is None or a[1] != b[1]),
                section.line,
            )
            message = _("the blocks marked run of step '{id}' are not those of lab.md").format(id=section.id)
            yield other.source.problem(line, 1, message)


def _commands(section: Section) -> list[tuple[int, str]]:
    """(line, text) of each block that can be run; comments are prose and may be translated."""
    return [
        (block.line, "\n".join(line for line in block.text.split("\n") if not line.lstrip().startswith("#")))
        for block in section.blocks
        if block.runs
    ]
