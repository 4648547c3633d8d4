"""Steps about who may do what: roles, service accounts, tokens."""

from __future__ import annotations

from collections.abc import Callable

from cluster import bootstrap
from cluster.api import Api
from cluster.components.control_plane import API_HEALTH, DEFAULT_ROLES
from cluster.components.service_accounts import ServiceAccount
from cluster.errors import ApiUnavailable
from cluster.i18n import _
from cluster.machine import Layout, MachineConfig, write_private
from cluster.spec import Manifest
from cluster.steps.insist import apply_all, insist
from cluster.steps.model import Step, StepContext

_TOKEN_SECONDS = 365 * 24 * 3600


def await_default_roles() -> Step:
    """Until the API server has made the roles that Kubernetes' own components are bound to."""
    return Step(
        name=DEFAULT_ROLES,
        needs=("kube-apiserver",),
        restored=True,
        work=lambda context: insist(_wholly_ready, context.api),
        typed=("until kubectl get --raw /readyz; do :; done",),
    )


def await_health() -> Step:
    """Until the API server says that all of it is well."""
    return Step(
        name=API_HEALTH,
        needs=("kube-apiserver",),
        work=lambda context: insist(_wholly_ready, context.api),
        typed=("until kubectl get --raw /readyz; do :; done",),
    )


def _wholly_ready(api: Api) -> None:
    if not api.ready():
        raise ApiUnavailable(_("kube-apiserver has not made its default roles yet"))


def apply_roles() -> Step:
    """Who may do what, before anybody but the supervisor calls."""
    return Step(
        name="roles",
        needs=("kube-apiserver",),
        restored=True,
        work=lambda context: apply_all(context.api, bootstrap.roles()),
        typed=("kubectl apply --server-side -f - <<< roles of the learner and the grader",),
    )


def apply_accounts(name: str, manifests: Callable[[MachineConfig], list[Manifest]]) -> Step:
    """Namespace-level objects that a program's identity needs (KWOK, CoreDNS)."""
    return Step(
        name=f"{name}-account",
        needs=("kube-apiserver",),
        restored=True,
        work=lambda context: apply_all(context.api, manifests(context.config)),
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
