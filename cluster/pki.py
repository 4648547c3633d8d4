"""Certificates and kubeconfigs: one identity for each component, as in a real cluster.

Owns which authority vouches for whom (common name = user, organisation = group); the names are in
`cluster.identities`, roles are bound to them in `cluster.bootstrap`. Only whoever starts a machine imports this:
the supervisor has no use for a cryptography library. Source: Kubernetes "PKI certificates and requirements".
"""

from __future__ import annotations

import datetime
import ipaddress
from base64 import b64encode
from dataclasses import dataclass

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from cluster.identities import (
    GRADER,
    GRADERS,
    KUBELET_CLIENT,
    LEARNER,
    LEARNERS,
    SCRIPT,
    SCRIPTS,
    SUPERVISOR,
    WEBHOOK_CA,
)
from cluster.machine import API_SERVER, NODE_IP, Layout, MachineConfig, write_private

_Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey

LIFETIME = datetime.timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority that lives in memory; only its certificate is written."""

    certificate: x509.Certificate
    key: _Key

    @classmethod
    def new(cls, name: str) -> Authority:
        """A self-signed authority."""
        return cls._signed(name, ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def of_rotation(cls, name: str) -> Authority:
        """One as open-policy-agent/cert-controller wants it: with an RSA key, and `name` as a DNS name too."""
        return cls._signed(name, rsa.generate_private_key(65537, 2048), (name,))

    @classmethod
    def _signed(cls, name: str, key: _Key, hosts: tuple[str, ...] = ()) -> Authority:
        subject = _subject(name)
        builder = _builder(subject, subject, key).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName([_alt(h) for h in hosts]), critical=False)
        return cls(builder.sign(key, hashes.SHA256()), key)

    @property
    def pem(self) -> bytes:
        """The certificate."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def issue(self, user: str, group: str = "", hosts: tuple[str, ...] = ()) -> tuple[bytes, bytes]:
        """(certificate, key) as PEM. With `hosts` it can serve, too."""
        key = ec.generate_private_key(ec.SECP256R1())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH]
        builder = _builder(_subject(user, group), self.certificate.subject, key)
        if hosts:
            usages.append(ExtendedKeyUsageOID.SERVER_AUTH)
            builder = builder.add_extension(x509.SubjectAlternativeName([_alt(h) for h in hosts]), critical=False)
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        certificate = builder.sign(self.key, hashes.SHA256())
        return certificate.public_bytes(serialization.Encoding.PEM), _key_pem(key)


def write_pki(
    config: MachineConfig,
    webhook_hosts: dict[str, tuple[str, ...]],
    own_authorities: dict[str, str] | None = None,
    kept: dict[str, str] | None = None,
) -> None:
    """Make every key, certificate and kubeconfig of one machine below its session folder.

    `webhook_hosts`: add-on name → the names its webhook (and aggregated API) server is called by. `own_authorities`:
    those add-ons that want an authority to themselves, with its name; its key is written too. `kept`: the files of an
    earlier machine's webhooks (path below `pki` → PEM), since this one will have its objects.
    """
    layout = Layout(config.home)
    pki = layout.pki
    pki.mkdir(mode=0o700, parents=True, exist_ok=True)
    cluster, etcd, proxy = (Authority.new(f"batchlab-{name}") for name in ("cluster", "etcd", "front-proxy"))
    for name, authority in (("ca", cluster), ("etcd-ca", etcd), ("front-proxy-ca", proxy)):
        write_private(pki / f"{name}.crt", authority.pem)

    def leaf(
        name: str, authority: Authority, user: str, group: str = "", hosts: tuple[str, ...] = ()
    ) -> tuple[bytes, bytes]:
        certificate, key = authority.issue(user, group, hosts)
        write_private(pki / f"{name}.crt", certificate)
        write_private(pki / f"{name}.key", key)
        return certificate, key

    api_hosts = ("127.0.0.1", NODE_IP, "10.96.0.1", "localhost", "kubernetes", "kubernetes.default.svc")
    leaf("apiserver", cluster, "kube-apiserver", hosts=api_hosts)
    leaf("apiserver-kubelet-client", cluster, KUBELET_CLIENT)
    leaf("apiserver-etcd-client", etcd, "kube-apiserver-etcd-client")
    leaf("etcd", etcd, "etcd", hosts=("127.0.0.1", "localhost"))
    leaf("front-proxy-client", proxy, "front-proxy-client")
    for file, content in (_new_webhook_keys(webhook_hosts, own_authorities or {}) if kept is None else kept).items():
        (pki / file).parent.mkdir(mode=0o700, exist_ok=True)
        write_private(pki / file, content)
    signer = ec.generate_private_key(ec.SECP256R1())
    write_private(pki / "sa.key", _key_pem(signer))
    write_private(
        pki / "sa.pub",
        signer.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
    )
    people = {
        layout.admin_kubeconfig: (SUPERVISOR, "system:masters", "default"),
        pki / "controller-manager.kubeconfig": ("system:kube-controller-manager", "", "default"),
        pki / "scheduler.kubeconfig": ("system:kube-scheduler", "", "default"),
        layout.kubeconfig: (LEARNER, LEARNERS, config.namespace),
        layout.grader_kubeconfig: (GRADER, GRADERS, config.namespace),
        layout.scripts_kubeconfig: (SCRIPT, SCRIPTS, config.namespace),
    }
    if node := config.spec.real_node:
        leaf("kubelet", cluster, f"system:node:{node.name}", "system:nodes", hosts=(node.name, NODE_IP))
        people[pki / "kubelet.kubeconfig"] = (f"system:node:{node.name}", "system:nodes", "default")
    # A learner may ask an add-on's manager directly, for its metrics for one, and those have their own authority.
    trusted = {layout.kubeconfig: cluster.pem + (pki / WEBHOOK_CA).read_bytes()}
    for path, (user, group, namespace) in people.items():
        certificate, key = cluster.issue(user, group)
        authorities = trusted.get(path, cluster.pem)
        write_private(path, _kubeconfig(config.name, user, namespace, authorities, certificate, key))


def _new_webhook_keys(hosts: dict[str, tuple[str, ...]], own: dict[str, str]) -> dict[str, str]:
    common = Authority.new("batchlab-webhooks")
    files = {WEBHOOK_CA: common.pem.decode()}
    for name, names in hosts.items():
        authority = common
        if name in own:
            authority = Authority.of_rotation(own[name])
            files[f"{name}/ca.key"] = authority.key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.TraditionalOpenSSL,  # PKCS #1, the only one it reads
                serialization.NoEncryption(),
            ).decode()
        certificate, key = authority.issue(name, hosts=names)
        files |= {
            f"{name}/tls.crt": certificate.decode(),
            f"{name}/tls.key": key.decode(),
            f"{name}/ca.crt": authority.pem.decode(),
        }
    return files


def _kubeconfig(name: str, user: str, namespace: str, authority: bytes, certificate: bytes, key: bytes) -> str:
    def inline(pem: bytes) -> str:
        return b64encode(pem).decode()

    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [
                {
                    "name": name,
                    "cluster": {"server": API_SERVER, "certificate-authority-data": inline(authority)},
                }
            ],
            "users": [
                {
                    "name": user,
                    "user": {
                        "client-certificate-data": inline(certificate),
                        "client-key-data": inline(key),
                    },
                }
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": user, "namespace": namespace}}],
        }
    )


def _subject(user: str, group: str = "") -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
    if group:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(attributes)


def _builder(subject: x509.Name, issuer: x509.Name, key: _Key) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # A little in the past: a machine whose clock steps back by a minute still accepts it.
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
    )


def _alt(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
