"""The one-time steps between components: what is applied, awaited, patched, and in what order they may run.

Owns each step's work against the API; knows nothing of processes. A step is safe to carry out twice, since
some are repeated when a component is restarted (`Component.before`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ParamSpec, Protocol

from cluster import bootstrap
from cluster.addons.model import Addon
from cluster.api import Api
from cluster.components.service_accounts import ServiceAccount
from cluster.errors import ApiRefused, ApiUnavailable, EnvironmentProblem
from cluster.i18n import _
from cluster.machine import Layout, MachineConfig, write_private
from cluster.spec import GPU, Manifest, NodeSpec

_POLL = 0.03
_PATIENCE = 45.0
"""Seconds a step insists on something before the start has failed."""
_TOKEN_SECONDS = 365 * 24 * 3600
_P = ParamSpec("_P")


class StepContext(Protocol):
    """What a step may use."""

    @property
    def config(self) -> MachineConfig:
        """The machine that comes up."""

    @property
    def api(self) -> Api:
        """The API, as the supervisor."""

    def run(self, argv: tuple[str, ...], seconds: float) -> None:
        """Run a short program of ours to its end; EnvironmentProblem if it fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """`typed` is what a person would type for the same effect (`--dry-run`)."""

    name: str
    work: Callable[[StepContext], None]
    needs: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


def apply_roles() -> Step:
    """Who may do what, before anybody but the supervisor calls."""
    return Step(
        name="roles",
        needs=("kube-apiserver",),
        work=lambda context: _apply(context.api, bootstrap.roles()),
        typed=("kubectl apply --server-side -f - <<< roles of the learner and the grader",),
    )


def apply_accounts(name: str, manifests: Callable[[MachineConfig], list[Manifest]]) -> Step:
    """Namespace-level objects that a program's identity needs (KWOK, CoreDNS)."""
    return Step(
        name=f"{name}-account",
        needs=("kube-apiserver",),
        work=lambda context: _apply(context.api, manifests(context.config)),
        typed=(f"kubectl apply --server-side -f - <<< service account and roles of {name}",),
    )


def request_token(account: ServiceAccount, after: str) -> Step:
    """A service account token, kept with CA and namespace where the program is shown it."""

    def work(context: StepContext) -> None:
        answer = context.api.call(
            "POST",
            f"/api/v1/namespaces/{account.namespace}/serviceaccounts/{account.name}/token",
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"expirationSeconds": _TOKEN_SECONDS},
            },
        )
        folder = account.folder(context.config)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(folder / "token", answer["status"]["token"])
        write_private(folder / "namespace", account.namespace)
        write_private(folder / "ca.crt", (Layout(context.config.home).pki / "ca.crt").read_bytes())

    return Step(
        name=account.token_step,
        needs=(after,),
        work=work,
        typed=(f"kubectl -n {account.namespace} create token {account.name}",),
    )


def apply_definitions(addon: Addon) -> Step:
    """The add-on's namespace, CRDs and accounts."""
    return Step(
        name=f"{addon.name}-definitions",
        needs=("kube-apiserver",),
        work=lambda context: _apply(context.api, addon.manifests(context.config)[0]),
        typed=(f"kubectl apply --server-side -f manifests/{addon.name}.json  # namespaces, CRDs, accounts",),
    )


def await_established(addon: Addon) -> Step:
    """Until the API serves every CRD of the add-on."""

    def work(context: StepContext) -> None:
        wanted: dict[str, set[str]] = {}
        for manifest in addon.load(context.config.binaries):
            if manifest["kind"] == "CustomResourceDefinition":
                spec = manifest["spec"]
                for version in spec["versions"]:
                    path = f"/apis/{spec['group']}/{version['name']}"
                    wanted.setdefault(path, set()).add(spec["names"]["plural"])
        for path, plurals in wanted.items():
            _retry(_served, context.api, path, plurals)

    return Step(
        name=f"{addon.name}-established",
        needs=(f"{addon.name}-definitions",),
        work=work,
        typed=(f"kubectl wait --for=condition=Established crd of {addon.name}",),
    )


def _served(api: Api, path: str, plurals: set[str]) -> None:
    # Discovery instead of the CRDs' conditions: it is what the managers will ask, and a thousandth of the bytes.
    there = {resource["name"] for resource in api.call("GET", path)["resources"]}
    if missing := plurals - there:
        raise ApiUnavailable(_("{path} does not serve {names}").format(path=path, names=", ".join(sorted(missing))))


def apply_rest(addon: Addon) -> Step:
    """Roles, webhooks, aggregated API services, flow schemas."""
    return Step(
        name=f"{addon.name}-roles",
        needs=(f"{addon.name}-definitions",),
        work=lambda context: _apply(context.api, addon.manifests(context.config)[1]),
        typed=(f"kubectl apply --server-side -f manifests/{addon.name}.json  # roles, webhooks",),
    )


def probe_addon(addon: Addon) -> Step:
    """Until a server-side dry-run of each of its kinds has gone through its webhook."""

    def work(context: StepContext) -> None:
        for probe in addon.probes:
            _retry(context.api.create, probe, dry_run=True)
        for manifest in addon.load(context.config.binaries):
            if manifest["kind"] == "APIService":
                spec = manifest["spec"]
                _retry(context.api.call, "GET", f"/apis/{spec['group']}/{spec['version']}")

    return Step(
        name=f"{addon.name}-probe",
        needs=(addon.program, f"{addon.name}-roles"),
        work=work,
        typed=tuple(f"kubectl create --dry-run=server -f - <<< {probe['kind']}/probe" for probe in addon.probes),
    )


def clear_kwok_leases() -> Step:
    """Leases of an earlier kwok process would freeze its nodes' pods until they run out (40 s)."""

    def work(context: StepContext) -> None:
        for node in context.config.spec.fake_nodes:
            context.api.delete("coordination.k8s.io/v1", "Lease", node.name, "kube-node-lease")

    return Step(
        name="kwok-leases",
        needs=("kube-apiserver",),
        work=work,
        typed=("kubectl -n kube-node-lease delete lease of the fake nodes",),
    )


def create_fake_nodes() -> Step:
    """The Node objects that KWOK adopts, and wait until they are Ready."""

    def work(context: StepContext) -> None:
        nodes = context.config.spec.fake_nodes
        _apply(context.api, [bootstrap.fake_node(node) for node in nodes])
        for node in nodes:
            _await_condition(context.api, "v1", "Node", node.name, "Ready")

    return Step(
        name="fake-nodes",
        needs=("kwok",),
        work=work,
        typed=("kubectl apply --server-side -f - <<< fake nodes", "kubectl wait --for=condition=Ready nodes"),
    )


def import_images() -> Step:
    """The real node's images; there is no registry to pull from."""

    def work(context: StepContext) -> None:
        binaries = context.config.binaries
        for image in sorted((binaries / "images").glob("*.tar")):
            context.run(_import(str(binaries), str(image)), 30)

    return Step(
        name="images",
        needs=("containerd",),
        work=work,
        typed=("ctr --namespace k8s.io images import --local images/*.tar",),
    )


def _import(binaries: str, image: str) -> tuple[str, ...]:
    address = "/run/batchlab/containerd.sock"
    return (
        f"{binaries}/bin/ctr",
        "--address",
        address,
        "--namespace",
        "k8s.io",
        "images",
        "import",
        "--local",
        image,
    )


def ready_real_node(node: NodeSpec) -> Step:
    """Until kubelet's node is Ready and has its fake GPUs."""

    def work(context: StepContext) -> None:
        _retry(give_gpus, context.api, node)
        _await_condition(context.api, "v1", "Node", node.name, "Ready")

    return Step(
        name="real-node",
        needs=("kubelet", "images"),
        work=work,
        typed=(f"kubectl patch node {node.name} --subresource=status --type=merge -p '{GPU}: {node.gpus}'",),
    )


def give_gpus(api: Api, node: NodeSpec) -> bool:
    """Patch the real node's GPUs if they are not there; whether a patch was needed.

    ApiRefused 404 while kubelet has not registered the node.
    """
    found = api.get("v1", "Node", node.name)
    if found is None:
        raise ApiRefused(404, "NotFound", _("node {name} is not registered").format(name=node.name))
    status = found.get("status", {})
    wanted = str(node.gpus)
    if all((status.get(side) or {}).get(GPU, "0") == wanted for side in ("capacity", "allocatable")):
        return False
    api.merge("v1", "Node", node.name, bootstrap.gpu_patch(node), subresource="status")
    return True


def apply_start_manifests(needs: tuple[str, ...]) -> Step:
    """What the lab says exists when the learner arrives."""

    def work(context: StepContext) -> None:
        manifests = context.config.spec.manifests
        namespaces = [m["metadata"]["name"] for m in manifests if m["kind"] == "Namespace"]
        _apply(context.api, [m for m in manifests if m["kind"] == "Namespace"])
        # Until kube-controller-manager has made it, every pod in a new namespace is refused.
        for namespace in dict.fromkeys(["default", *namespaces]):
            _retry(_found, context.api, "v1", "ServiceAccount", "default", namespace)
        for manifest in manifests:
            if manifest["kind"] != "Namespace":
                _retry(context.api.apply, manifest)

    return Step(
        name="start-manifests",
        needs=needs,
        work=work,
        typed=("kubectl apply --server-side -f start/",),
    )


def _apply(api: Api, manifests: list[Manifest]) -> None:
    """In parallel, namespaces first: kube-apiserver takes most of its time per request, not per byte."""
    namespaces = [m for m in manifests if m["kind"] == "Namespace"]
    rest = [m for m in manifests if m["kind"] != "Namespace"]
    for manifest in namespaces:
        _retry(api.apply, manifest)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda manifest: _retry(api.apply, manifest), rest))


def _found(api: Api, api_version: str, kind: str, name: str, namespace: str) -> None:
    if api.get(api_version, kind, name, namespace) is None:
        raise ApiUnavailable(_("{kind} {name} is not there yet").format(kind=kind, name=f"{namespace}/{name}"))


def _await_condition(api: Api, api_version: str, kind: str, name: str, condition: str) -> None:
    def met() -> None:
        found = api.get(api_version, kind, name) or {}
        conditions = found.get("status", {}).get("conditions") or []
        if not any(c["type"] == condition and c["status"] == "True" for c in conditions):
            raise ApiUnavailable(
                _("{kind} {name} is not {condition}").format(kind=kind, name=name, condition=condition)
            )

    _retry(met)


def _retry(action: Callable[_P, object], *args: _P.args, **kwargs: _P.kwargs) -> None:
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
