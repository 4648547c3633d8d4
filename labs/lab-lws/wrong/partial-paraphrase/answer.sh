#!/usr/bin/env bash
# True, but not what the scheduler wrote.
set -euo pipefail

echo 'The worker is Pending because the real node has no free nvidia.com/gpu and the fake nodes have a taint.' > partial.txt
