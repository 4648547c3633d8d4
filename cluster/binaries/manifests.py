"""Kubernetes objects of add-ons, rendered from the Go module that was built.

Owns running `kubectl kustomize` and turning its YAML into JSON; changes no object.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import yaml

from cluster.errors import EnvironmentProblem, Problem
from cluster.i18n import _

if TYPE_CHECKING:
    from cluster.binaries.lock import Rendering
    from cluster.spec import Manifest


class _KubernetesLoader(yaml.CSafeLoader):
    """YAML as Kubernetes reads it: JSON's types only, so a date stays the string that it is."""

    yaml_implicit_resolvers = {  # noqa: RUF012  # PyYAML's own class attribute, replaced
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


def render(rendering: Rendering, *, go: str, kubectl: Path, root: Path, out: Path) -> int:
    """Write the objects of `rendering` to `out` as a JSON list, and return how many there are.

    `root` is our vm-images folder; the module's own folder is asked of Go, which has fetched it for the
    build: no network is used, and kustomize writes nothing into the (read-only) module cache.
    """
    told = _run([go, "list", "-m", "-f", "{{.Dir}}", rendering.module], cwd=root / rendering.folder)
    with TemporaryDirectory(dir=out.parent) as folder:
        # kustomize takes several folders only as resources of one more kustomization, and those by relative paths.
        here, module = Path(folder).resolve(), Path(told.strip()).resolve()
        kustomization: dict[str, Any] = {
            "resources": [os.path.relpath(module / path, here) for path in rendering.paths]
        }
        if rendering.namespace:
            kustomization["namespace"] = rendering.namespace
        (here / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
        # A single file among the paths lies outside of that folder, which kustomize else refuses.
        text = _run([str(kubectl), "kustomize", "--load-restrictor=LoadRestrictionsNone", str(here)], cwd=out.parent)
    objects = read_objects(text)
    if not objects:
        paths = ", ".join(rendering.paths)
        raise Problem(_("{module} has no objects in {path}").format(module=rendering.module, path=paths))
    out.write_text(json.dumps(objects, indent=1, ensure_ascii=False) + "\n")
    return len(objects)


def read_objects(text: str) -> list[Manifest]:
    """The documents of a YAML stream, without empty ones."""
    documents: list[Any] = [each for each in yaml.load_all(text, Loader=_KubernetesLoader) if each]
    for document in documents:
        if not isinstance(document, dict) or not {"apiVersion", "kind", "metadata"} <= document.keys():
            raise Problem(_("not a Kubernetes object: {text}").format(text=json.dumps(document)[:200]))
    return documents


def _run(argv: list[str], cwd: Path) -> str:
    env = os.environ | {"GOWORK": "off"}
    done = subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = "\n".join(f"    {line}" for line in done.stderr.splitlines()[-10:])
        raise EnvironmentProblem(_("{command} failed:\n{output}").format(command=" ".join(argv[:2]), output=said))
    return done.stdout
