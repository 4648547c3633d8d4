#!/usr/bin/env bash
# What Kueue says while others hold the quota.
set -euo pipefail

echo "couldn't assign flavors to pod set worker: insufficient unused quota for nvidia.com/gpu in flavor gpu, 2 more needed" > quota.txt
