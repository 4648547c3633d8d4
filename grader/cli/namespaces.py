"""`-n NAMESPACE`, for commands that look at one namespace of a lab's cluster.

Owns the option, its completion, and the refusal of a namespace that is not there; knows no command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import click

from cluster.i18n import _
from grader.cli.commands import N_, complete, no_such

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from click.shell_completion import CompletionItem

    from cluster.errors import UsageProblem


class NamespaceName(click.ParamType[str]):
    """A namespace's name; whether the cluster has it is for the command to say."""

    name: ClassVar[str] = "namespace"  # type: ignore[misc]  # click declares it per instance

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Those of the cluster, in a lab's shell; outside it is not known which cluster is meant."""
        from cluster.api import Api
        from cluster.errors import Problem
        from cluster.machine import Layout
        from grader.session.here import examination

        del ctx, param
        here = examination()
        if here is None:
            return []
        try:
            found = Api.from_kubeconfig(Layout(here.home).kubeconfig).list("v1", "Namespace")
        except Problem:  # a message would stand in the middle of what is being typed
            return []
        return complete(sorted(str(one["metadata"]["name"]) for one in found), incomplete)


def namespace_option() -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`-n`, for commands that look at one namespace; without it, the lab's own."""
    return click.option(
        "-n",
        "--namespace",
        type=NamespaceName(),
        metavar="NAMESPACE",
        help=N_("Where to look, if not in the lab's own namespace."),
    )


def no_namespace(word: str, known: Iterable[str]) -> UsageProblem:
    """The refusal of a namespace that the cluster does not have."""
    return no_such(_("no namespace '{word}'"), word, sorted(known))
