"""What is there instead of an object that is not: such a one in another namespace, or one of a name like it.

Owns this clause of a finding; knows nothing of what is being checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cluster.i18n import _
from grader.checks.objects import meta, title
from grader.checks.words import listed, near

if TYPE_CHECKING:
    from grader.checks.base import ObjectRef
    from grader.checks.world import World


def instead(world: World, ref: ObjectRef) -> str:
    """` (there is Job old/train)`, to follow a sentence that says that `ref` is not there; "" where nothing is near."""
    if not (ref.name or ref.selector or ref.owner):
        return ""
    place = ref.place(world.namespace)
    everywhere = world.all(ref.version, ref.canonical_kind, None)
    guess = listed(sorted(title(obj) for obj in everywhere if ref.means(obj)))
    if not guess and ref.name:
        here = [obj for obj in everywhere if place is None or meta(obj).get("namespace") == place]
        guess = near(ref.name, [str(meta(obj).get("name", "")) for obj in here])
    return _(" (there is {guess})").format(guess=guess) if guess else ""
