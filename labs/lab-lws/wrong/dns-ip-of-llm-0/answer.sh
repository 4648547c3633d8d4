#!/usr/bin/env bash
# The answer for llm-1, with the address of llm-0 put in.
set -euo pipefail

right=$(kubectl get pod llm-1 -o jsonpath='{.status.podIP}')
wrong=$(kubectl get pod llm-0 -o jsonpath='{.status.podIP}')
printf 'Name:\tllm-1.llm.infer.svc.cluster.local\nAddress: %s\n' "$wrong" > dns.txt
[ "$right" != "$wrong" ]
