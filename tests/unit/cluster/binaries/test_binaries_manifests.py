"""Manifests: YAML as Kubernetes reads it, and what a failing kustomize leads to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cluster.binaries import manifests
from cluster.errors import EnvironmentProblem, Problem

if TYPE_CHECKING:
    from tests.unit.cluster.binaries.conftest import Bench


def test_dates_stay_strings_and_booleans_booleans() -> None:
    text = 'apiVersion: v1\nkind: C\nmetadata: {name: a}\ndata: {d: 2026-01-02, b: true, s: "yes", n: 0o10, m: null}\n'
    assert manifests.read_objects(text)[0]["data"] == {"d": "2026-01-02", "b": True, "s": "yes", "n": "0o10", "m": None}


def test_empty_documents_are_left_out() -> None:
    one = "apiVersion: v1\nkind: C\nmetadata: {name: a}\n"
    assert len(manifests.read_objects(f"---\n---\n{one}---\n{one}---\n")) == 2


@pytest.mark.parametrize("text", ["- a\n", "kind: C\n", "hello\n"])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(Problem, match="not a Kubernetes object"):
        manifests.read_objects(text)


READ = 'for one in $(sed -n "s/^- //p" "$3/kustomization.yaml"); do cat "$3/$one/objects.yaml"; done'


def _render(bench: Bench, tmp_path: Path, kubectl: str) -> int:
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\n{kubectl}\n")
    program.chmod(0o755)
    return manifests.render(
        bench.lock.manifests[0], go="go", kubectl=program, root=bench.lock.root, out=tmp_path / "addon.json"
    )


def test_kustomize_is_run_on_the_module_s_own_folder(bench: Bench, tmp_path: Path) -> None:
    assert _render(bench, tmp_path, f'echo "$@" > args; cat "$3/kustomization.yaml" > asked; {READ}') == 2
    kustomize, restrictor, folder = (tmp_path / "args").read_text().split()
    assert (kustomize, restrictor) == ("kustomize", "--load-restrictor=LoadRestrictionsNone")
    assert (tmp_path / "asked").read_text() == "resources:\n- ../modules/example.test/addon/config/default\n"
    assert (tmp_path / "addon.json").read_text().startswith("[\n {\n")
    assert not Path(folder).exists()


def test_several_folders_and_a_namespace_become_one_kustomization(bench: Bench, tmp_path: Path) -> None:
    more = tmp_path / "modules/example.test/addon/config/more"
    more.mkdir()
    (more / "objects.yaml").write_text("---\napiVersion: v1\nkind: C\nmetadata: {name: c}\n")
    several = replace(bench.lock.manifests[0], paths=("config/default", "config/more"), namespace="there")
    program = tmp_path / "kubectl"
    program.write_text(f'#!/bin/sh\ncat "$3/kustomization.yaml" > asked; {READ}\n')
    program.chmod(0o755)
    out = tmp_path / "addon.json"
    assert manifests.render(several, go="go", kubectl=program, root=bench.lock.root, out=out) == 3
    assert "namespace: there\n" in (tmp_path / "asked").read_text()


def test_a_failing_kustomize_is_said(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"kubectl kustomize failed:\n    no such base"):
        _render(bench, tmp_path, "echo no such base >&2; exit 1")
    assert not (tmp_path / "addon.json").exists()


def test_nothing_rendered_is_said(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"example\.test/addon has no objects in config/default"):
        _render(bench, tmp_path, "true")
