#!/usr/bin/env bash
# Step 5: ten pods in one rack of eight.
set -euo pipefail

sed -e 's/name: tight/name: wide/' -e 's/: 6$/: 10/' tight.yaml > wide.yaml
kubectl apply -f wide.yaml

workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/job-wide-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
kubectl get "$workload" -o jsonpath='{.status.conditions[?(@.type=="QuotaReserved")].message}{"\n"}' > wide.txt
