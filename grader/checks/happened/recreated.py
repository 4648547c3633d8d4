"""`happened.recreated`: a group came back as one because a container of it exited, the others untouched."""

from typing import TYPE_CHECKING, Literal

from grader.checks.base import Name, ObjectRef, Path
from grader.checks.happened.forms import Account, Form

if TYPE_CHECKING:
    from grader.checks.world import World


class Recreated(Form):
    """The pods `of` selects, in groups; `group` is the one that was recreated."""

    of: ObjectRef
    group_by: Path
    group: Name
    because: Literal["container-exited"] = "container-exited"
    others: Literal["untouched", "any"] = "untouched"

    def kinds(self) -> frozenset[str]:
        return frozenset({self.of.canonical_kind})

    def account(self, world: "World") -> Account:
        raise NotImplementedError
