"""What an author declares to be right although it looks like a defect: `exceptions.yaml`, each with its reason.

Owns what that file says and that it fits the lab; what is looked for is the business of those that look
(`grader.lab.needs`, `grader.author.told`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from cluster.i18n import _
from grader.lab.located import read_document
from grader.lab.problems import LabProblem, did_you_mean, read_source
from grader.lab.validate import validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.lab.located import Located

EXCEPTIONS_FILE = "exceptions.yaml"
_Text = Annotated[str, Field(min_length=1)]


class _Matter(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CommandException(_Matter):
    """A command of a solution that the lab's text need not mention."""

    step: _Text = Field(description="Id of the step whose solution uses it.")
    uses: _Text = Field(description="What is used, as the problem calls it: `kubectl get --raw`, `jq`.")
    because: _Text = Field(description="Why a learner does not need to be told, one sentence.")


class AnswerException(_Matter):
    """A right answer that may stand in the lab's text."""

    check: _Text = Field(description="Id of the check whose answer it is.")
    text: _Text = Field(description="The answer, as it stands in the text.")
    because: _Text = Field(description="Why it does not tell what the learner is to find out, one sentence.")


class ExceptionsMatter(_Matter):
    """What `exceptions.yaml` holds."""

    commands: tuple[CommandException, ...] = Field((), description="Commands that need not be mentioned.")
    answers: tuple[AnswerException, ...] = Field((), description="Answers that may stand in the text.")


@dataclass(frozen=True, slots=True)
class Exceptions:
    """What a lab declares; nothing where it has no such file, or where the file is wrong."""

    matter: ExceptionsMatter
    located: Located | None = None

    def problem(self, kind: str, index: int, message: str) -> LabProblem:
        """`message` at one of the exceptions; `kind` is the key of its list."""
        assert self.located is not None  # there is none without a file
        return self.located.problem((kind, index), message)


def read_exceptions(folder: Path, found: list[LabProblem]) -> Exceptions:
    """The exceptions of the lab in `folder`, and what is wrong with their file."""
    nothing = Exceptions(ExceptionsMatter())
    path = folder / EXCEPTIONS_FILE
    if not path.exists():
        return nothing
    source = read_source(path, found)
    located = None if source is None else read_document(source, found)
    if located is None:
        return nothing
    matter = validate(ExceptionsMatter, located.value, located, found)
    return nothing if matter is None else Exceptions(matter, located)


def compare_exceptions(exceptions: Exceptions, checks: Mapping[str, Sequence[str]]) -> Iterator[LabProblem]:
    """Exceptions for steps and checks that the lab does not have. `checks`: ids of checks by the id of their step."""
    known = [check for ids in checks.values() for check in ids]
    for index, command in enumerate(exceptions.matter.commands):
        if command.step not in checks:
            message = _("no step '{name}' in this lab").format(name=command.step)
            yield exceptions.problem("commands", index, message + did_you_mean(command.step, checks))
    for index, answer in enumerate(exceptions.matter.answers):
        if answer.check not in known:
            message = _("no check '{name}' in this lab").format(name=answer.check)
            yield exceptions.problem("answers", index, message + did_you_mean(answer.check, known))
