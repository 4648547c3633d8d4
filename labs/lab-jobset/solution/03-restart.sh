#!/usr/bin/env bash
# Step 3: note what is, make a worker fail, wait until all pods are new ones, note what is then.
set -euo pipefail

leader() {
  kubectl get pods -l jobset.sigs.k8s.io/jobset-name=train,jobset.sigs.k8s.io/replicatedjob-name=leader \
    --field-selector status.phase=Running -o jsonpath='{.items[*].metadata.uid}'
}
restarts() { kubectl get jobset train -o jsonpath='{.status.restarts}'; }

# How many pods of one attempt are Ready and not on their way out.
ready_pods() {
  kubectl get pods -l "jobset.sigs.k8s.io/jobset-name=train,jobset.sigs.k8s.io/restart-attempt=$1" \
    -o jsonpath='{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{.metadata.deletionTimestamp}{"\n"}{end}' |
    grep -c '^True$'
}

before=$(restarts)
printf 'leader_before=%s\nrestarts_before=%s\n' "$(leader)" "$before" > restart.txt

kubectl exec job/train-worker-0 -- touch /tmp/fail

for _ in $(seq 300); do
  if [ "$(restarts)" = $((before + 1)) ] && [ "$(ready_pods $((before + 1)))" = 3 ]; then
    printf 'leader_after=%s\nrestarts_after=%s\n' "$(leader)" "$(restarts)" >> restart.txt
    exit 0
  fi
  sleep 0.25
done
exit 1
