"""`python`: a function in the lab's own checks.py, for what no other kind can say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from grader.checks.base import CheckKind

if TYPE_CHECKING:
    from grader.checks.world import World
    from grader.results import Verdict


class Python(CheckKind):
    """`function(world, **arguments) -> Verdict` of `labs/<id>/checks.py`."""

    name: ClassVar[str] = "python"

    function: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    arguments: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], Any] = {}

    @property
    def uses_history(self) -> bool:
        return True

    def evaluate(self, world: World) -> Verdict:
        raise NotImplementedError
