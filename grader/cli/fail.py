"""`grader fail`: make pods on fake nodes fail."""

from __future__ import annotations

import click

from grader.cli.commands import N_, Command, json_option, lab_option
from grader.cli.fault import tell_pods
from grader.cli.namespaces import namespace_option


@click.command(
    cls=Command,
    help=N_(
        "Make pods on fake nodes fail half a second from now, as if their containers had ended with an error. "
        "With restartPolicy Never the pod is Failed; else its first container is started again."
    ),
)
@click.argument("pods", nargs=-1, metavar="[POD...]")
@click.option("-l", "--selector", default="", metavar="SELECTOR", help=N_("Every pod with these labels, too."))
@click.option("--exit-code", type=click.IntRange(1, 255), default=1, metavar="N", help=N_("1 to 255; 1 if not given."))
@namespace_option()
@lab_option()
@json_option()
def command(
    pods: tuple[str, ...],
    selector: str,
    exit_code: int,
    namespace: str | None,
    lab: str | None,
    as_json: bool,
) -> int:
    """Annotate the pods; KWOK's stages do the rest."""
    return tell_pods(lab, namespace, pods, selector, "fail", exit_code=exit_code, as_json=as_json)
