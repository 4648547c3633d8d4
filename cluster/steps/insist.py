"""Doing something against the API until it works: the patience that every step shares."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec

from cluster.api import Api
from cluster.errors import ApiRefused, ApiUnavailable, EnvironmentProblem
from cluster.i18n import _
from cluster.spec import Manifest

_POLL = 0.03
_PATIENCE = 120.0
"""Seconds a step insists on something before the start has failed."""
_P = ParamSpec("_P")


def apply_all(api: Api, manifests: list[Manifest]) -> int:
    """In parallel, namespaces first: kube-apiserver takes most of its time per request, not per byte. How many."""
    namespaces = [m for m in manifests if m["kind"] == "Namespace"]
    rest = [m for m in manifests if m["kind"] != "Namespace"]
    for manifest in namespaces:
        insist(api.apply, manifest)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda manifest: insist(api.apply, manifest), rest))
    return len(manifests)


def expect_object(api: Api, api_version: str, kind: str, name: str, namespace: str) -> None:
    if api.get(api_version, kind, name, namespace) is None:
        raise ApiUnavailable(_("{kind} {name} is not there yet").format(kind=kind, name=f"{namespace}/{name}"))


def await_condition(api: Api, api_version: str, kind: str, name: str, condition: str) -> None:
    def met() -> None:
        found = api.get(api_version, kind, name) or {}
        conditions = found.get("status", {}).get("conditions") or []
        if not any(c["type"] == condition and c["status"] == "True" for c in conditions):
            raise ApiUnavailable(
                _("{kind} {name} is not {condition}").format(kind=kind, name=name, condition=condition)
            )

    insist(met)


def insist(action: Callable[_P, object], *args: _P.args, **kwargs: _P.kwargs) -> None:
    """Until `action` raises no Problem; the last one is raised when time is over."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            action(*args, **kwargs)
        except (ApiRefused, ApiUnavailable) as problem:
            if time.monotonic() > deadline:
                raise EnvironmentProblem(problem.message) from problem
            time.sleep(_POLL)
        else:
            return
