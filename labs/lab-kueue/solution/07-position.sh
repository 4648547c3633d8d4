#!/usr/bin/env bash
# Step 7: who waits, and where, from Kueue's visibility API.
set -euo pipefail

sed -e 's/name: high/name: urgent/' -e 's/: 4$/: 2/' high.yaml > urgent.yaml
kubectl apply -f urgent.yaml
workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/job-urgent-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s

# One line of JSON; each item begins with its metadata and ends with its places.
kubectl get --raw /apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/team-a/pendingworkloads |
  sed 's/{"metadata":{"name"/\n&/g' |
  sed -n 's/^{"metadata":{"name":"\([^"]*\)".*"positionInClusterQueue":\([0-9]*\).*/workload=\1 position=\2/p' > position.txt
