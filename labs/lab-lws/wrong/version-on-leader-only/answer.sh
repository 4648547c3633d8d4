#!/usr/bin/env bash
# The first container of the file is the leader's: the worker's template stays as it was.
set -euo pipefail

# Name and revision of every pod of llm that is Ready and not on its way out.
ready_pods() {
  kubectl get pods -l leaderworkerset.sigs.k8s.io/name=llm -o jsonpath='{range .items[*]}{.metadata.name} {.metadata.labels.leaderworkerset\.sigs\.k8s\.io/template-revision-hash} {.status.conditions[?(@.type=="Ready")].status}{.metadata.deletionTimestamp}{"\n"}{end}' |
    sed -n 's/ True$//p'
}

old=$(kubectl get pod llm-0 -o jsonpath='{.metadata.labels.leaderworkerset\.sigs\.k8s\.io/template-revision-hash}')
sed -i '0,/- name: engine$/s/^\( *\)- name: engine$/&\n\1  env: [{name: VERSION, value: v2}]/' lws.yaml
kubectl apply -f lws.yaml

for _ in $(seq 240); do
  now=$(ready_pods)
  case $now in
    *" $old"*) ;;
    *)
      if [ "$(wc -l <<< "$now")" -eq 4 ]; then
        exec kubectl wait lws/llm --for=condition=Available --timeout=60s
      fi
      ;;
  esac
  sleep 0.25
done
exit 1
