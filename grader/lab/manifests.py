"""The objects that exist when a learner arrives: `start/*.yaml` and the lab's Namespace.

Owns reading and ordering them; knows nothing of what the objects mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cluster.i18n import _
from grader.lab.filling import Filler, Misfit, fill_leaves, misplaced
from grader.lab.located import read_documents
from grader.lab.problems import LabProblem, read_source, unknown
from grader.lab.scripts import read_script

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from cluster.spec import Manifest
    from grader.lab.located import Located
    from grader.lab.located import Path as ValuePath

SUFFIX = ".yaml"
MAX_OBJECTS = 1_000
MAX_FILES = 200
MAX_TEXT = 4 << 20
"""Objects, files, and characters of all of them, that `start/` may hold."""
SCRIPT_SUFFIX = ".sh"


def read_start(folder: Path, found: list[LabProblem], filler: Filler | None = None) -> list[Located]:
    """The objects of `start/` of the lab in `folder` as they stand, files in the order of their names, with the
    values of `filler` in them."""
    objects: dict[tuple[str, ...], Located] = {}
    for located in _documents(folder / "start", found):
        if filler is not None:
            wrong: list[tuple[ValuePath, Misfit]] = []
            located.value, _numbers = fill_leaves(located.value, filler.plain, wrong)
            found += misplaced(located, wrong)
        problems = list(malformed(located))
        found += problems
        if problems or located.value is None:
            continue
        value, metadata = located.value, located.value["metadata"]
        identity = (value["apiVersion"], value["kind"], metadata.get("namespace", ""), metadata["name"])
        if identity in objects:
            first = objects[identity]
            message = _("{kind} {name} again (first in {file}, line {line})")
            message = message.format(
                kind=value["kind"],
                name=metadata["name"],
                file=first.source.path.name,
                line=first.place(())[0],
            )
            found.append(located.problem((), message))
        objects.setdefault(identity, located)
    return list(objects.values())


def setup_scripts(folder: Path) -> tuple[Path, ...]:
    """The scripts of `start/` of the lab in `folder`, in the order of their names."""
    paths = sorted((folder / "start").glob(f"*{SCRIPT_SUFFIX}"))
    # Never by a link: what it leads to would be handed to whoever wrote the lab.
    return tuple(path for path in paths if not path.name.startswith(".") and not path.is_symlink())


def in_namespace(objects: Iterable[Manifest], namespace: str) -> tuple[Manifest, ...]:
    """The objects with the lab's Namespace before all, then other Namespaces, then the rest in their order.

    An object without a namespace goes to the lab's, unless its kind is known to belong to none.
    """
    own: Manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    others = []
    for manifest in objects:
        if manifest["kind"] == "Namespace" and manifest["metadata"]["name"] == namespace:
            own = manifest  # with the labels its author gave it
        else:
            others.append(_placed(manifest, namespace))
    return (own, *sorted(others, key=lambda manifest: manifest["kind"] != "Namespace"))


def _documents(start: Path, found: list[LabProblem]) -> Iterator[Located]:
    if not start.exists():
        return
    if not start.is_dir():
        found.append(LabProblem(str(start), 1, 1, _("must be a folder")))
        return
    files = texts = objects = 0
    for path in sorted(start.iterdir()):
        if path.name.startswith("."):
            continue
        files += 1
        if files > MAX_FILES:
            found.append(LabProblem(str(start), 1, 1, _("more than {limit} files").format(limit=MAX_FILES)))
            return
        if path.suffix == SCRIPT_SUFFIX and path.is_symlink():
            found.append(LabProblem(str(path), 1, 1, _("is a link: links are not followed")))
        elif path.suffix == SCRIPT_SUFFIX:
            read_script(path, found)
        elif path.suffix != SUFFIX:
            message = unknown(_("'{word}' is not read: start/ holds .yaml files and .sh scripts"), path.name, [])
            found.append(LabProblem(str(path), 1, 1, message))
        elif (source := read_source(path, found)) is not None:
            texts += len(source.text)
            if texts > MAX_TEXT:
                message = _("with this file start/ is larger than {limit} MiB").format(limit=MAX_TEXT >> 20)
                found.append(source.problem(1, 1, message))
                return
            for located in read_documents(source, found):
                objects += 1
                if objects > MAX_OBJECTS:
                    message = _("more than {limit} objects in start/").format(limit=MAX_OBJECTS)
                    found.append(located.problem((), message))
                    return
                yield located


def malformed(located: Located) -> Iterator[LabProblem]:
    """Why a document is no Kubernetes object that has a name; nothing where it is one, or blank."""
    value = located.value
    if value is None:
        return  # nothing but comments, or what parsed as nothing and is reported already
    if not isinstance(value, dict):
        yield located.problem((), _("must be a Kubernetes object: a mapping with apiVersion, kind, metadata"))
        return
    for key in ("apiVersion", "kind"):
        if key not in value:
            yield located.problem((), _("missing key '{key}'").format(key=key))
        elif not isinstance(value[key], str) or not value[key]:
            yield located.problem((key,), _("{key}: must be text").format(key=key))
    if isinstance(value.get("kind"), str) and value["kind"].endswith("List") and "items" in value:
        yield located.problem(("kind",), _("a list of objects: write each as a document of its own"))
        return
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        yield located.problem(("metadata",), _("metadata must be a mapping with a name"))
        return
    if not isinstance(metadata.get("name"), str) or not metadata["name"]:
        yield located.problem(("metadata", "name"), _("metadata.name must be text"))
    if "namespace" in metadata and not isinstance(metadata["namespace"], str):
        yield located.problem(("metadata", "namespace"), _("metadata.namespace must be text"))


def _placed(manifest: dict[str, Any], namespace: str) -> Manifest:
    metadata = manifest["metadata"]
    if "namespace" in metadata or is_cluster_wide(manifest["kind"]):
        return manifest
    return {**manifest, "metadata": {**metadata, "namespace": namespace}}


def is_cluster_wide(kind: str) -> bool:
    """Whether objects of `kind` are known to belong to no namespace."""
    from grader.checks.objects import CLUSTER_WIDE

    return kind in CLUSTER_WIDE or kind in _CLUSTER_WIDE


_CLUSTER_WIDE = {
    "APIService",
    "ClusterRole",
    "ClusterRoleBinding",
    "CSIDriver",
    "CustomResourceDefinition",
    "DeviceClass",
    "IngressClass",
    "MultiKueueCluster",
    "MultiKueueConfig",
    "MutatingWebhookConfiguration",
    "ProvisioningRequestConfig",
    "ResourceSlice",
    "RuntimeClass",
    "StorageClass",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
}
"""Kinds outside every namespace that start manifests may hold, beside those that checks speak of."""
