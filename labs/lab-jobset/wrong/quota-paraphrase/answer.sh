#!/usr/bin/env bash
# True, but not what Kueue wrote.
set -euo pipefail

echo "toobig wants $((VALUES_WORKERS + 1)) GPUs and the quota of the queue is 4." > quota.txt
