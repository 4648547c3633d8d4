#!/usr/bin/env bash
# Step 6: the same set with VERSION=v2 on leader and worker, rolled out group by group.
set -euo pipefail

# Name and VERSION of every pod of llm that is Ready and not on its way out.
ready_pods() {
  kubectl get pods -l leaderworkerset.sigs.k8s.io/name=llm -o jsonpath='{range .items[*]}{.metadata.name} {.spec.containers[0].env[?(@.name=="VERSION")].value} {.status.conditions[?(@.type=="Ready")].status}{.metadata.deletionTimestamp}{"\n"}{end}' |
    sed -n 's/ True$//p'
}

if ! grep -q VERSION lws.yaml; then
  sed -i 's/^\( *\)- name: engine$/&\n\1  env: [{name: VERSION, value: v2}]/' lws.yaml
fi
kubectl apply -f lws.yaml

for _ in $(seq 240); do
  if [ "$(ready_pods | grep -c ' v2$')" = 4 ]; then
    exec kubectl wait lws/llm --for=condition=Available --timeout=60s
  fi
  sleep 0.25
done
exit 1
