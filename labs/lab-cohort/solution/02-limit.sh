#!/usr/bin/env bash
# Step 2: one GPU may be borrowed, two are wanted.
set -euo pipefail

kubectl patch clusterqueue team-a --type=json \
  -p '[{"op":"add","path":"/spec/resourceGroups/0/flavors/0/resources/0/borrowingLimit","value":1}]'

kubectl delete -f six.yaml
for _ in $(seq 240); do
  [ -z "$(kubectl get workloads -o name)" ] && break
  sleep 0.5
done
kubectl apply -f six.yaml

# The Workload's name ends with five characters nobody knows beforehand.
workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/jobset-six-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
kubectl get "$workload" -o jsonpath='{.status.conditions[?(@.type=="QuotaReserved")].message}{"\n"}' > limit.txt
