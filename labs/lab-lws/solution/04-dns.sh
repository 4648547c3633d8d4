#!/usr/bin/env bash
# Step 4: the leader's name, looked up where the worker stands.
set -euo pipefail

# Single quotes: the variable is the pod's, not this shell's. A name of a young pod may need a moment to be served.
for _ in $(seq 40); do
  # shellcheck disable=SC2016
  if kubectl exec llm-1-1 -- sh -c 'nslookup "$LWS_LEADER_ADDRESS.svc.cluster.local"' > dns.txt; then
    exit 0
  fi
  sleep 0.5
done
exit 1
