"""`grader why` for an object of the board, asked of the lab's examiner, which alone can see the whole cluster.

Owns the asking; what is found is laid out by `grader.report.why_text`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from grader.diagnosis.model import Cause, Diagnosis, Fault, Link
from grader.report.why_text import render_why
from grader.session.examined import examined_json

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from grader.board.model import Ref

WIDTH = 76


def why(home: Path, ref: Ref, namespace: str, width: int = WIDTH) -> str:
    """What decides about an object, and the cause. EnvironmentProblem where nobody can say."""
    place = ["-n", ref.namespace] if ref.namespace not in ("", namespace) else []
    said = examined_json(home, ["why", f"{ref.kind.lower()}/{ref.name}", *place, "--json"])
    return render_why(_diagnosis(said), width=width)


def _diagnosis(said: dict[str, Any]) -> Diagnosis:
    try:
        cause = said["cause"]
        return Diagnosis(
            of=said["of"],
            state=said["state"],
            healthy=said["healthy"],
            chain=tuple(Link(**link) for link in said["chain"]),
            cause=None
            if cause is None
            else Cause(**{**cause, "where": tuple(cause["where"]), "fault": Fault(cause["fault"])}),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise EnvironmentProblem(_("the lab's examiner is of another version than this program")) from error
