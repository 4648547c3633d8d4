#!/usr/bin/env bash
# The UIDs of the pods that came after.
set -euo pipefail

uid() { kubectl get pod "$1" -o jsonpath='{.metadata.uid}'; }
printf 'group0_before=%s\ngroup1_before=%s\n' "$(uid llm-0)" "$(uid llm-1)" > restart.txt
