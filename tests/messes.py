"""What a learner can do to a cluster, each as a shell script for the lab's shell: reset has to cope with all of it.

Owns these scripts for the tests, which ask whether a reset works, and the benchmarks, which ask how long it takes.
Each ends only once the mess is really there, and fails where it is not.
"""

from __future__ import annotations

_UNTIL = 'until_() { local end=$((SECONDS + 60)); until "$@"; do ((SECONDS < end)) || exit 1; done; }\n'

_SCRIPTS = {
    "finalizers that never end": """
        kubectl create configmap stuck
        kubectl patch configmap stuck --type=merge -p '{"metadata":{"finalizers":["example.com/never"]}}'
        kubectl delete configmap stuck --wait=false
        kubectl get configmap stuck -o jsonpath='{.metadata.deletionTimestamp}' | grep -q T
    """,
    "deleted CRDs": """
        kubectl delete crd --all --wait=false
        gone() { ! kubectl get --raw /apis/leaderworkerset.x-k8s.io/v1 >/dev/null 2>&1; }
        until_ gone
    """,
    "a namespace stuck in Terminating": """
        kubectl create namespace stuck
        kubectl -n stuck create configmap stuck
        kubectl -n stuck patch configmap stuck --type=merge -p '{"metadata":{"finalizers":["example.com/never"]}}'
        kubectl delete namespace stuck --wait=false
        remains() { kubectl get namespace stuck -o jsonpath='{.status.conditions[?(@.type=="NamespaceFinalizersRemaining")].status}' | grep -q True; }
        until_ remains
    """,  # noqa: E501  # a jsonpath can't be broken
    "broken webhooks": """
        kubectl create -f - <<'YAML'
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: broken}
webhooks:
  - name: broken.example.com
    admissionReviewVersions: [v1]
    sideEffects: None
    failurePolicy: Fail
    timeoutSeconds: 1
    clientConfig: {url: "https://127.0.0.1:9/none"}
    rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"]}]
YAML
        refused() { ! kubectl create configmap refused 2>/dev/null; }
        until_ refused
    """,
    "deleted nodes": """
        kubectl delete nodes --all
        kubectl get nodes 2>&1 | grep -q 'gpu-a' && exit 1 || true
    """,
    "a full quota": """
        kubectl create quota full --hard=pods=0,configmaps=0,count/leaderworkersets.leaderworkerset.x-k8s.io=0
        full() { ! kubectl create configmap refused 2>/dev/null; }
        until_ full
    """,
    "a thousand pods": """
        kubectl create -f - <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: many}
spec:
  replicas: 1000
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec:
      nodeSelector: {type: kwok}
      tolerations: [{operator: Exists}]
      containers: [{name: c, image: busybox:stable}]
YAML
        many() { test "$(kubectl get pods -l app=many -o name | wc -l)" -ge 1000; }
        until_ many
    """,
    "a wiped /etc": """
        rm -rf /etc/* 2>/dev/null || true
        test -z "$(ls /etc)" || test ! -e /etc/passwd
    """,
    "nobody may do anything": """
        kubectl delete clusterrolebinding batchlab:learners
        powerless() { ! kubectl get nodes >/dev/null 2>&1; }
        until_ powerless
    """,
    "processes that hold the work folder": """
        (trap '' TERM HUP INT; exec 9>held; while :; do read -rt 60 <> <(:) || :; done) </dev/null >/dev/null 2>&1 &
        disown
        test -e held || until_ test -e held
    """,
}

MESSES = {name: "set -eo pipefail\n" + _UNTIL + script for name, script in _SCRIPTS.items()}
"""Name → bash script."""
