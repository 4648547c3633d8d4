#!/usr/bin/env bash
# Step 9: more GPUs than the quota of four: no pod, and the reason on the Workload.
set -euo pipefail

sed -e 's/^  name: queued$/  name: toobig/' -e "s/: 2$/: $VALUES_WORKERS/" queued.yaml > toobig.yaml
kubectl apply -f toobig.yaml

uid=$(kubectl get jobset toobig -o jsonpath='{.metadata.uid}')
kubectl wait --for=create workload -l "kueue.x-k8s.io/job-uid=$uid" --timeout=120s
kubectl wait workload -l "kueue.x-k8s.io/job-uid=$uid" --for=condition=QuotaReserved=False --timeout=120s
kubectl get workloads -l "kueue.x-k8s.io/job-uid=$uid" \
  -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].message}{"\n"}' > quota.txt
