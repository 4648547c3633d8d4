"""What an add-on is: a manager program, its upstream manifests, and how to know its webhooks answer.

Owns the rewriting of upstream manifests for a manager that runs as a process instead of a pod. The manifests
come out of the very Go module that the program was built from; only what a process can't have is changed:
webhooks and conversions are called by URL, certificates are ours, Deployments and their Services are left out.
"""

from __future__ import annotations

import copy
import json
from base64 import b64encode
from dataclasses import dataclass, field
from enum import StrEnum
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
_DEFAULT_CERTIFICATES = Path("/tmp/k8s-webhook-server/serving-certs")  # noqa: S108  # controller-runtime's, in a sandbox


class CertificatesOff(StrEnum):
    """The key of a manager's configuration with which its own certificates are switched off."""

    INTERNAL = "internalCertManagement"
    TRAINER = "certManagement"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """What a manager holds that can't do without leader election. One that was killed leaves it behind, and the next
    would wait until it has run out."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """What a manager wants that renews its certificates by itself and can't be told not to: its own authority.

    It leaves alone what it finds in `secret` if that is whole and lasts for three months, and puts the authority's
    certificate, the one that is there already, into its webhooks. Source: open-policy-agent/cert-controller.
    """

    secret: str
    authority: str
    """The name in the authority's certificate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addon:
    """One controller manager. `webhook_port` serves admission and conversion (0: it has none), `health_port`
    `health_path`."""

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
    health_path: str = "/readyz"
    certificates_off: CertificatesOff | None = CertificatesOff.INTERNAL
    """None for a manager that has no configuration file: all is said in `argv`."""
    says_certificate_folder: bool = True
    """Whether its configuration says where its serving certificate lies; else controller-runtime's own place it is."""
    lease: Lease | None = None
    rotation: Rotation | None = None
    has_objects: bool = False
    """Objects of its own kinds come with it (`manifests/<name>-objects.json`), which its webhook has to accept."""
    certificate_folders: tuple[Path, ...] = ()
    """Paths that the program reads its serving certificate from besides the configured one."""
    probes: tuple[Manifest, ...] = ()
    """Objects whose server-side dry-run goes through its webhooks: READY waits for them."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Merged into the upstream manager configuration."""

    def load(self, binaries: Path) -> list[Manifest]:
        """The upstream manifests that were rendered when the program was built; EnvironmentProblem before that."""
        return self._read(binaries / "manifests" / f"{self.name}.json")

    def objects(self, binaries: Path) -> list[Manifest]:
        """The objects of its own kinds that come with it; EnvironmentProblem as `load`."""
        return self._read(binaries / "manifests" / f"{self.name}-objects.json")

    @staticmethod
    def _read(path: Path) -> list[Manifest]:
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
        folders = self.certificate_folders
        if self.webhook_port and not self.says_certificate_folder:
            folders = (_DEFAULT_CERTIFICATES, *folders)
        configured = self.certificates_off is not None
        return Component(
            name=self.program,
            argv=(
                str(config.binaries / "bin" / self.program),
                *((f"--config={path}",) if configured else ()),
                *self.argv,
            ),
            env={**self.account.env, **go.environment(self.program)},
            files={path: yaml.safe_dump(self._configuration(config), sort_keys=False)} if configured else {},
            mounts=(
                *self.account.mounts(config),
                *((certificates, folder) for folder in folders),
            ),
            # Kueue looks for the kinds of other add-ons once at its start and then ever more rarely (up to
            # two minutes), so no manager starts before every add-on's CRDs are established. Before the default
            # roles are there a service account may not even ask which API groups exist, and managers give up.
            needs=(
                DEFAULT_ROLES,
                self.account.token_step,
                *(f"{name}-established" for name in config.spec.addons),
                *((self.lease_step,) if self.lease else ()),
                # It ends where the Secret is missing.
                *((f"{self.name}-roles",) if self.rotation else ()),
            ),
            before=(self.lease_step,) if self.lease else (),
            ready=HttpProbe(f"http://127.0.0.1:{self.health_port}{self.health_path}"),
        )

    @property
    def lease_step(self) -> str:
        """Name of the step that takes the lease of an earlier process away."""
        return f"{self.name}-lease"

    def _configuration(self, config: MachineConfig) -> dict[str, Any]:
        upstream = next(
            manifest["data"]["controller_manager_config.yaml"]
            for manifest in self.load(config.binaries)
            if manifest["kind"] == "ConfigMap" and "controller_manager_config.yaml" in manifest.get("data", {})
        )
        settings: dict[str, Any] = yaml.safe_load(upstream)
        settings[str(self.certificates_off)] = {"enable": False}
        settings["leaderElection"] = {"leaderElect": False}
        settings["health"] = {"healthProbeBindAddress": f"127.0.0.1:{self.health_port}"}
        settings["metrics"] = {**settings.get("metrics", {}), "bindAddress": f"127.0.0.1:{self.metrics_port}"}
        settings["webhook"] = {"host": "127.0.0.1", "port": self.webhook_port}
        if self.says_certificate_folder:
            settings["webhook"]["certDir"] = str(Layout(config.home).pki / self.name)
        return {**settings, **self.settings}

    def manifests(self, config: MachineConfig) -> tuple[list[Manifest], list[Manifest]]:
        """(namespaces, CRDs and accounts; everything else), rewritten for this machine."""
        pki = Layout(config.home).pki
        authority = ca_bundle(pki / self.name / "ca.crt" if self.rotation else pki / WEBHOOK_CA)
        kept = [
            self._rewrite(manifest, authority)
            for manifest in self.load(config.binaries)
            if manifest["kind"] not in _NOT_FOR_PROCESSES
        ]
        if self.api_server_port:
            kept += self._aggregated_services(kept)
        if self.rotation:
            kept.append(self._rotated_secret(self.rotation, pki / self.name))
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

    def _rotated_secret(self, rotation: Rotation, files: Path) -> Manifest:
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": rotation.secret, "namespace": self.account.namespace},
            "type": "Opaque",
            "data": {
                name: b64encode((files / name).read_bytes()).decode()
                for name in ("ca.crt", "ca.key", "tls.crt", "tls.key")
            },
        }

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
