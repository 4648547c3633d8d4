#!/usr/bin/env bash
# v2 everywhere, but both groups were down at once and the set is another one.
set -euo pipefail

kubectl delete -f lws.yaml
kubectl wait pod,statefulset -l leaderworkerset.sigs.k8s.io/name=llm --for=delete --timeout=60s
sed -i 's/^\( *\)- name: engine$/&\n\1  env: [{name: VERSION, value: v2}]/' lws.yaml
kubectl apply -f lws.yaml

kubectl wait lws/llm --for=condition=Available --timeout=60s
kubectl wait pod -l leaderworkerset.sigs.k8s.io/name=llm --for=condition=Ready --timeout=60s
