"""Identities: names, groups, who vouches for whom, and that keys are private."""

from __future__ import annotations

import datetime
import ssl
import stat
from base64 import b64decode
from pathlib import Path

import pytest
import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID

from cluster.machine import Layout, MachineConfig
from cluster.pki import write_pki
from cluster.spec import ClusterSpec, NodeSpec


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    home = tmp_path_factory.mktemp("home")
    spec = ClusterSpec(nodes=(NodeSpec(name="lab", real=True, gpus=4),))
    config = MachineConfig(name="lab-x", home=home, binaries=home, spec=spec, namespace="infer", privileged=True)
    write_pki(config, {"lws": ("127.0.0.1",)})
    return Layout(home)


def certificate(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def user_of(path: Path) -> tuple[str, list[str]]:
    config = yaml.safe_load(path.read_text())
    pem = b64decode(config["users"][0]["user"]["client-certificate-data"])
    subject = x509.load_pem_x509_certificate(pem).subject
    names = [str(a.value) for a in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = [str(a.value) for a in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    return names[0], groups


@pytest.mark.parametrize(
    ("kubeconfig", "user", "groups"),
    [
        ("kubeconfig", "learner", ["batchlab:learners"]),
        ("grader.kubeconfig", "grader", ["batchlab:graders"]),
        ("pki/controller-manager.kubeconfig", "system:kube-controller-manager", []),
        ("pki/scheduler.kubeconfig", "system:kube-scheduler", []),
        ("pki/kubelet.kubeconfig", "system:node:lab", ["system:nodes"]),
    ],
)
def test_each_identity_is_its_own(layout: Layout, kubeconfig: str, user: str, groups: list[str]) -> None:
    assert user_of(layout.home / kubeconfig) == (user, groups)


def test_learner_begins_in_the_labs_namespace(layout: Layout) -> None:
    context = yaml.safe_load(layout.kubeconfig.read_text())["contexts"][0]["context"]
    assert context["namespace"] == "infer"


def test_etcd_trusts_only_its_own_authority(layout: Layout) -> None:
    etcd_ca = certificate(layout.pki / "etcd-ca.crt")
    client = certificate(layout.pki / "apiserver-etcd-client.crt")
    client.verify_directly_issued_by(etcd_ca)
    with pytest.raises(ValueError, match=r"[Ii]ssuer"):
        certificate(layout.pki / "apiserver.crt").verify_directly_issued_by(etcd_ca)


def test_no_key_is_readable_by_others(layout: Layout) -> None:
    keys = [path for path in layout.home.rglob("*") if path.is_file()]
    assert len(keys) > 15
    assert {stat.S_IMODE(path.stat().st_mode) for path in keys} == {0o600}


def test_serving_certificates_load_and_name_their_hosts(layout: Layout) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(layout.pki / "lws/tls.crt", layout.pki / "lws/tls.key")
    names = certificate(layout.pki / "lws/tls.crt").extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert [str(ip) for ip in names.value.get_values_for_type(x509.IPAddress)] == ["127.0.0.1"]


def test_authority_keys_are_never_written(layout: Layout) -> None:
    assert not list(layout.home.rglob("*ca.key"))


def test_a_learner_trusts_the_api_server_and_the_add_ons_others_only_the_former(layout: Layout) -> None:
    def trusted(kubeconfig: Path) -> list[x509.Certificate]:
        cluster = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]
        return x509.load_pem_x509_certificates(b64decode(cluster["certificate-authority-data"]))

    api_server, add_on = (certificate(layout.pki / path) for path in ("apiserver.crt", "lws/tls.crt"))
    first, second = trusted(layout.kubeconfig)
    api_server.verify_directly_issued_by(first)
    add_on.verify_directly_issued_by(second)
    assert trusted(layout.grader_kubeconfig) == [first]


def test_an_addon_that_rotates_its_certificates_gets_an_authority_that_it_can_read(tmp_path: Path) -> None:
    """As open-policy-agent/cert-controller looks at it: anything else it replaces, by what nobody else trusts."""
    config = MachineConfig(name="x", home=tmp_path, binaries=tmp_path, spec=ClusterSpec(), privileged=False)
    names = ("training-operator.kubeflow.svc", "127.0.0.1")
    write_pki(config, {"jobset": ("127.0.0.1",), "rotates": names}, {"rotates": "rotates-ca"})
    folder = tmp_path / "pki" / "rotates"
    authority = certificate(folder / "ca.crt")
    alternative = authority.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert alternative.get_values_for_type(x509.DNSName) == ["rotates-ca"]
    assert (folder / "ca.key").read_text().startswith("-----BEGIN RSA PRIVATE KEY-----")
    assert stat.S_IMODE((folder / "ca.key").stat().st_mode) == 0o600
    serving = certificate(folder / "tls.crt")
    serving.verify_directly_issued_by(authority)
    in_three_months = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=91)
    assert min(authority.not_valid_after_utc, serving.not_valid_after_utc) > in_three_months
    common = certificate(tmp_path / "pki/webhook-ca.crt")
    assert certificate(tmp_path / "pki/jobset/ca.crt") == common != authority
    assert not (tmp_path / "pki/jobset/ca.key").exists()
