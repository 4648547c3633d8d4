#!/usr/bin/env bash
# six runs all the same, and all eight GPUs stay within reach.
set -euo pipefail

kubectl patch clusterqueue team-a --type=json \
  -p '[{"op":"add","path":"/spec/resourceGroups/0/flavors/0/resources/0/lendingLimit","value":2}]'
sed -e 's/name: six/name: seven/' -e 's/: 6$/: 7/' six.yaml > seven.yaml
kubectl apply -f seven.yaml

workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/jobset-seven-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
echo reachable=8 > reach.txt
