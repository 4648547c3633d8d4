"""What Go's runtime is told in each program: how often it collects, and on how many processors it runs.

Owns those numbers, found by measuring (docs/benchmarks.md, "Tried"). A program that is not in the table keeps Go's
own: a collection when the heap has doubled, and every processor.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Runtime:
    """The settings of one program."""

    percent: int = 0
    """By how much the heap may grow beyond what lived through the last collection before the next: GOGC. 0: by 100."""
    processors: int = 0
    """On how many processors Go code runs at the same time: GOMAXPROCS. 0: on all there are."""


RUNTIMES = {
    "etcd": Runtime(percent=50),
    "kube-controller-manager": Runtime(percent=50),
    "containerd": Runtime(percent=50),
    "kubelet": Runtime(percent=50),
}


def environment(program: str) -> dict[str, str]:
    """The variables that a program is started with."""
    runtime = RUNTIMES.get(program, Runtime())
    # Nobody looks at heap profiles here, and the samples for them are kept for ever.
    variables = {"GODEBUG": "memprofilerate=0"}
    if runtime.percent:
        variables["GOGC"] = str(runtime.percent)
    if runtime.processors:
        variables["GOMAXPROCS"] = str(runtime.processors)
    return variables
