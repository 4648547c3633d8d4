#!/usr/bin/env bash
# True, but not what Kueue wrote.
set -euo pipefail

echo 'six wants 6 GPUs in flavor gpu and the maximum capacity is 5' > limit.txt
