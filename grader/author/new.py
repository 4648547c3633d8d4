"""A lab to begin with: small, whole, in every language, and proved by its own solution and wrong answers.

Owns which files it has and where they go; their text stands in `scaffold/`. Knows nothing of command lines.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cluster.errors import UsageProblem
from cluster.i18n import _
from cluster.spec import ADDON_NEEDS, ADDONS, NEVER_TOGETHER
from grader.lab.frontmatter import ClusterMatter, FrontMatter, never_together
from grader.lab.markdown import ID
from grader.lab.problems import unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SCAFFOLD: Final = Path(__file__).resolve().parent / "scaffold"
SUFFIX: Final = ".j2"
MOST_NODES: Final = 26
LEAST_GPUS: Final = 2
"""What the solutions of all steps hold at once."""
_STEPS: Final = (("run", ""), ("where", ""), ("train", "jobset"), ("serve", "lws"), ("queue", "kueue"))
"""Each step's id, and the add-on it needs; in order."""
_ONLY_WITH: Final = {"20-queue.yaml": "kueue", "one-worker": "jobset", "alone": "lws", "no-queue-label": "kueue"}
"""File or folder → the add-on without which it is left out."""
_TAKEN: Final = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


@dataclass(frozen=True, slots=True)
class NewNode:
    """A node to be."""

    name: str
    gpus: int


def make_lab(
    lab_id: str, parent: Path, *, title: str = "", addons: Sequence[str] = (), nodes: Sequence[NewNode] = ()
) -> Path:
    """Make the folder of a new lab in `parent`; it is there whole or not at all. Without `nodes`: two with four GPUs.

    UsageProblem: a name that labs, nodes or add-ons can't have, a folder that is there, too few GPUs, or no place
    to write.
    """
    nodes = nodes or parse_nodes("2")
    matter = _checked(lab_id, title, addons, nodes)
    folder = parent / lab_id
    if folder.exists() or folder.is_symlink():
        raise UsageProblem(
            _("{folder} is there already").format(folder=folder), _("choose another name, or another place with --to")
        )
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent, prefix=f".{lab_id}.") as made:
            whole = Path(made) / lab_id
            for name, text in _files(matter):
                path = whole / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
                path.chmod(0o755 if path.suffix == ".sh" else 0o644)
            whole.chmod(0o755)
            whole.rename(folder)
    except OSError as error:
        raise UsageProblem(_("can't write {path}: {why}").format(path=folder, why=error.strerror or error)) from error
    return folder


def parse_nodes(text: str) -> tuple[NewNode, ...]:
    """`2` (so many nodes with four GPUs each) or `gpu-a:4,gpu-b:8`; UsageProblem where it is neither."""
    allowed = _("a number from 1 to {most}, or names with GPUs such as gpu-a:4,gpu-b:8").format(most=MOST_NODES)
    if text.isdecimal():
        if not 1 <= int(text) <= MOST_NODES:
            raise UsageProblem(_("--nodes {text}: {allowed}").format(text=text, allowed=allowed))
        return tuple(NewNode(f"gpu-{chr(ord('a') + number)}", 4) for number in range(int(text)))
    nodes = []
    for word in text.split(","):
        name, _colon, gpus = word.strip().partition(":")
        if not name or not (gpus or "4").isdecimal():
            raise UsageProblem(_("--nodes {text}: {allowed}").format(text=word, allowed=allowed))
        nodes.append(NewNode(name, int(gpus or 4)))
    return tuple(nodes)


def parse_addons(words: Sequence[str]) -> tuple[str, ...]:
    """Add-ons that were named, in lists or one by one, each once, and what those need; UsageProblem with a near name
    for others."""
    named = [part.strip() for word in words for part in word.split(",") if part.strip()]
    for name in named:
        if name not in ADDONS:
            raise UsageProblem(unknown(_("unknown add-on '{word}'"), name, ADDONS))
    for pair in NEVER_TOGETHER:
        if set(pair) <= set(named):
            raise UsageProblem(never_together(*pair))
    named += [needed for name in named for needed in ADDON_NEEDS.get(name, ())]
    return tuple(addon for addon in ADDONS if addon in named)


def _checked(lab_id: str, title: str, addons: Sequence[str], nodes: Sequence[NewNode]) -> FrontMatter:
    """The front matter to be; UsageProblem where one could not be."""
    from pydantic import ValidationError

    if not ID.match(lab_id) or len(lab_id) > 63:
        raise UsageProblem(
            _("'{name}' can't be the name of a lab").format(name=lab_id),
            _("use lower-case letters, digits and single hyphens, at most 63"),
        )
    names = [node.name for node in nodes]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageProblem(_("two nodes are named {name}").format(name=twice[0]))
    gpus = sum(node.gpus for node in nodes)
    if gpus < LEAST_GPUS:
        message = _("the nodes have {gpus} GPUs, the steps of the new lab need {least}")
        raise UsageProblem(message.format(gpus=gpus, least=LEAST_GPUS))
    short = lab_id.removeprefix("lab-") or lab_id
    try:
        return FrontMatter(
            format=1,
            lab=lab_id,
            title=title or _title(lab_id),
            minutes=15,
            workdir=short,
            namespace=lab_id if short in _TAKEN else short,
            cluster=ClusterMatter.model_validate(
                {"addons": tuple(addons), "nodes": [{"name": node.name, "gpus": node.gpus} for node in nodes]}
            ),
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageProblem(f"{where}: {first['msg'].removeprefix('Value error, ')}") from error


def _title(lab_id: str) -> str:
    words = lab_id.removeprefix("lab-").replace("-", " ").strip() or lab_id
    return words[0].upper() + words[1:]


def _files(matter: FrontMatter) -> Iterator[tuple[str, str]]:
    """(path below the lab's folder, text) of every file."""
    environment = Environment(
        loader=FileSystemLoader(SCAFFOLD),
        autoescape=False,  # noqa: S701  # markdown, YAML and scripts, made of what was checked
        undefined=StrictUndefined,
        # Labs are full of Jinja, and scripts of `<<`: these marks stand in neither.
        variable_start_string="@{",
        variable_end_string="}@",
        line_statement_prefix="%%",
        block_start_string="@%",
        block_end_string="%@",
        comment_start_string="@#",
        comment_end_string="#@",
        keep_trailing_newline=True,
    )
    environment.filters["quoted"] = lambda text: json.dumps(text, ensure_ascii=False)
    addons = matter.cluster.addons
    steps = [step for step, addon in _STEPS if not addon or addon in addons]
    values = {
        "id": matter.lab,
        "title": matter.title,
        "workdir": matter.workdir,
        "namespace": matter.namespace,
        "addons": addons,
        "nodes": matter.cluster.nodes,
        "gpus": sum(node.gpus for node in matter.cluster.nodes),
    }
    for path in sorted(SCAFFOLD.rglob(f"*{SUFFIX}")):
        inside = path.relative_to(SCAFFOLD)
        if any(_ONLY_WITH.get(part.removesuffix(SUFFIX), "") not in ("", *addons) for part in inside.parts):
            continue
        name = str(inside).removesuffix(SUFFIX)
        if inside.parts[0] == "solution":
            step = Path(name).stem
            if step not in steps:
                continue
            name = f"solution/{steps.index(step) + 1:02}-{step}.sh"
        yield name, environment.get_template(inside.as_posix()).render(values)


def default_parent() -> Path:
    """Where a new lab goes if nobody says: into the author's folder of labs, else where one is."""
    from grader.lab.catalogue import LABS_VARIABLE

    return Path(os.environ.get(LABS_VARIABLE) or ".")
