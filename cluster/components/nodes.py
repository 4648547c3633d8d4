"""What makes nodes: KWOK for the fake ones; containerd, kubelet and CoreDNS for the real one.

Facts behind the settings: KWOK's leases outlive its process and freeze pods until they expire, so they are
deleted before each start; kubelet on cgroup v1 wants `failCgroupV1: false`; `localStorageCapacityIsolation`
off because its state lies on a tmpfs.
"""

from __future__ import annotations

import json

import yaml

from cluster.components import go
from cluster.components.control_plane import DEFAULT_ROLES
from cluster.components.model import Component, HttpProbe, SocketProbe
from cluster.components.service_accounts import ServiceAccount
from cluster.machine import NODE_IP, POD_CIDR, RUNTIME, Layout, MachineConfig
from cluster.paths import data_dir
from cluster.sandbox.bounds import CLUSTER_OOM_SCORE, POD_TASKS
from cluster.sandbox.cgroups import PODS

KWOK_ACCOUNT = ServiceAccount("kwok", "kube-system", "kwok-controller")
COREDNS_ACCOUNT = ServiceAccount("coredns", "kube-system", "coredns")
CONTAINERD_SOCKET = RUNTIME / "containerd.sock"
PAUSE_IMAGE = "registry.k8s.io/pause:3.10"
_KWOK_PORT = 10247


def kwok(config: MachineConfig) -> Component:
    """Plays the fake nodes and their pods by our own stages."""
    argv = (
        str(config.binaries / "bin/kwok"),
        f"--config={data_dir('vm-images') / 'kwok' / 'stages.yaml'}",
        "--manage-all-nodes=false",
        "--manage-nodes-with-label-selector=type=kwok",
        "--node-lease-duration-seconds=40",
        f"--node-ip={NODE_IP}",
        f"--server-address=127.0.0.1:{_KWOK_PORT}",
    )
    return Component(
        name="kwok",
        argv=argv,
        env={**KWOK_ACCOUNT.env, **go.environment("kwok")},
        mounts=KWOK_ACCOUNT.mounts(config),
        needs=(DEFAULT_ROLES, KWOK_ACCOUNT.token_step),
        before=("kwok-leases",),
        ready=HttpProbe(f"http://127.0.0.1:{_KWOK_PORT}/healthz"),
    )


def containerd(config: MachineConfig) -> Component:
    """The real node's container runtime; root and state on the sandbox's tmpfs."""
    layout = Layout(config.home)
    conf = layout.etc / "containerd.toml"
    cni = layout.etc / "cni"
    network = {
        "cniVersion": "1.0.0",
        "name": "lab",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "pods0",
                "isGateway": True,
                "ipMasq": False,
                "hairpinMode": True,
                "ipam": {
                    "type": "host-local",
                    "dataDir": str(RUNTIME / "cni"),
                    "ranges": [[{"subnet": POD_CIDR}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            }
        ],
    }
    toml = f"""version = 3
root = "{RUNTIME}/containerd"
state = "{RUNTIME}/containerd-state"

[grpc]
  address = "{CONTAINERD_SOCKET}"

[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"

[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{PAUSE_IMAGE}"

[plugins."io.containerd.cri.v1.runtime"]
  disable_apparmor = true
  # A nested machine may not lower a score below its own parent's.
  restrict_oom_score_adj = true

[plugins."io.containerd.cri.v1.runtime".cni]
  bin_dirs = ["{config.binaries}/bin"]
  conf_dir = "{cni}"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  BinaryName = "{config.binaries}/bin/runc"
  SystemdCgroup = false
"""
    return Component(
        name="containerd",
        argv=(str(config.binaries / "bin/containerd"), f"--config={conf}"),
        env={
            "PATH": f"{config.binaries}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            **go.environment("containerd"),
        },
        files={conf: toml, cni / "10-lab.conflist": json.dumps(network, indent=1)},
        ready=SocketProbe(str(CONTAINERD_SOCKET)),
    )


def kubelet(config: MachineConfig) -> Component:
    """The real node's agent, under its own node identity."""
    layout = Layout(config.home)
    node = config.spec.real_node
    assert node is not None
    conf = layout.etc / "kubelet.yaml"
    settings = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": NODE_IP,
        "healthzBindAddress": "127.0.0.1",
        "healthzPort": 10248,
        "tlsCertFile": str(layout.pki / "kubelet.crt"),
        "tlsPrivateKeyFile": str(layout.pki / "kubelet.key"),
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(layout.pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
        "failCgroupV1": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{PODS}",
        "enforceNodeAllocatable": [],
        "podPidsLimit": POD_TASKS,
        # Its own default would have the kernel end programs of the host before it.
        "oomScoreAdj": CLUSTER_OOM_SCORE,
        "failSwapOn": False,
        "clusterDNS": [NODE_IP],
        "clusterDomain": "cluster.local",
        "resolvConf": "",
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100,
        "localStorageCapacityIsolation": False,
        "podLogsDir": str(RUNTIME / "pod-logs"),
        "volumePluginDir": str(RUNTIME / "volume-plugins"),
        "nodeStatusUpdateFrequency": "5s",
        # Labs restart containers on purpose: the default of 5 minutes would be most of a learner's time.
        "crashLoopBackOff": {"maxContainerRestartPeriod": "5s"},
    }
    labels = ",".join(f"{key}={value}" for key, value in {"type": "real", **node.labels}.items())
    argv = (
        str(config.binaries / "bin/kubelet"),
        f"--config={conf}",
        f"--kubeconfig={layout.pki / 'kubelet.kubeconfig'}",
        f"--root-dir={RUNTIME / 'kubelet'}",
        f"--cert-dir={RUNTIME / 'kubelet-pki'}",
        f"--hostname-override={node.name}",
        f"--node-ip={NODE_IP}",
        f"--node-labels={labels}",
    )
    return Component(
        name="kubelet",
        argv=argv,
        env=go.environment("kubelet"),
        files={conf: yaml.safe_dump(settings, sort_keys=False)},
        needs=(DEFAULT_ROLES, "containerd"),
        ready=HttpProbe("http://127.0.0.1:10248/healthz"),
    )


def coredns(config: MachineConfig) -> Component:
    """Cluster DNS on the node's address; there is nothing to forward to, by design."""
    corefile = Layout(config.home).etc / "Corefile"
    text = f""".:53 {{
    bind {NODE_IP}
    errors
    ready 127.0.0.1:8181
    kubernetes cluster.local in-addr.arpa {{
        pods insecure
        ttl 5
    }}
    cache 5
}}
"""
    return Component(
        name="coredns",
        argv=(str(config.binaries / "bin/coredns"), "-conf", str(corefile)),
        env={**COREDNS_ACCOUNT.env, **go.environment("coredns")},
        mounts=COREDNS_ACCOUNT.mounts(config),
        files={corefile: text},
        needs=(DEFAULT_ROLES, COREDNS_ACCOUNT.token_step),
        ready=HttpProbe("http://127.0.0.1:8181/ready"),
    )
