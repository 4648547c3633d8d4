"""Every YAML of every article is what a cluster of ours takes, or of a kind that it does not serve."""

from __future__ import annotations

from typing import Any

import pytest

from cluster.errors import ApiRefused
from tests.cluster.articles import objects
from tests.cluster.conftest import Machine, needs_root

pytestmark = needs_root
INSTALLED = dict(objects(installed=True))
NOT_INSTALLED = dict(objects(installed=False))


def dry_run(machine: Machine, manifest: dict[str, Any]) -> dict[str, Any]:
    """Create it in `default` without keeping it; an unknown field is refused as a wrong one is."""
    api = machine.api
    path = api._path(manifest["apiVersion"], manifest["kind"], "default")
    return api.call("POST", path, manifest, query={"dryRun": "All", "fieldValidation": "Strict"})


@pytest.mark.parametrize("where", INSTALLED)
def test_a_complete_object_is_taken(machine: Machine, where: str) -> None:
    manifest = INSTALLED[where]
    made = dry_run(machine, manifest)
    assert (made["kind"], made["metadata"]["name"]) == (manifest["kind"], manifest["metadata"]["name"])


@pytest.mark.parametrize("where", NOT_INSTALLED)
def test_a_kind_that_is_said_not_to_be_there_is_not(machine: Machine, where: str) -> None:
    with pytest.raises(ApiRefused) as refusal:
        dry_run(machine, NOT_INSTALLED[where])
    assert refusal.value.status == 404


def test_an_unknown_field_would_be_found(machine: Machine) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "dta": {}}
    with pytest.raises(ApiRefused, match="unknown field"):
        dry_run(machine, manifest)
