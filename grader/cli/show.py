"""`grader show`: a lab's text, without hints and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cluster.i18n import _
from grader.cli.commands import N_, Command, LabName, json_option
from grader.cli.common import print_document, print_markdown, read_lab, step_of, which_lab

if TYPE_CHECKING:
    from grader.lab.model import Lab, Step


@click.command(
    cls=Command,
    help=N_(
        "What LAB is about, and its steps; with STEP (number or id) the text of that step. "
        "When only one lab runs, and in its shell, LAB may be left out."
    ),
)
@click.argument("words", nargs=-1, metavar="[LAB] [STEP]", type=LabName())
@click.option("--all", "everything", is_flag=True, help=N_("The text of every step."))
@json_option()
def command(words: tuple[str, ...], everything: bool, as_json: bool) -> int:
    """Load the lab and print what was asked for, as the markdown it is written in."""
    lab, step = _chosen(words)
    steps = [step] if step else list(lab.steps)
    if as_json:
        from grader.cli.documents import ShowDocument

        print_document(ShowDocument, _content(lab, steps))
        return 0
    print_markdown(_overview(lab) if step is None and not everything else _texts(lab, steps, whole=step is None))
    return 0


def _overview(lab: Lab) -> str:
    steps = "\n".join(f"{step.number}. {step.title} (`{step.id}`)" for step in lab.steps)
    next_ = _("A step's text: `grader show {lab} STEP`").format(lab=lab.id)
    return f"{_head(lab)}\n\n{steps}\n\n{next_}"


def _texts(lab: Lab, steps: list[Step], *, whole: bool) -> str:
    parts = [_head(lab)] if whole else []
    for step in steps:
        title = f"## {step.number} {step.title} (`{step.id}`)"
        parts.append(f"{title}\n\n{step.body.strip()}\n\n{_promises(step)}")
    return "\n\n".join(parts)


def _head(lab: Lab) -> str:
    parts = [f"# {lab.title}", _facts(lab), *([_values(lab)] if lab.values else []), lab.intro.strip()]
    return "\n\n".join(parts)


def _chosen(words: tuple[str, ...]) -> tuple[Lab, Step | None]:
    """`LAB`, `LAB STEP`, or, for the lab that runs, nothing or `STEP`."""
    from cluster.errors import UsageProblem
    from grader.lab.catalogue import every_lab_id

    if len(words) > 2:
        raise UsageProblem(_("too many words: {words}").format(words=" ".join(words[2:])))
    step_only = len(words) == 1 and "/" not in words[0] and (words[0].isdigit() or not words[0].startswith("lab-"))
    if step_only and words[0] in every_lab_id():
        step_only = False
    lab = read_lab(which_lab(None if not words or step_only else words[0]))
    if step_only or len(words) == 2:
        return lab, step_of(lab, words[-1])
    return lab, None


def _facts(lab: Lab) -> str:
    facts = [lab.id, _("{minutes} min").format(minutes=lab.minutes)]
    if lab.after:
        facts.append(_("after {labs}").format(labs=", ".join(lab.after)))
    if lab.needs_root:
        facts.append(_("needs root"))
    return " · ".join(facts)


def _values(lab: Lab) -> str:
    """The learner's own values, or examples of them."""
    text = ", ".join(f"{name} `{value}`" for name, value in lab.values.items())
    if lab.examples:
        return _("For example {values}: yours are drawn when you start the lab.").format(values=text)
    return _("Your values: {values}").format(values=text)


def _promises(step: Step) -> str:
    """What is checked, in the words a verdict has for it."""
    lines = [_("Checked:"), "", *(f"- {check.says}" for check in step.checks)]
    if step.hints:
        lines += [
            "",
            _("Hints: {count}, one by one with `grader hint {step}`").format(count=len(step.hints), step=step.id),
        ]
    return "\n".join(lines)


def _content(lab: Lab, steps: list[Step]) -> dict[str, Any]:
    return {
        "id": lab.id,
        "title": lab.title,
        "language": lab.language,
        "minutes": lab.minutes,
        "after": lab.after,
        "needs_root": lab.needs_root,
        "namespace": lab.namespace,
        "workdir": lab.workdir,
        "values": lab.values,
        "examples": sorted(lab.examples),
        "intro": lab.intro,
        "steps": [
            {
                "number": step.number,
                "id": step.id,
                "title": step.title,
                "body": step.body,
                "checks": [{"id": check.id, "says": check.says} for check in step.checks],
                "hints": len(step.hints),
            }
            for step in steps
        ],
    }
