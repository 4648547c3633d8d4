"""What the host learns from inside a session's sandbox, as data.

Owns the asking for JSON and what becomes of it; the protocol is `grader.session.examiner_client`'s.
"""

from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING, Any, cast

from cluster.errors import EnvironmentProblem
from cluster.i18n import _, language
from grader.session.examiner_client import ask
from grader.session.places import examiner_socket

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def examined_json(home: Path, argv: Sequence[str]) -> dict[str, Any]:
    """What `grader <argv>` answers inside; its complaints go to our stderr.

    EnvironmentProblem where nobody answers or the answer is no JSON.
    """
    with tempfile.TemporaryFile() as output:
        ask(examiner_socket(home), ["--lang", language(), *argv], streams=(0, output.fileno(), 2))
        output.seek(0)
        try:
            return cast("dict[str, Any]", json.loads(output.read()))
        except ValueError as error:
            raise EnvironmentProblem(
                _("the lab's examiner gave no answer to: {command}").format(command=" ".join(argv))
            ) from error
