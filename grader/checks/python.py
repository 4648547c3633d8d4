"""`python`: a function in the lab's own checks.py, for what no other kind can say."""

from __future__ import annotations

import importlib.util
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from grader.checks.base import CheckKind
from grader.checks.faults import LabFault
from grader.checks.fields import Identifier
from grader.results import Verdict

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

    from grader.checks.world import World


class Python(CheckKind):
    """`function(world, **arguments) -> Verdict` of `labs/<id>/checks.py`; a collection's runs in a cell."""

    name: ClassVar[str] = "python"

    function: Identifier
    arguments: dict[Identifier, Any] = Field(default={})

    @property
    def uses_history(self) -> bool:
        return True

    def evaluate(self, world: World) -> Verdict:
        if world.confined:
            return self._judged_apart(world)
        function = getattr(load(world.lab_folder / "checks.py"), self.function, None)
        if not callable(function):
            raise TypeError(f"checks.py of the lab has no function {self.function}")
        verdict = function(world, **self.arguments)
        if not isinstance(verdict, Verdict):
            raise TypeError(f"{self.function} of the lab's checks.py gave {type(verdict).__name__}, not a Verdict")
        return verdict

    def _judged_apart(self, world: World) -> Verdict:
        from grader.checks.confined import judge
        from grader.lab.problems import LabProblem, read_source

        found: list[LabProblem] = []
        path = world.lab_folder / "checks.py"
        source = read_source(path, found)
        if source is None:
            raise LabFault("\n".join(map(str, found)))
        return judge(source.text, path, self.function, self.arguments, world)


def load(path: Path) -> ModuleType:
    """The lab's checks.py as a module, loaded again only when the file changed."""
    return _loaded(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=32)
def _loaded(path: Path, _mtime_ns: int) -> ModuleType:
    # By path and under a name of its own: every lab has a checks.py, and none of them is on sys.path.
    spec = importlib.util.spec_from_file_location(f"batchlab_lab_{path.parent.name.replace('-', '_')}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for the module of a class
    spec.loader.exec_module(module)
    return module
