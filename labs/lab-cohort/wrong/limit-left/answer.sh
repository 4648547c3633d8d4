#!/usr/bin/env bash
# Both limits hold; the smaller one decides.
set -euo pipefail

kubectl patch clusterqueue team-b --type=json \
  -p '[{"op":"add","path":"/spec/resourceGroups/0/flavors/0/resources/0/lendingLimit","value":2}]'
sed -e 's/name: six/name: seven/' -e 's/: 6$/: 7/' six.yaml > seven.yaml
kubectl apply -f seven.yaml

workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/jobset-seven-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
echo reachable=6 > reach.txt
