#!/usr/bin/env bash
# True, but not what Kueue wrote.
set -euo pipefail

echo 'toobig wants 5 GPUs and the quota of the queue is 4.' > quota.txt
