"""What is changed in upstream manifests, and nothing else."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster.addons import ADDONS
from cluster.machine import MachineConfig
from cluster.spec import ClusterSpec

UPSTREAM: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "webhook-cert"}},
    {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "manager"}},
    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "webhook"}},
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "config"},
        "data": {
            "controller_manager_config.yaml": yaml.safe_dump(
                {
                    "kind": "Configuration",
                    "leaderElection": {"leaderElect": True, "resourceName": "x"},
                    "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
                    "integrations": {"frameworks": ["batch/job"]},
                }
            )
        },
    },
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "x", "annotations": {"cert-manager.io/inject-ca-from": "a/b", "keep": "me"}},
        "spec": {"conversion": {"webhook": {"clientConfig": {"service": {"name": "s", "path": "/convert"}}}}},
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "m"},
        "webhooks": [
            {"name": "a", "failurePolicy": "Fail", "clientConfig": {"service": {"name": "s", "path": "/mutate-a"}}}
        ],
    },
    {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1beta2.visibility.kueue.x-k8s.io"},
        "spec": {
            "group": "visibility.kueue.x-k8s.io",
            "version": "v1beta2",
            "insecureSkipTLSVerify": True,
            "service": {"name": "kueue-visibility-server", "namespace": "kueue-system", "port": 443},
        },
    },
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": []},
]


@pytest.fixture
def config(tmp_path: Path) -> MachineConfig:
    (tmp_path / "manifests").mkdir()
    (tmp_path / "manifests/kueue.json").write_text(json.dumps(UPSTREAM))
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki/webhook-ca.crt").write_text("authority")
    spec = ClusterSpec(addons=("kueue",))
    return MachineConfig(name="x", home=tmp_path, binaries=tmp_path, spec=spec, privileged=False)


def by_kind(manifests: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = [manifest for manifest in manifests if manifest["kind"] == kind]
    return found


def test_pods_and_their_services_are_left_out(config: MachineConfig) -> None:
    first, rest = ADDONS["kueue"].manifests(config)
    kinds = {manifest["kind"] for manifest in first + rest}
    assert not kinds & {"Deployment", "Secret", "ConfigMap"}
    assert {manifest["kind"] for manifest in first} == {"Namespace", "CustomResourceDefinition"}


def test_webhooks_and_conversions_are_called_on_loopback_with_our_authority(config: MachineConfig) -> None:
    first, rest = ADDONS["kueue"].manifests(config)
    called = {"url": "https://127.0.0.1:9463/mutate-a", "caBundle": "YXV0aG9yaXR5"}
    webhook = by_kind(rest, "MutatingWebhookConfiguration")["webhooks"][0]
    assert webhook == {"name": "a", "failurePolicy": "Fail", "clientConfig": called}
    definition = by_kind(first, "CustomResourceDefinition")
    assert definition["metadata"]["annotations"] == {"keep": "me"}
    conversion = definition["spec"]["conversion"]["webhook"]["clientConfig"]
    assert conversion["url"] == "https://127.0.0.1:9463/convert"


def test_the_visibility_api_is_reached_by_external_name_and_verified(config: MachineConfig) -> None:
    _first, rest = ADDONS["kueue"].manifests(config)
    spec = by_kind(rest, "APIService")["spec"]
    assert "insecureSkipTLSVerify" not in spec
    assert spec["caBundle"] == "YXV0aG9yaXR5"
    assert spec["service"]["port"] == 9466
    assert by_kind(rest, "Service")["spec"] == {"type": "ExternalName", "externalName": "localhost"}


def test_the_manager_keeps_upstreams_settings_but_for_where_it_listens(config: MachineConfig) -> None:
    component = ADDONS["kueue"].component(config)
    settings = yaml.safe_load(component.files[config.home / "etc/kueue.yaml"])
    assert settings["integrations"] == {"frameworks": ["batch/job"]}
    assert settings["metrics"] == {"bindAddress": "127.0.0.1:9465", "enableClusterQueueResources": True}
    assert settings["leaderElection"] == {"leaderElect": False}
    assert settings["internalCertManagement"] == {"enable": False}
    assert settings["webhook"]["host"] == "127.0.0.1"


def test_an_addon_that_rotates_its_certificates_finds_them_in_its_secret(tmp_path: Path) -> None:
    (tmp_path / "manifests").mkdir()
    webhook = next(manifest for manifest in UPSTREAM if manifest["kind"] == "MutatingWebhookConfiguration")
    (tmp_path / "manifests/training-operator.json").write_text(json.dumps([UPSTREAM[1], webhook]))
    folder = tmp_path / "pki/training-operator"
    folder.mkdir(parents=True)
    for name in ("ca.crt", "ca.key", "tls.crt", "tls.key"):
        (folder / name).write_text(name)
    spec = ClusterSpec(addons=("training-operator",))
    config = MachineConfig(name="x", home=tmp_path, binaries=tmp_path, spec=spec, privileged=False)
    _first, rest = ADDONS["training-operator"].manifests(config)
    secret = by_kind(rest, "Secret")
    assert secret["metadata"] == {"name": "training-operator-webhook-cert", "namespace": "kubeflow"}
    assert {name: b64decode(text).decode() for name, text in secret["data"].items()} == {
        name: name for name in ("ca.crt", "ca.key", "tls.crt", "tls.key")
    }
    # What the rotator will write there is what stands there.
    called = by_kind(rest, "MutatingWebhookConfiguration")["webhooks"][0]["clientConfig"]
    assert called == {"url": "https://127.0.0.1:9493/mutate-a", "caBundle": secret["data"]["ca.crt"]}
    component = ADDONS["training-operator"].component(config)
    assert "training-operator-roles" in component.needs
    assert (folder, Path("/tmp/k8s-webhook-server/serving-certs")) in component.mounts
    assert component.files == {}


def test_a_lease_that_a_killed_manager_left_is_taken_away(tmp_path: Path) -> None:
    spec = ClusterSpec(addons=("mpi-operator",))
    config = MachineConfig(name="x", home=tmp_path, binaries=tmp_path, spec=spec, privileged=False)
    component = ADDONS["mpi-operator"].component(config)
    assert component.before == ("mpi-operator-lease",)
    assert "mpi-operator-lease" in component.needs
    assert component.files == {}
    assert not any(argument.startswith("--config") for argument in component.argv)


def test_no_two_addons_share_a_port() -> None:
    ports = [
        port
        for addon in ADDONS.values()
        for port in (addon.webhook_port, addon.health_port, addon.metrics_port, addon.api_server_port)
        if port
    ]
    assert len(ports) == len(set(ports))


def test_each_addon_probes_every_kind_of_its_own_api_group() -> None:
    kinds = {probe["kind"] for addon in ADDONS.values() for probe in addon.probes}
    assert {"MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"} <= kinds
    assert {"TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"} <= kinds
    assert {"JobSet", "LeaderWorkerSet", "ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort"} <= kinds
