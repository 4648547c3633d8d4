#!/usr/bin/env bash
# Group 0 is new, and so is group 1: nothing was learnt about one group.
set -euo pipefail

uid() { kubectl get pod "$1" -o jsonpath='{.metadata.uid}'; }
printf 'group0_before=%s\ngroup1_before=%s\n' "$(uid llm-0)" "$(uid llm-1)" > restart.txt

kubectl delete -f lws.yaml
kubectl wait pod,statefulset -l leaderworkerset.sigs.k8s.io/name=llm --for=delete --timeout=60s
kubectl apply -f lws.yaml

kubectl wait lws/llm --for=condition=Available --timeout=60s
kubectl wait pod -l leaderworkerset.sigs.k8s.io/name=llm --for=condition=Ready --timeout=60s
