#!/usr/bin/env bash
# Step 2: the name of each pod, and the leader looked up where a worker stands.
set -euo pipefail

for pod in $(kubectl get pods -l jobset.sigs.k8s.io/jobset-name=train -o jsonpath='{.items[*].metadata.name}'); do
  echo "pod=$pod fqdn=$(kubectl exec "$pod" -- hostname -f)"
done > hosts.txt

# A name of a young pod may need a moment to be served.
for _ in $(seq 60); do
  if kubectl exec job/train-worker-0 -- nslookup train-leader-0-0.train.team-a.svc.cluster.local > dns.txt; then
    exit 0
  fi
  sleep 0.5
done
exit 1
