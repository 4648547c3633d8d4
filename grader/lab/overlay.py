"""A lab in another language: `lab.<language>.md` laid over `lab.md`.

Owns that a translation has the same steps and checks and never repeats a rule; knows nothing of check kinds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from cluster.i18n import _
from grader.lab.checkblock import CheckDraft, read_items, validated
from grader.lab.frontmatter import TranslatedFrontMatter, read_translated_front_matter
from grader.lab.markdown import Outline, Section, read_outline
from grader.lab.problems import LabProblem, did_you_mean, read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from grader.lab.filling import Filler
    from grader.lab.model import Lab, Step


class CheckWords(BaseModel):
    """What a check block of a translation holds for each check."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(min_length=1)] = Field(description="The check's id, as in lab.md.")
    says: Annotated[str, Field(min_length=1)] = Field(description="The sentence a learner reads.")
    look_at: str = Field("", description="A command or field to look at; default: that of lab.md.")


@dataclass(frozen=True, slots=True)
class Translation:
    """A translation as it was read; what is wrong with it has been told."""

    outline: Outline
    matter: TranslatedFrontMatter | None
    words: dict[str, CheckWords]


def translation_file(folder: Path, lang: str) -> Path:
    """Where the translation of the lab in `folder` stands."""
    return folder / f"lab.{lang}.md"


def read_translation(
    folder: Path,
    lang: str,
    checks: Mapping[str, list[str]],
    found: list[LabProblem],
    filler: Filler | None = None,
) -> Translation | None:
    """The translation, with the values of `filler` in its checks' words; None where its file can't be read.

    `checks`: the ids of the checks of `lab.md` by the id of their step, both in order.
    """
    source = read_source(translation_file(folder, lang), found)
    if source is None:
        return None
    outline = read_outline(source, found)
    matter = None
    if outline.matter is not None:
        matter = read_translated_front_matter(source, outline.matter, folder.resolve().name, found)
        found += _compare_steps(outline, list(checks))
    words: dict[str, CheckWords] = {}
    for section in outline.steps:
        drafts = [draft for block in section.checks for draft in read_items(block, source, found, filler)]
        for draft in drafts:
            if (read := validated(draft, CheckWords, draft.value, found, draft.path)) is not None:
                words.setdefault(read.id, read)
        if section.id in checks:
            found += _compare_checks(outline, section, drafts, checks)
    return Translation(outline, matter, words)


def translated(lab: Lab, translation: Translation, lang: str, fill: Callable[[Section], Section]) -> Lab:
    """`lab` with the words of a translation in which nothing is wrong; `fill` puts values into its sections."""
    assert translation.matter is not None
    sections = {section.id: fill(section) for section in translation.outline.steps}
    return replace(
        lab,
        title=translation.matter.title,
        intro=fill(translation.outline.intro).body,
        steps=tuple(_translated_step(step, sections[step.id], translation.words) for step in lab.steps),
        language=lang,
    )


def _translated_step(step: Step, section: Section, words: Mapping[str, CheckWords]) -> Step:
    checks = []
    for check in step.checks:
        said = words[check.id]
        checks.append(check.model_copy(update={"says": said.says, "look_at": said.look_at or check.look_at}))
    return replace(
        step,
        title=section.title,
        body=section.body,
        blocks=tuple(section.blocks),
        checks=tuple(checks),
        hints=tuple(section.asides),
        line=section.line,
    )


def _compare_steps(outline: Outline, wanted: list[str]) -> Iterator[LabProblem]:
    problem = outline.source.problem
    ids = [section.id for section in outline.steps]
    for section in outline.steps:
        if section.id and section.id not in wanted:
            message = _("no step '{id}' in lab.md").format(id=section.id)
            yield problem(section.line, 1, message + did_you_mean(section.id, wanted))
    for step_id in wanted:
        if step_id not in ids:
            yield problem(1, 1, _("step '{id}' of lab.md is missing").format(id=step_id))
    if sorted(ids) == sorted(wanted):
        for section, step_id in zip(outline.steps, wanted, strict=True):
            if section.id != step_id:
                message = _("step '{id}' out of order: in lab.md '{wanted}' stands here")
                yield problem(section.line, 1, message.format(id=section.id, wanted=step_id))
                return


def _compare_checks(
    outline: Outline, section: Section, drafts: list[CheckDraft], checks: Mapping[str, list[str]]
) -> Iterator[LabProblem]:
    first: dict[str, int] = {}
    for draft in drafts:
        if not draft.id:
            continue
        if draft.id in first:
            message = _("check id '{id}' again (first on line {line})")
            yield draft.problem(("id",), message.format(id=draft.id, line=first[draft.id]))
        elif draft.id not in checks[section.id]:
            yield draft.problem(("id",), _misplaced(draft.id, section.id, checks))
        first.setdefault(draft.id, draft.line)
    for check_id in checks[section.id]:
        if check_id not in first:
            message = _("check '{id}' of lab.md has no words in this step").format(id=check_id)
            yield outline.source.problem(section.line, 1, message)


def _misplaced(check_id: str, step_id: str, checks: Mapping[str, list[str]]) -> str:
    for other, ids in checks.items():
        if check_id in ids:
            return _("check '{id}' belongs to step '{step}' in lab.md").format(id=check_id, step=other)
    message = _("no check '{id}' in step '{step}' of lab.md").format(id=check_id, step=step_id)
    return message + did_you_mean(check_id, checks[step_id])
