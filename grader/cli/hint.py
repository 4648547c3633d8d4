"""`grader hint`: one more hint for a step, never the solution."""

from __future__ import annotations

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command
from grader.cli.common import note, print_document, print_markdown, read_lab, step_of, which_lab


@click.command(
    cls=Command,
    help=N_(
        "One more hint for STEP (its number or id), and how many are left. "
        "In a lab's shell, or when only one lab runs, LAB may be left out."
    ),
)
@click.argument("words", nargs=-1, metavar="[LAB] STEP")
@click.option("--all", "everything", is_flag=True, help=N_("Every hint of the step."))
@click.option("--json", "as_json", is_flag=True, help=N_("The result as one JSON document."))
def command(words: tuple[str, ...], everything: bool, as_json: bool) -> int:
    """Show hints and remember how many were shown."""
    from grader.session.hints import show_more
    from grader.session.places import session_home

    if len(words) not in (1, 2):
        raise UsageProblem(_("say which step, for example: grader hint lab-lws 3"))
    lab = read_lab(which_lab(words[0] if len(words) == 2 else None))
    step = step_of(lab, words[-1])
    home = session_home(lab.id)
    shown = show_more(lab, step, home, everything=everything, on_note=note)
    left = len(step.hints) - shown
    if as_json:
        from grader.cli.documents import HintDocument

        hints = [hint.text for hint in step.hints[:shown]]
        print_document(HintDocument, {"lab": lab.id, "step": step.id, "hints": hints, "left": left})
        return 0
    if not step.hints:
        click.echo(_("step {number} ({id}) has no hints").format(number=step.number, id=step.id))
        return 0
    # Every hint read so far, so that the newest makes sense without scrolling back.
    for number, hint in enumerate(step.hints[:shown], start=1):
        click.echo(_("hint {number} of {total}").format(number=number, total=len(step.hints)))
        print_markdown(hint.text.strip("\n"))
        click.echo()
    click.echo(_("no more hints") if not left else _("{count} more: ask again").format(count=left))
    return 0
