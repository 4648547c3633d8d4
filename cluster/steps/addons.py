"""Steps of an add-on: definitions, their being served, roles and webhooks, the probe of its kinds."""

from __future__ import annotations

from cluster.addons.model import Addon, Lease
from cluster.api import Api
from cluster.errors import ApiUnavailable
from cluster.i18n import _
from cluster.steps.insist import apply_all, insist
from cluster.steps.model import Step, StepContext

_LEASES = "coordination.k8s.io/v1"


def apply_definitions(addon: Addon) -> Step:
    """The add-on's namespace, CRDs and accounts."""
    return Step(
        name=f"{addon.name}-definitions",
        needs=("kube-apiserver",),
        restored=True,
        work=lambda context: apply_all(context.api, addon.manifests(context.config)[0]),
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
            insist(_served, context.api, path, plurals)

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
        restored=True,
        work=lambda context: apply_all(context.api, addon.manifests(context.config)[1]),
        typed=(f"kubectl apply --server-side -f manifests/{addon.name}.json  # roles, webhooks",),
    )


def apply_objects(addon: Addon) -> Step:
    """The objects of its own kinds that come with it: tried until its webhook answers."""
    return Step(
        name=_objects(addon),
        needs=(addon.program, f"{addon.name}-roles"),
        restored=True,
        work=lambda context: apply_all(context.api, addon.objects(context.config.binaries)),
        typed=(f"kubectl apply --server-side -f manifests/{addon.name}-objects.json",),
    )


def _objects(addon: Addon) -> str:
    return f"{addon.name}-objects"


def release_lease(addon: Addon, lease: Lease) -> Step:
    """The lease of an earlier process of the manager, which the next would wait for."""

    def work(context: StepContext) -> None:
        insist(context.api.delete, _LEASES, "Lease", lease.name, lease.namespace)

    return Step(
        name=addon.lease_step,
        needs=("kube-apiserver",),
        work=work,
        typed=(f"kubectl -n {lease.namespace} delete --ignore-not-found lease {lease.name}",),
    )


def _held(api: Api, lease: Lease) -> None:
    found = api.get(_LEASES, "Lease", lease.name, lease.namespace) or {}
    if not found.get("spec", {}).get("holderIdentity"):
        raise ApiUnavailable(_("nobody holds the lease {name} yet").format(name=lease.name))


def probe_addon(addon: Addon) -> Step:
    """Until a server-side dry-run of each of its kinds has gone through its webhook, and the manager leads."""

    def work(context: StepContext) -> None:
        if addon.lease:
            insist(_held, context.api, addon.lease)
        for probe in addon.probes:
            insist(context.api.create, probe, dry_run=True)
        for manifest in addon.load(context.config.binaries):
            if manifest["kind"] == "APIService":
                spec = manifest["spec"]
                insist(context.api.call, "GET", f"/apis/{spec['group']}/{spec['version']}")

    return Step(
        name=f"{addon.name}-probe",
        needs=(addon.program, f"{addon.name}-roles", *((_objects(addon),) if addon.has_objects else ())),
        work=work,
        typed=tuple(f"kubectl create --dry-run=server -f - <<< {probe['kind']}/probe" for probe in addon.probes),
    )
