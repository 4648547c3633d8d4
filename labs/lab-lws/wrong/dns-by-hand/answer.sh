#!/usr/bin/env bash
# The IP that kubectl shows, without asking DNS at all.
set -euo pipefail

kubectl get pod llm-1 -o jsonpath='{.status.podIP}{"\n"}' > dns.txt
