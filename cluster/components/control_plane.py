"""etcd, kube-apiserver, kube-controller-manager, kube-scheduler.

Flags follow kubeadm's where a lab can see the difference (admission, authorization, identities) and differ
where a throw-away cluster should be quick: no fsync, no leader election, everything on loopback.
"""

from __future__ import annotations

from cluster.components import go
from cluster.components.model import Component, HttpProbe
from cluster.machine import API_PORT, API_SERVER, NODE_IP, RUNTIME, SERVICE_CIDR, Layout, MachineConfig

ETCD_URL = "https://127.0.0.1:2379"
# kube-apiserver opens a connection for each kind it stores. Over TLS the sixty handshakes take half a second of
# processor, and each end of a connection keeps its buffers. Nobody but the sandbox's root gets at the socket.
_ETCD_SOCKET = f"unix://{RUNTIME}/etcd.sock"
ETCD_METRICS = "http://127.0.0.1:2381"
DATASTORE = "datastore"
DEFAULT_ROLES = "default-roles"
API_HEALTH = "api-health"
CONTROLLERS = "kube-controller-manager"
_BUT_FOR_ROLES = (
    "?exclude=poststarthook/rbac/bootstrap-roles&exclude=poststarthook/scheduling/bootstrap-system-priority-classes"
)
# With client-go's 20 requests a second kube-controller-manager takes 4.5 s to build its controllers, and until then
# no namespace has a service account, so no pod can be made.
_CLIENT_RATE = ("--kube-api-qps=500", "--kube-api-burst=1000")
_POD_SUPERNET = "10.244.0.0/16"


def etcd(config: MachineConfig) -> Component:
    """The datastore, readable through a socket of the sandbox's root, or with the API server's certificate."""
    layout = Layout(config.home)
    pki = layout.pki
    argv = (
        str(config.binaries / "bin/etcd"),
        "--name=lab",
        f"--data-dir={layout.etcd}",
        f"--listen-client-urls={ETCD_URL},{_ETCD_SOCKET}",
        f"--advertise-client-urls={ETCD_URL}",
        "--listen-peer-urls=https://127.0.0.1:2380",
        "--initial-advertise-peer-urls=https://127.0.0.1:2380",
        "--initial-cluster=lab=https://127.0.0.1:2380",
        f"--listen-metrics-urls={ETCD_METRICS}",
        "--client-cert-auth",
        f"--trusted-ca-file={pki}/etcd-ca.crt",
        f"--cert-file={pki}/etcd.crt",
        f"--key-file={pki}/etcd.key",
        "--peer-client-cert-auth",
        f"--peer-trusted-ca-file={pki}/etcd-ca.crt",
        f"--peer-cert-file={pki}/etcd.crt",
        f"--peer-key-file={pki}/etcd.key",
        # Nothing here has to survive the machine; an fsync per write is most of etcd's time on slow disks.
        "--unsafe-no-fsync",
        # A member on its own elects itself after up to one election timeout, a second by default; shorter ticks than
        # these are felt when idle.
        "--heartbeat-interval=50",
        "--election-timeout=250",
        # Of the log of writes it keeps the last five thousand in memory for a member that fell behind. There is none.
        "--snapshot-catchup-entries=100",
        "--log-level=warn",
    )
    return Component(name="etcd", argv=argv, env=go.environment("etcd"), ready=HttpProbe(f"{ETCD_METRICS}/readyz"))


def kube_apiserver(config: MachineConfig) -> Component:
    """The API, on the sandbox's loopback."""
    layout = Layout(config.home)
    pki = layout.pki
    argv = (
        str(config.binaries / "bin/kube-apiserver"),
        "--bind-address=127.0.0.1",
        f"--secure-port={API_PORT}",
        # What Endpoints of Service kubernetes say; a loopback address is refused there.
        f"--advertise-address={NODE_IP}",
        f"--etcd-servers={_ETCD_SOCKET}",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        f"--client-ca-file={pki}/ca.crt",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki}/sa.pub",
        f"--service-account-signing-key-file={pki}/sa.key",
        "--kubelet-preferred-address-types=InternalIP,Hostname",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        f"--kubelet-client-certificate={pki}/apiserver-kubelet-client.crt",
        f"--kubelet-client-key={pki}/apiserver-kubelet-client.key",
        f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={pki}/front-proxy-client.crt",
        f"--proxy-client-key-file={pki}/front-proxy-client.key",
        # Not `--profiling=false`: `cluster.supervisor.settling` asks for a collection there.
    )
    return Component(
        name="kube-apiserver",
        argv=argv,
        env=go.environment("kube-apiserver"),
        needs=(DATASTORE if config.warm else "etcd",),
        watches_files=False,  # six times, its certificates
        # The API is of use to us (system:masters) 1.5 s before its default roles are there; whoever needs those
        # waits for the step `default-roles`.
        ready=HttpProbe(f"{API_SERVER}/readyz{_BUT_FOR_ROLES}", identity=layout.admin_kubeconfig),
    )


def kube_controller_manager(config: MachineConfig) -> Component:
    """Jobs, StatefulSets, garbage collection …, each controller as its own service account."""
    pki = Layout(config.home).pki
    kubeconfig = pki / "controller-manager.kubeconfig"
    argv = (
        str(config.binaries / "bin/kube-controller-manager"),
        "--bind-address=127.0.0.1",
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={pki}/sa.key",
        f"--root-ca-file={pki}/ca.crt",
        f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        "--allocate-node-cidrs=true",
        f"--cluster-cidr={_POD_SUPERNET}",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        *_CLIENT_RATE,
        "--profiling=false",
    )
    return Component(
        name=CONTROLLERS,
        argv=argv,
        env=go.environment("kube-controller-manager"),
        # It asks for /healthz once a second, and does nothing before that is well: also where the roles are restored,
        # the API server says so only a second after it began to serve.
        needs=(API_HEALTH,),
        watches_files=False,
        ready=HttpProbe("https://127.0.0.1:10257/healthz", insecure=True),
    )


def kube_scheduler(config: MachineConfig) -> Component:
    """The default scheduler, one profile."""
    kubeconfig = Layout(config.home).pki / "scheduler.kubeconfig"
    argv = (
        str(config.binaries / "bin/kube-scheduler"),
        "--bind-address=127.0.0.1",
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--leader-elect=false",
        *_CLIENT_RATE,
        "--profiling=false",
    )
    return Component(
        name="kube-scheduler",
        argv=argv,
        env=go.environment("kube-scheduler"),
        needs=(DEFAULT_ROLES,),
        ready=HttpProbe("https://127.0.0.1:10259/healthz", insecure=True),
    )
