"""What `grader fail` and `grader complete` share: which pods, told what, said how."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.cli.common import ask_examiner, print_document, read_lab, which_lab
from grader.cli.namespaces import no_namespace
from grader.session.here import examination

if TYPE_CHECKING:
    from cluster.api import Api
    from grader.fault import Fault, Steered


def tell_pods(
    lab: str | None,
    namespace: str | None,
    names: tuple[str, ...],
    selector: str,
    fault: Fault,
    *,
    exit_code: int = 1,
    as_json: bool,
) -> int:
    """Ask the examiner, or, inside it, annotate the pods as the learner. `namespace`: the lab's own if None."""
    from cluster.api import Api
    from cluster.machine import Layout
    from grader.fault import find_pods, steer

    if not names and not selector:
        raise UsageProblem(_("say which pods: pod/NAME, or -l with a label selector"))
    here = examination()
    if here is None:
        return ask_examiner(which_lab(lab))
    chosen = read_lab(which_lab(lab))
    api = Api.from_kubeconfig(Layout(here.home).kubeconfig)
    if namespace is not None:
        _refuse_namespace(api, namespace)
    pods = find_pods(api, namespace or chosen.namespace, names, selector)
    steered = steer(api, pods, fault, exit_code)
    if as_json:
        from grader.cli.documents import FaultDocument

        told = [{"pod": one.pod, "becomes": one.becomes, "exit_code": one.exit_code} for one in steered]
        print_document(FaultDocument, {"lab": chosen.id, "pods": told})
    else:
        for one in steered:
            click.echo(_sentence(one))
    return 0


def _refuse_namespace(api: Api, namespace: str) -> None:
    known = [str(one["metadata"]["name"]) for one in api.list("v1", "Namespace")]
    if namespace not in known:
        raise no_namespace(namespace, known)


def _sentence(one: Steered) -> str:
    if one.becomes == "Restarted":
        return _("pod {pod}: its first container ends with exit code {code} and is started again").format(
            pod=one.pod, code=one.exit_code
        )
    return _("pod {pod}: its containers end with exit code {code}; the pod is {phase}").format(
        pod=one.pod, code=one.exit_code, phase=one.becomes
    )
