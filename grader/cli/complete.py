"""`grader complete`: let pods on fake nodes finish their work."""

from __future__ import annotations

import click

from grader.cli.commands import N_, Command, json_option, lab_option
from grader.cli.fault import tell_pods
from grader.cli.namespaces import namespace_option


@click.command(
    cls=Command,
    help=N_(
        "Let pods on fake nodes finish half a second from now, as if their containers had ended with exit code 0. "
        "With restartPolicy Always their first container is started again."
    ),
)
@click.argument("pods", nargs=-1, metavar="[POD...]")
@click.option("-l", "--selector", default="", metavar="SELECTOR", help=N_("Every pod with these labels, too."))
@namespace_option()
@lab_option()
@json_option()
def command(pods: tuple[str, ...], selector: str, namespace: str | None, lab: str | None, as_json: bool) -> int:
    """Annotate the pods; KWOK's stages do the rest."""
    return tell_pods(lab, namespace, pods, selector, "complete", as_json=as_json)
