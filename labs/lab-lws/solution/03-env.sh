#!/usr/bin/env bash
# Step 3: what LWS tells a worker about its group.
set -euo pipefail

kubectl exec llm-1-1 -- env | grep '^LWS_' > env.txt
