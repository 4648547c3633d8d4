#!/usr/bin/env bash
# Step 4: what the controller said when it started the set again.
set -euo pipefail

of=involvedObject.kind=JobSet,involvedObject.name=train,reason=RestartJobSetFailurePolicyAction
for _ in $(seq 240); do
  kubectl get events --field-selector "$of" -o jsonpath='{range .items[*]}{.message}{"\n"}{end}' > reason.txt
  [ -s reason.txt ] && exit 0
  sleep 0.5
done
exit 1
