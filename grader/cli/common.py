"""What several commands share: which lab is meant, and how a result is written.

Owns the choice of the default lab and the JSON envelope; knows nothing of any one command.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from cluster.errors import EnvironmentProblem, Problem, UsageProblem
from cluster.i18n import _, language
from grader.cli.commands import no_lab, no_such
from grader.session.examiner_client import answers, converse
from grader.session.here import examination
from grader.session.places import examiner_socket, session_home, session_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pydantic import BaseModel

    from grader.lab.model import Lab, Step
    from grader.progress import Attempt, LabRecord


def note(sentence: str) -> None:
    """Tell the person something that is no result."""
    print(f"grader: {sentence}", file=sys.stderr)


def print_document(model: type[BaseModel], content: Mapping[str, Any]) -> None:
    """A result for programs: `content` as the document that `model` describes."""
    sys.stdout.write(
        model.model_validate(content, by_name=True, by_alias=True).model_dump_json(by_alias=True, indent=2)
    )
    sys.stdout.write("\n")


def print_markdown(text: str) -> None:
    """Markdown laid out on a terminal; elsewhere as it is, to be read by another program."""
    if not sys.stdout.isatty():
        click.echo(text)
        return
    from grader.report.layout import colours, width_of
    from grader.report.page import draw

    drawn = draw(text, width=width_of(sys.stdout), colour=colours(sys.stdout), whole_code=True)
    click.echo(drawn, nl=False)


def read_lab(lab_id: str) -> Lab:
    """The lab in the language in force, with the values of its session; UsageProblem where there is none, or its
    files are wrong."""
    from grader.lab.catalogue import load_lab
    from grader.session.values import values_of

    return load_lab(lab_id, language(), values_of(lab_id))


def step_of(lab: Lab, word: str) -> Step:
    """The step of that number or id; UsageProblem with a near name where there is none."""
    for step in lab.steps:
        if word in (str(step.number), step.id):
            return step
    known = [step.id for step in lab.steps]
    raise no_such(_("{lab} has no step '{{word}}'").format(lab=lab.id), word, known)


def homes() -> list[Path]:
    """The session folders that can be seen from here: all of the learner's, or the one that is examined."""
    here = examination()
    return [here.home] if here else [session_home(lab) for lab in session_ids()]


def books() -> dict[str, LabRecord]:
    """What is remembered of each lab. Each session keeps its own book, because the sandbox, from which most
    checks are run, shares nothing with the host but the session folder."""
    from grader.progress import read_book

    return {lab: record for home in homes() for lab, record in read_book(home).items()}


def reading_folder() -> Path:
    """Where it is noted which articles are read: beside the sessions, or, as `books`, in the one that is examined."""
    from cluster.paths import state_dir

    here = examination()
    return here.home if here else state_dir()


def articles_read() -> set[str]:
    """Ids of the articles that were read, on the host or in the shell of a lab."""
    from grader.progress.reading import read_articles

    return {article for folder in {reading_folder(), *homes()} for article in read_articles(folder)}


def all_attempts() -> list[Attempt]:
    """Every attempt that is still kept, oldest first."""
    from grader.progress import read_attempts

    return sorted((one for home in homes() for one in read_attempts(home)), key=lambda one: one.at)


def which_lab(given: str | None, runs: Callable[[str], bool] | None = None) -> str:
    """The lab that is meant: the one given, this session's, or the only one that runs.

    `runs` says of a session's lab whether it does; by default, whether its examiner answers.
    """
    here = examination()
    if here is not None:
        if given not in (None, here.lab):
            raise UsageProblem(
                _("this is the shell of {lab}; {given} is not reachable from here").format(lab=here.lab, given=given),
                _("leave the shell first (exit)"),
            )
        return here.lab
    if given is not None:
        return given
    running = [lab for lab in session_ids() if (runs or _examiner_answers)(lab)]
    if len(running) == 1:
        return running[0]
    if running:
        raise UsageProblem(_("several labs run: {labs}").format(labs=", ".join(running)), _("say which one you mean"))
    raise UsageProblem(_("no lab runs"), _("`grader list` shows the labs, `grader start LAB` starts one"))


def ask_examiner(lab: str) -> int:
    """Have this very command line run by the examiner of `lab`, on our terminal; its exit code."""
    argv = ["--lang", language(), *click.get_current_context().find_root().obj]
    home = session_home(lab)
    try:
        return converse(examiner_socket(home), argv)
    except EnvironmentProblem as silence:
        raise why_silent(lab, home, silence) from silence


def why_silent(lab: str, home: Path, silence: Problem) -> Problem:
    """What is really the matter when a lab's examiner does not answer, and what to do."""
    if not home.is_dir():
        from grader.lab.catalogue import every_lab_id

        if lab not in every_lab_id():
            return no_lab(lab)
    from cluster import local

    start = f"grader start {lab}"
    match local.status(home).state:
        case "stopped":
            return EnvironmentProblem(
                _("{lab} is not running").format(lab=lab), _("start it: {command}").format(command=start)
            )
        case "starting":
            return EnvironmentProblem(
                _("{lab} is still being started").format(lab=lab), _("try again when it is ready")
            )
        case "dead":
            return EnvironmentProblem(
                _("the processes of {lab} died").format(lab=lab),
                _("repair it: {command}").format(command=start),
            )
    return silence


def _examiner_answers(lab: str) -> bool:
    return answers(examiner_socket(session_home(lab)))
