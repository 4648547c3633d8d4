#!/usr/bin/env bash
# What the scheduler says of a leader that finds no node for its own group.
set -euo pipefail

cat > partial.txt <<'TEXT'
0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't match pod anti-affinity rules. no new claims to deallocate, preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod.
TEXT
