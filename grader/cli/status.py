"""`grader status`: what runs, how it is, and how far the learner is."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.cli.commands import N_, Command, json_option, lab_argument, no_lab
from grader.cli.common import note, print_document
from grader.session.here import examination

if TYPE_CHECKING:
    from cluster.machine import ComponentStatus
    from grader.session.lifecycle import SessionState


@click.command(
    cls=Command,
    help=N_(
        "What runs: your sessions; with LAB, in its shell, or when there is only one, also its components "
        "with their restarts, its nodes, and the steps that passed."
    ),
)
@lab_argument()
@json_option()
def command(lab: str | None, as_json: bool) -> int:
    """Ask for the states of the sessions that are meant, and print them."""
    sessions = _chosen(lab)
    contents = [_content(session, detailed=len(sessions) == 1) for session in sessions]
    if as_json:
        from grader.cli.documents import StatusDocument

        print_document(StatusDocument, {"sessions": contents})
    elif not contents:
        click.echo(_("no lab was started yet; `grader list` shows the labs"))
    elif len(contents) == 1:
        click.echo(_page(contents[0]), nl=False)
    else:
        click.echo("\n".join(_line(content) for content in contents))
    return 0


def _chosen(lab: str | None) -> list[SessionState]:
    from grader.session.lifecycle import session_state, session_states
    from grader.session.places import session_ids

    here = examination()
    if here:
        return [session_state(here.lab, note, home=here.home)]
    if lab is None:
        return session_states(note)
    if lab in session_ids():
        return [session_state(lab, note)]
    from grader.lab.catalogue import every_lab_id

    if lab not in every_lab_id():
        raise no_lab(lab)
    note(_("{lab} was never started").format(lab=lab))
    return []


def _content(state: SessionState, *, detailed: bool) -> dict[str, Any]:
    machine = state.machine
    return {
        "lab": state.lab,
        "state": machine.state,
        "since": machine.since or None,
        "pid": machine.pid or None,
        "folder": str(state.home),
        "work": str(state.home / "work"),
        "progress": _progress(state),
        "notes": machine.notes,
        "components": [_component(component) for component in machine.components],
        # One question to each cluster takes a while: only where it is the one that is meant.
        "nodes": _nodes(state) if detailed and machine.state == "running" else None,
    }


def _component(component: ComponentStatus) -> dict[str, Any]:
    return {
        "name": component.name,
        "state": component.state,
        "pid": component.pid or None,
        "restarts": component.restarts,
        "since": component.since,
        "note": component.note,
    }


def _progress(state: SessionState) -> dict[str, int] | None:
    """Steps passed of all; None where the lab was not checked yet."""
    from grader.progress import read_book

    try:
        record = read_book(state.home).get(state.lab)
    except EnvironmentProblem as problem:
        note(problem.message)
        return None
    return {"passed": len(record.steps), "total": record.total} if record and record.total else None


def _nodes(state: SessionState) -> list[dict[str, Any]] | None:
    """The cluster's nodes; None where they can't be asked for. Only the sandbox reaches the cluster."""
    if examination():
        from cluster.api import Api
        from cluster.machine import Layout

        try:
            api = Api.from_kubeconfig(Layout(state.home).grader_kubeconfig, timeout=3.0)
            return [_node(node) for node in api.list("v1", "Node")]
        except EnvironmentProblem as problem:
            note(problem.message)
            return None
    from grader.session.examined import examined_json

    try:
        answer = examined_json(state.home, ["status", "--json"])
        nodes = answer["sessions"][0]["nodes"]
    except EnvironmentProblem as problem:
        note(problem.message)
        return None
    return list(nodes) if nodes is not None else None


def _node(node: dict[str, Any]) -> dict[str, Any]:
    conditions = node.get("status", {}).get("conditions", [])
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    return {
        "name": node["metadata"]["name"],
        "ready": ready,
        "real": node["metadata"].get("labels", {}).get("type") != "kwok",
        "gpus": int(node.get("status", {}).get("allocatable", {}).get("nvidia.com/gpu", "0")),
    }


# -- for people ---------------------------------------------------------------------------------------


def _line(content: dict[str, Any]) -> str:
    from grader.report.layout import pad

    progress = content["progress"]
    steps = _("{passed} of {total} steps").format(**progress) if progress else ""
    return f"{pad(content['lab'], 20)}  {pad(_state(content), 24)}  {steps}".rstrip()


def _state(content: dict[str, Any]) -> str:
    since = content["since"]
    match content["state"]:
        case "running":
            age = _("since {time}").format(time=time.strftime("%H:%M", time.localtime(since))) if since else ""
            return _("running {since}").format(since=age).strip()
        case "starting":
            return _("being started")
        case "dead":
            return _("died; start it again to repair it")
    return _("stopped")


def _page(content: dict[str, Any]) -> str:
    from grader.report.layout import cut, width_of

    width = width_of(sys.stdout)
    lines = [_line(content), f"  {_('your files')}  {content['work']}"]
    if nodes := content["nodes"]:
        lines += ["", _("nodes"), *(f"  {_node_line(node)}" for node in nodes)]
    if components := content["components"]:
        names = max(len(component["name"]) for component in components)
        lines += ["", _("components")]
        lines += [f"  {_component_line(component, names)}" for component in components]
    if content["notes"]:
        lines += ["", _("what happened"), *(f"  {cut(text, width - 2)}" for text in content["notes"])]
    return "\n".join(lines) + "\n"


def _node_line(node: dict[str, Any]) -> str:
    from grader.report.layout import pad

    state = _("ready") if node["ready"] else _("not ready")
    kind = _("real") if node["real"] else _("fake")
    return f"{pad(node['name'], 20)}  {pad(state, 10)}  {pad(kind, 5)}  {node['gpus']} GPU"


def _component_line(component: dict[str, Any], names: int) -> str:
    from grader.report.layout import pad

    words = {
        "waiting": _("waiting"),
        "starting": _("starting"),
        "running": _("running"),
        "restarting": _("restarting"),
        "failed": _("failed"),
        "stopped": _("stopped"),
    }
    line = f"{pad(component['name'], names)}  {pad(words[component['state']], 10)}"
    if component["restarts"]:
        line += "  " + _("restarts: {count}").format(count=component["restarts"])
    if component["note"]:
        line += f"  ({component['note']})"
    return line.rstrip()
