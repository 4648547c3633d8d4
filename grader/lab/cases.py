"""Wrong answers that a named check must catch: `wrong/<name>/`.

Owns what `case.yaml` says and that it fits the lab; runs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from cluster.i18n import _
from grader.lab.located import read_document
from grader.lab.markdown import ID
from grader.lab.problems import LabProblem, did_you_mean, read_source
from grader.lab.scripts import entries, read_script
from grader.lab.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.lab.located import Located

CASE_FILE, ANSWER_FILE = "case.yaml", "answer.sh"


class CaseMatter(BaseModel):
    """What `case.yaml` holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fails: Annotated[str, Field(min_length=1)] = Field(description="Id of the check that must fail.")
    says: Annotated[str, Field(min_length=1)] = Field(description="What is wrong with the answer, one sentence.")
    on: Literal["solved", "fresh"] = Field(description="What the wrong answer is tried on.")
    plays: tuple[str, ...] = Field((), description="Steps solved before it; only with `on: fresh`.")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongCase:
    """One wrong answer: after `script`, the check `fails` must fail, and `says` tells why.

    `on` solved: all steps are solved, the script changes files of the work folder only, which are put back.
    `on` fresh: the lab was reset and the steps `plays` solved; the script does the check's step wrong.
    """

    name: str
    fails: str
    says: str
    on: Literal["solved", "fresh"]
    plays: tuple[str, ...]
    script: Path


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """A case as it was written: `case` is None where anything in it is wrong."""

    located: Located
    case: WrongCase | None


def load_cases(folder: Path) -> tuple[list[WrongCase], list[LabProblem]]:
    """The wrong answers of the lab in `folder`, by name, and what is wrong with their files."""
    found: list[LabProblem] = []
    return [draft.case for draft in read_cases(folder, found) if draft.case is not None], found


def read_cases(folder: Path, found: list[LabProblem]) -> list[CaseDraft]:
    """The cases whose `case.yaml` is a mapping, with their places."""
    wrong = folder / "wrong"
    drafts = []
    for entry in entries(wrong, found):
        if not entry.is_dir():
            message = _("a wrong answer is a folder with {case} and {answer}")
            message = message.format(case=CASE_FILE, answer=ANSWER_FILE)
            found.append(LabProblem(str(entry), 1, 1, message))
            continue
        if not ID.match(entry.name):
            message = _("use lower-case letters, digits and single hyphens for the name of a wrong answer")
            found.append(LabProblem(str(entry), 1, 1, message))
        draft = _case(entry, found)
        found += _strangers(entry)
        if draft is not None:
            drafts.append(draft)
    return drafts


def _case(folder: Path, found: list[LabProblem]) -> CaseDraft | None:
    read_script(folder / ANSWER_FILE, found)
    source = read_source(folder / CASE_FILE, found)
    located = None if source is None else read_document(source, found)
    if located is None:
        return None
    before = len(found)
    matter = validate(CaseMatter, located.value, located, found)
    if not isinstance(located.value, dict):
        return None
    if located.value.get("on") == "solved" and located.value.get("plays"):
        message = _("'plays' goes with 'on: fresh' only: 'solved' means that every step is solved")
        found.append(located.problem(("plays",), message, key=True))
    if matter is None or len(found) > before:
        return CaseDraft(located, None)
    case = WrongCase(
        name=folder.name,
        fails=matter.fails,
        says=matter.says,
        on=matter.on,
        plays=matter.plays,
        script=folder / ANSWER_FILE,
    )
    return CaseDraft(located, case)


def _strangers(folder: Path) -> Iterator[LabProblem]:
    """Files that nothing reads: a misspelt `case.yml` would otherwise only be called missing."""
    for path in sorted(folder.iterdir()):
        if path.suffix in (".yml", ".sh", ".yaml") and path.name not in (CASE_FILE, ANSWER_FILE):
            message = _("'{name}' is not read").format(name=path.name)
            yield LabProblem(str(path), 1, 1, message + did_you_mean(path.name, (CASE_FILE, ANSWER_FILE)))


def compare_cases(drafts: Sequence[CaseDraft], checks: Mapping[str, Sequence[str]]) -> Iterator[LabProblem]:
    """What the cases say that the lab does not know. `checks`: ids of checks by the id of their step."""
    step_of = {check: step for step, ids in checks.items() for check in ids}
    for draft in drafts:
        located, fails, plays = (
            draft.located,
            draft.located.value.get("fails"),
            draft.located.value.get("plays"),
        )
        if isinstance(fails, str) and fails not in step_of:
            message = _("no check '{name}' in this lab").format(name=fails)
            yield located.problem(("fails",), message + did_you_mean(fails, step_of))
        steps = plays if isinstance(plays, list) else []
        for index, step in enumerate(steps):
            if not isinstance(step, str):
                continue  # told already
            if step not in checks:
                message = _("no step '{name}' in this lab").format(name=step) + did_you_mean(step, checks)
            elif isinstance(fails, str) and step == step_of.get(fails):
                message = _("'{name}' is the step that is answered wrong: it can't be solved before")
                message = message.format(name=step)
            elif step in steps[:index]:
                message = _("step '{name}' again").format(name=step)
            else:
                continue
            yield located.problem(("plays", index), message)
