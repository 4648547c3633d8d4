"""What may be done with labs of a collection that is not accepted: read, and nothing else.

Owns that rule, asked for wherever something of a lab is about to run, and the list of what an acceptance means.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cluster.errors import UsageProblem
from cluster.i18n import _
from grader.collections.address import collection_of
from grader.collections.store import find, is_untouched, touched

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.collections.model import Collection
    from grader.lab.model import Lab


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """What of a lab runs on this machine, by what starts it."""

    functions: tuple[str, ...]
    """Of `checks.py`, called by a check: in a cell of their own."""
    commands: tuple[str, ...]
    """Of checks, run at the learner's place or in a pod."""
    scripts: tuple[str, ...]
    """Of checks (text of their own, or files of `scripts/`): as nobody, and they only read."""
    setup: tuple[str, ...]
    """Of `start/`: as nobody of this machine, but with all rights in the lab's cluster."""
    suggested: int
    """Code blocks that a key types into the learner's shell."""
    solutions: tuple[str, ...]
    """Scripts that `grader verify` plays at the learner's place."""
    objects: tuple[tuple[str, int], ...]
    """Kinds of the objects that a start makes, and how many of each."""
    images: tuple[str, ...]
    """Of containers in those objects."""
    addons: tuple[str, ...]
    real_nodes: tuple[str, ...]
    """Nodes that run containers, as root of this machine."""


def refuse_untrusted(lab: Lab) -> None:
    """UsageProblem where nothing of `lab` may run: it is of a collection that is not accepted as it is now."""
    name = collection_of(lab.id)
    if not name:
        return
    collection = find(name)
    if problem := refusal(lab.id, collection, needs_root=lab.needs_root):
        raise problem
    assert collection is not None, "one that is not there is refused"
    if lab.folder.parent != collection.tree or not is_untouched(collection):
        raise touched(collection)


def refusal(lab_id: str, collection: Collection | None, *, needs_root: bool) -> UsageProblem | None:
    """Why nothing of that lab of `collection` may run; None where as much as it needs was accepted."""
    name = collection_of(lab_id)
    accept = f"grader lab accept {name}"
    if collection is None or collection.accepted is None:
        return UsageProblem(
            _("{lab} is of the collection {name}, which you have not accepted yet").format(lab=lab_id, name=name),
            _("see what it would run, and accept it: {command}").format(command=accept),
        )
    if needs_root and not collection.real_nodes:
        return UsageProblem(
            _("{lab} runs containers as root of this machine, and that you have not accepted").format(lab=lab_id),
            _("accept that, too: {command}").format(command=f"{accept} --real-nodes"),
        )
    return None


def what_runs(lab: Lab) -> Runs:
    """Everything of `lab` that is run on this machine once its collection is accepted."""
    from grader.checks.exec import Exec
    from grader.checks.python import Python
    from grader.checks.script import ScriptCheck
    from grader.lab.problems import LabProblem
    from grader.lab.scripts import entries, solution_scripts

    kinds = [check.kind for step in lab.steps for check in step.checks]
    found: list[LabProblem] = []
    wrong = [f"wrong/{entry.name}" for entry in entries(lab.folder / "wrong", found) if entry.is_dir()]
    manifests = lab.cluster.manifests
    return Runs(
        functions=tuple(dict.fromkeys(kind.function for kind in kinds if isinstance(kind, Python))),
        commands=tuple(kind.run or " ".join(kind.command) for kind in kinds if isinstance(kind, Exec)),
        scripts=tuple(
            dict.fromkeys(
                f"scripts/{kind.file}" if kind.file else kind.run for kind in kinds if isinstance(kind, ScriptCheck)
            )
        ),
        setup=tuple(f"start/{path.name}" for path in lab.setup),
        suggested=sum(block.runs for step in lab.steps for block in step.blocks),
        solutions=(*(f"solution/{path.name}" for path in solution_scripts(lab.folder).values()), *wrong),
        objects=tuple(sorted(Counter(str(manifest.get("kind")) for manifest in manifests).items())),
        images=tuple(dict.fromkeys(image for manifest in manifests for image in images_of(manifest))),
        addons=lab.cluster.addons,
        real_nodes=tuple(node.name for node in lab.cluster.nodes if node.real),
    )


def images_of(value: object) -> Iterable[str]:
    """The images of all containers somewhere in an object."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("containers", "initContainers") and isinstance(inner, list):
                for container in inner:
                    image = container.get("image") if isinstance(container, dict) else None
                    if isinstance(image, str):
                        yield image
            else:
                yield from images_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from images_of(inner)
