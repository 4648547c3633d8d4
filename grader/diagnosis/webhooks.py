"""A webhook that does not answer: then what should be created is not, and that is never the learner's fault.

Owns this cause; read from the events of whoever wanted to create something.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cluster.addons import ADDONS
from cluster.i18n import _
from grader.checks.objects import title
from grader.diagnosis.model import Cause, Fault
from grader.diagnosis.scene import Scene, command, said_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.checks.objects import Object

_FAILED = re.compile(r'failed calling webhook "(?P<name>[^"]+)"')
_PORT = re.compile(r"https://127\.0\.0\.1:(?P<port>\d+)/")
_RECENT = 900.0
"""Seconds: controllers that were refused try again less and less often."""


def not_answering(scene: Scene, objects: Iterable[Object]) -> Cause | None:
    """The webhook that keeps one of these objects, none of which has all its parts, from making them."""
    for obj in objects:
        refusals = scene.warnings(obj)
        if not refusals or scene.now - said_at(refusals[-1]) > _RECENT:
            continue
        message = str(refusals[-1].get("message", ""))
        if found := _FAILED.search(message):
            return _cause(obj, found["name"], message)
    return None


def _cause(obj: Object, webhook: str, message: str) -> Cause:
    port = _PORT.search(message)
    program = next((name for name, addon in ADDONS.items() if port and addon.webhook_port == int(port["port"])), "")
    says = _("the webhook {webhook} does not answer, so {object} can't make its parts; it is tried again by itself")
    if program:
        says = _(
            "the webhook {webhook} of {program} does not answer, so {object} can't make its parts; "
            "it is tried again by itself"
        )
    return Cause(
        id="webhook-not-answering",
        says=says.format(webhook=webhook, program=program, object=title(obj)),
        where=(title(obj),),
        look_at=command(obj, "describe"),
        fault=Fault.ENVIRONMENT,
    )
