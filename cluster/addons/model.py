"""What an add-on is: a manager program, its upstream manifests, and how to know its webhooks answer.

Owns the rewriting of upstream manifests for a manager that runs as a process instead of a pod. The manifests
come out of the very Go module that the program was built from; only what a process can't have is changed:
webhooks and conversions are called by URL, certificates are ours, Deployments and their Services are left out.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from cluster.components import go
from cluster.components.control_plane import DEFAULT_ROLES
from cluster.components.model import Component, HttpProbe
from cluster.components.service_accounts import ServiceAccount
from cluster.errors import EnvironmentProblem
from cluster.i18n import _
from cluster.identities import WEBHOOK_CA, ca_bundle
from cluster.machine import Layout, MachineConfig
from cluster.spec import Manifest

_NOT_FOR_PROCESSES = {"Deployment", "Secret", "ConfigMap", "Service"}
_FIRST = ("Namespace", "CustomResourceDefinition", "ServiceAccount")


@dataclass(frozen=True, slots=True, kw_only=True)
class Addon:
    """One controller manager. `webhook_port` serves admission and conversion, `health_port` /readyz."""

    name: str
    program: str
    account: ServiceAccount
    webhook_port: int
    health_port: int
    metrics_port: int
    api_server_port: int = 0
    """Port of an aggregated API (Kueue's visibility), 0 if it has none."""
    hosts: tuple[str, ...] = ("127.0.0.1",)
    """Names in its serving certificate."""
    argv: tuple[str, ...] = ()
    certificate_folders: tuple[Path, ...] = ()
    """Paths that the program reads its serving certificate from besides the configured one."""
    probes: tuple[Manifest, ...] = ()
    """Objects whose server-side dry-run goes through its webhooks: READY waits for them."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Merged into the upstream manager configuration."""

    def load(self, binaries: Path) -> list[Manifest]:
        """The upstream manifests that were rendered when the program was built; EnvironmentProblem before that."""
        path = binaries / "manifests" / f"{self.name}.json"
        try:
            manifests: list[Manifest] = json.loads(path.read_text())
        except FileNotFoundError as error:
            raise EnvironmentProblem(
                _("{path} is missing: the programs of clusters are not built yet").format(path=path),
                _("build them: {command}").format(command="grader binaries build"),
            ) from error
        return manifests

    def component(self, config: MachineConfig) -> Component:
        """The manager as a supervised process under its own service account."""
        layout = Layout(config.home)
        path = layout.etc / f"{self.name}.yaml"
        certificates = layout.pki / self.name
        return Component(
            name=self.program,
            argv=(str(config.binaries / "bin" / self.program), f"--config={path}", *self.argv),
            env={**self.account.env, **go.environment(self.program)},
            files={path: yaml.safe_dump(self._configuration(config), sort_keys=False)},
            mounts=(
                *self.account.mounts(config),
                *((certificates, folder) for folder in self.certificate_folders),
            ),
            # Kueue looks for the kinds of other add-ons once at its start and then ever more rarely (up to
            # two minutes), so no manager starts before every add-on's CRDs are established. Before the default
            # roles are there a service account may not even ask which API groups exist, and managers give up.
            needs=(DEFAULT_ROLES, self.account.token_step, *(f"{name}-established" for name in config.spec.addons)),
            ready=HttpProbe(f"http://127.0.0.1:{self.health_port}/readyz"),
        )

    def _configuration(self, config: MachineConfig) -> dict[str, Any]:
        upstream = next(
            manifest["data"]["controller_manager_config.yaml"]
            for manifest in self.load(config.binaries)
            if manifest["kind"] == "ConfigMap" and "controller_manager_config.yaml" in manifest.get("data", {})
        )
        settings: dict[str, Any] = yaml.safe_load(upstream)
        settings["internalCertManagement"] = {"enable": False}
        settings["leaderElection"] = {"leaderElect": False}
        settings["health"] = {"healthProbeBindAddress": f"127.0.0.1:{self.health_port}"}
        settings["metrics"] = {**settings.get("metrics", {}), "bindAddress": f"127.0.0.1:{self.metrics_port}"}
        settings["webhook"] = {
            "host": "127.0.0.1",
            "port": self.webhook_port,
            "certDir": str(Layout(config.home).pki / self.name),
        }
        return {**settings, **self.settings}

    def manifests(self, config: MachineConfig) -> tuple[list[Manifest], list[Manifest]]:
        """(namespaces, CRDs and accounts; everything else), rewritten for this machine."""
        authority = ca_bundle(Layout(config.home).pki / WEBHOOK_CA)
        kept = [
            self._rewrite(manifest, authority)
            for manifest in self.load(config.binaries)
            if manifest["kind"] not in _NOT_FOR_PROCESSES
        ]
        if self.api_server_port:
            kept += self._aggregated_services(kept)
        return (
            [manifest for manifest in kept if manifest["kind"] in _FIRST],
            [manifest for manifest in kept if manifest["kind"] not in _FIRST],
        )

    def _rewrite(self, upstream: Manifest, authority: str) -> Manifest:
        manifest = copy.deepcopy(upstream)
        annotations = manifest["metadata"].get("annotations", {})
        annotations.pop("cert-manager.io/inject-ca-from", None)

        def by_url(service: dict[str, Any], default: str) -> dict[str, Any]:
            path = service.get("path", default)
            return {"url": f"https://127.0.0.1:{self.webhook_port}{path}", "caBundle": authority}

        if manifest["kind"] in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
            for webhook in manifest["webhooks"]:
                webhook["clientConfig"] = by_url(webhook["clientConfig"]["service"], "/")
        if manifest["kind"] == "CustomResourceDefinition":
            conversion = manifest["spec"].get("conversion", {}).get("webhook")
            if conversion:
                conversion["clientConfig"] = by_url(conversion["clientConfig"]["service"], "/convert")
        if manifest["kind"] == "APIService":
            manifest["spec"].pop("insecureSkipTLSVerify", None)
            manifest["spec"]["caBundle"] = authority
            manifest["spec"]["service"]["port"] = self.api_server_port
        return manifest

    @staticmethod
    def _aggregated_services(manifests: list[Manifest]) -> list[Manifest]:
        # kube-apiserver follows an ExternalName for aggregated APIs without any proxy for virtual addresses.
        services = {
            (m["spec"]["service"]["namespace"], m["spec"]["service"]["name"])
            for m in manifests
            if m["kind"] == "APIService"
        }
        return [
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": name, "namespace": namespace},
                "spec": {"type": "ExternalName", "externalName": "localhost"},
            }
            for namespace, name in sorted(services)
        ]
