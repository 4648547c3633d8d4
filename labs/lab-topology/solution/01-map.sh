#!/usr/bin/env bash
# Step 1: every node with its block and its rack.
set -euo pipefail

kubectl get nodes -l example.com/rack \
  -o jsonpath='{range .items[*]}node={.metadata.name} block={.metadata.labels.example\.com/block} rack={.metadata.labels.example\.com/rack}{"\n"}{end}' > racks.txt
