#!/usr/bin/env bash
# Step 2: who is who, read from the labels of the pods.
set -euo pipefail

group='{.metadata.labels.leaderworkerset\.sigs\.k8s\.io/group-index}'
worker='{.metadata.labels.leaderworkerset\.sigs\.k8s\.io/worker-index}'
kubectl get pods -l leaderworkerset.sigs.k8s.io/name=llm \
  -o jsonpath="{range .items[*]}pod={.metadata.name} group=$group worker=$worker{\"\\n\"}{end}" > names.txt
