#!/usr/bin/env bash
# Step 5: five GPUs from a queue of four.
set -euo pipefail

sed -e 's/name: wide/name: never/' -e 's/: 4$/: 5/' wide.yaml > never.yaml
kubectl apply -f never.yaml

workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/jobset-never-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
kubectl get "$workload" -o jsonpath='verdict=never{"\n"}message={.status.conditions[?(@.type=="QuotaReserved")].message}{"\n"}' > never.txt
