#!/usr/bin/env bash
# Step 3: four of one's own and two that are lent.
set -euo pipefail

kubectl patch clusterqueue team-b --type=json \
  -p '[{"op":"add","path":"/spec/resourceGroups/0/flavors/0/resources/0/lendingLimit","value":2}]'
kubectl patch clusterqueue team-a --type=json \
  -p '[{"op":"remove","path":"/spec/resourceGroups/0/flavors/0/resources/0/borrowingLimit"}]'

workload=$(kubectl get workloads -o name | grep '/jobset-six-')
kubectl wait "$workload" --for=condition=Admitted --timeout=120s

sed -e 's/name: six/name: seven/' -e 's/: 6$/: 7/' six.yaml > seven.yaml
kubectl apply -f seven.yaml
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/jobset-seven-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
kubectl get "$workload" -o jsonpath='{.status.conditions[?(@.type=="QuotaReserved")].message}' |
  sed 's/.*maximum capacity (\([0-9]*\)).*/reachable=\1\n/' > reach.txt
