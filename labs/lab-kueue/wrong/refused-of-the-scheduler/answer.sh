#!/usr/bin/env bash
# What a pod says that was created and can't be placed.
set -euo pipefail

echo '0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.' > refused.txt
