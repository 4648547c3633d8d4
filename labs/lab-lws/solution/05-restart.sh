#!/usr/bin/env bash
# Step 5: note the leaders' UIDs, make a worker of group 0 fail, wait until that group is a new one.
set -euo pipefail

uid() { kubectl get pod "$1" -o jsonpath='{.metadata.uid}'; }

# Name and UID of every pod of llm that is Ready and not on its way out.
ready_pods() {
  kubectl get pods -l leaderworkerset.sigs.k8s.io/name=llm -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.uid} {.status.conditions[?(@.type=="Ready")].status}{.metadata.deletionTimestamp}{"\n"}{end}' |
    sed -n 's/ True$//p'
}

leader=$(uid llm-0)
worker=$(uid llm-0-1)
printf 'group0_before=%s\ngroup1_before=%s\n' "$leader" "$(uid llm-1)" > restart.txt

kubectl exec llm-0-1 -- touch /tmp/fail

for _ in $(seq 240); do
  now=$(ready_pods)
  case $now in
    *"$leader"* | *"$worker"*) ;;
    *) [ "$(wc -l <<< "$now")" -eq 4 ] && exit 0 ;;
  esac
  sleep 0.25
done
exit 1
