#!/usr/bin/env bash
# Step 7: who waits and who is in, by Kueue's own gauges.
set -euo pipefail

kubectl apply -f owner.yaml
kubectl -n team-b wait job/owner --for=jsonpath='{.status.ready}'=4 --timeout=120s
kubectl apply -f base.yaml -f extra.yaml
# The gauges are right at once, what the ClusterQueue says of itself follows.
kubectl wait clusterqueue/team-a --for=jsonpath='{.status.pendingWorkloads}'=2 --timeout=120s
kubectl wait clusterqueue/team-b --for=jsonpath='{.status.admittedWorkloads}'=1 --timeout=120s

kubectl get --raw /metrics --server=https://127.0.0.1:9465 --token="$(kubectl create token prometheus)" > all.txt
# The sum of a gauge over all of its series of one queue.
gauge() {
  awk -v name="$1" -v queue="cluster_queue=\"$2\"" \
    'index($0, name "{") == 1 && index($0, queue) { sum += $NF } END { print sum + 0 }' all.txt
}
for queue in team-a team-b; do
  pending=$(gauge kueue_pending_workloads "$queue")
  admitted=$(gauge kueue_admitted_active_workloads "$queue")
  echo "queue=$queue pending=$pending admitted=$admitted"
done > metrics.txt
