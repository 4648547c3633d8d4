"""Steps that make nodes usable, fake and real, and put the lab's own objects in place."""

from __future__ import annotations

from cluster import bootstrap
from cluster.api import Api
from cluster.components.nodes import CONTAINERD_SOCKET
from cluster.errors import ApiRefused
from cluster.i18n import _
from cluster.machine import Layout
from cluster.spec import GPU, Manifest, NodeSpec
from cluster.steps.insist import apply_all, await_condition, expect_object, insist
from cluster.steps.model import Step, StepContext

START_MANIFESTS = "start-manifests"


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

    def work(context: StepContext) -> int:
        nodes = context.config.spec.fake_nodes
        applied = apply_all(context.api, [bootstrap.fake_node(node) for node in nodes])
        for node in nodes:
            await_condition(context.api, "v1", "Node", node.name, "Ready")
        return applied

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
    return (
        f"{binaries}/bin/ctr",
        "--address",
        str(CONTAINERD_SOCKET),
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
        insist(give_gpus, context.api, node)
        await_condition(context.api, "v1", "Node", node.name, "Ready")

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


def _make(api: Api, obj: Manifest) -> None:
    """Create what may be there already."""
    try:
        api.create(obj)
    except ApiRefused as refusal:
        if refusal.reason != "AlreadyExists":
            raise


def apply_start_manifests(needs: tuple[str, ...]) -> Step:
    """What the lab says exists when the learner arrives, in namespaces that take pods."""

    def work(context: StepContext) -> int:
        manifests = context.config.spec.manifests
        namespaces = [m["metadata"]["name"] for m in manifests if m["kind"] == "Namespace"]
        apply_all(context.api, [m for m in manifests if m["kind"] == "Namespace"])
        for namespace in dict.fromkeys(["default", *namespaces]):
            for needed in bootstrap.namespace_objects(namespace, Layout(context.config.home).pki / "ca.crt"):
                if context.config.warm:
                    insist(_make, context.api, needed)
                else:
                    # Made by kube-controller-manager, and that is also how we know that its controllers run: it calls
                    # itself healthy a while before.
                    name = needed["metadata"]["name"]
                    insist(expect_object, context.api, needed["apiVersion"], needed["kind"], name, namespace)
        for manifest in manifests:
            if manifest["kind"] != "Namespace":
                insist(context.api.apply, manifest)
        return len(manifests)

    return Step(
        name=START_MANIFESTS,
        needs=needs,
        work=work,
        typed=("kubectl apply --server-side -f start/",),
    )
