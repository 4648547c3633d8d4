"""`grader why`: why something waits, or is not what you think: the chain of objects, then the cause.

On the host this only finds the session and has its examiner run the same command, as `grader check` does.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import click

from cluster.errors import EnvironmentProblem
from cluster.i18n import _, language
from cluster.spec import ADDONS
from grader.cli.commands import N_, Command, complete, json_option, lab_argument, no_such
from grader.cli.common import ask_examiner, print_document, read_lab, which_lab
from grader.cli.namespaces import namespace_option, no_namespace
from grader.session.here import examination

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from cluster.errors import UsageProblem
    from grader.checks.world import World
    from grader.diagnosis import Cause, Diagnosis
    from grader.diagnosis.names import Target
    from grader.lab.model import Lab

_KINDS = ("job", "jobset", "lws", "pod", "workload", "localqueue", "clusterqueue")
_RECORDER_SECONDS = 1.0
"""How long the recorder may take to catch up: of the causes, only a forced deletion is read from its record."""
_PROGRAMS = ("kube-controller-manager", "kube-scheduler", *ADDONS, "kwok", "kubelet")
"""Programs without which things stand still."""


class ObjectName(click.ParamType[str]):
    """KIND/NAME; what it means is for the command to say."""

    name: ClassVar[str] = "object"  # type: ignore[misc]  # click declares it per instance

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The kinds that are asked about most."""
        del ctx, param
        return complete([f"{kind}/" for kind in _KINDS], incomplete)


@click.command(
    cls=Command,
    help=N_(
        "Why an object of a running lab waits, or is not what you think: the objects that decide about it with what "
        "they say, then the cause if it is a well-known one. KIND is job, jobset, lws, pod, workload, localqueue, "
        "clusterqueue, or any other that labs use. In a lab's shell, or when only one lab runs, LAB may be left out."
    ),
)
@click.argument("what", metavar="KIND/NAME", type=ObjectName())
@lab_argument()
@namespace_option()
@json_option()
def command(what: str, lab: str | None, namespace: str | None, as_json: bool) -> int:
    """Ask the examiner, or, inside it, find the cause and print it."""
    from grader.diagnosis.names import parse_target

    target = parse_target(what)
    here = examination()
    if here is None:
        return ask_examiner(which_lab(lab))
    chosen = read_lab(which_lab(lab))
    found = _diagnose(here.home, chosen, target, namespace or chosen.namespace)
    if as_json:
        from grader.diagnosis.document import WhyDocument

        print_document(WhyDocument, {"lab": chosen.id, "language": language(), **_content(found)})
        return 0
    from grader.report import colours, width_of
    from grader.report.why_text import render_why

    sys.stdout.write(render_why(found, width=width_of(sys.stdout), colour=colours(sys.stdout)))
    return 0


def _diagnose(home: Path, lab: Lab, target: Target, namespace: str) -> Diagnosis:
    from grader.check_session import connect
    from grader.diagnosis import diagnose
    from grader.history.synced import wait_synced
    from grader.session.places import recorder_socket

    wait_synced(recorder_socket(home), _RECORDER_SECONDS)
    with connect(home, lab) as look:
        world = look()
        _refuse_namespace(world, namespace)
        found = diagnose(world, target.kind, target.name, namespace)
        if found is None:
            raise _no_such_object(world, target, namespace, _resting(home))
    if found.healthy or found.cause is not None:
        return found
    # Nothing else explains it: then a program that does not run may.
    resting = _resting(home)
    return replace(found, cause=_not_running(resting)) if resting else found


def _refuse_namespace(world: World, namespace: str) -> None:
    from grader.checks.objects import meta

    known = [str(meta(one).get("name", "")) for one in world.all("v1", "Namespace", None)]
    if namespace not in known:
        raise no_namespace(namespace, known)


def _no_such_object(world: World, target: Target, namespace: str, resting: list[str]) -> UsageProblem:
    """There is nothing of that name: where it is instead, what is nearly called so, or why nothing can be made."""
    from grader.checks.objects import CLUSTER_WIDE, KINDS, meta

    everywhere = [meta(obj) for obj in world.all(KINDS[target.kind], target.kind, None)]
    elsewhere = sorted(str(one.get("namespace") or "") for one in everywhere if one.get("name") == target.name)
    if elsewhere:
        advice = f"grader why {target.kind.lower()}/{target.name} -n {elsewhere[0]}"
    else:
        advice = _not_running(resting).says if resting else ""
    if target.kind in CLUSTER_WIDE:
        what = _("there is no {kind} '{{word}}'").format(kind=target.kind)
    else:
        what = _("there is no {kind} '{{word}}' in namespace {namespace}").format(kind=target.kind, namespace=namespace)
    here = [one for one in everywhere if target.kind in CLUSTER_WIDE or one.get("namespace") == namespace]
    return no_such(what, target.name, sorted(str(one.get("name", "")) for one in here), advice)


def _resting(home: Path) -> list[str]:
    """The programs of the lab's machine that should run and do not."""
    from cluster import local

    try:
        components = local.status(home).components
    except EnvironmentProblem:
        return []
    return [one.name for one in components if one.name in _PROGRAMS and one.state != "running"]


def _not_running(programs: list[str]) -> Cause:
    from grader.diagnosis import Cause, Fault

    return Cause(
        id="program-not-running",
        says=_("programs of this lab do not run just now: {names}; they are started again by themselves").format(
            names=", ".join(programs)
        ),
        look_at="grader status",
        fault=Fault.ENVIRONMENT,
    )


def _content(found: Diagnosis) -> dict[str, object]:
    from dataclasses import asdict

    return asdict(found)
