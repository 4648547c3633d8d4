"""A lab as everything else sees it: plain, frozen data.

Owns `Lab` and its parts; knows nothing of the files they were read from but their folder and line numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.collections.address import collection_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cluster.spec import ClusterSpec
    from grader.checks.base import Check
    from grader.lab.values import Value, ValueMatter


@dataclass(frozen=True, slots=True, kw_only=True)
class Hint:
    """One hint of a step, in markdown; hints are shown one after the other. `line` is that of `::: hint`."""

    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeBlock:
    """A fenced block of a step's prose: ```` ```bash run ```` has language `bash` and the flag `run`."""

    language: str
    flags: tuple[str, ...]
    text: str
    line: int

    @property
    def runs(self) -> bool:
        """Whether the block may be typed into the learner's shell by one key."""
        return "run" in self.flags


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step: `body` is its markdown without check blocks and hints; `number` counts from 1."""

    number: int
    id: str
    title: str
    body: str
    blocks: tuple[CodeBlock, ...]
    checks: tuple[Check, ...]
    hints: tuple[Hint, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """One lab in one language. `minutes` is what it takes a learner; `after` names labs to do before."""

    id: str
    """Its name on the command line; of a collection's lab `COLLECTION/LAB`."""
    title: str
    minutes: int
    after: tuple[str, ...]
    workdir: str
    namespace: str
    cluster: ClusterSpec
    """Its manifests: the lab's Namespace first, then the objects of `start/`."""
    intro: str
    steps: tuple[Step, ...]
    folder: Path
    setup: tuple[Path, ...] = ()
    """The scripts of `start/`, in their order: they run before the learner arrives."""
    language: str
    """The language of title, prose, hints and `says`: English where the lab has no file in the one asked."""
    declared: Mapping[str, ValueMatter] = field(default_factory=dict)
    """The values that are drawn for each session, by name."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """Those that are filled in here, one for each of `declared`."""
    examples: frozenset[str] = frozenset()
    """The names of those that no session has drawn: they only show what the text looks like."""

    @property
    def collection(self) -> str:
        """The collection it is of, whose name its id begins with; empty for a lab of ours."""
        return collection_of(self.id)

    @property
    def needs_root(self) -> bool:
        """Whether starting it needs root: a real node does."""
        return self.cluster.real_node is not None

    def check(self, check_id: str) -> tuple[Step, Check]:
        """The check of that id and its step; KeyError where there is none."""
        for step in self.steps:
            for check in step.checks:
                if check.id == check_id:
                    return step, check
        raise KeyError(check_id)

    def step(self, step_id: str) -> Step:
        """The step of that id; KeyError where there is none."""
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)
