#!/usr/bin/env bash
# True, but not what the cluster said.
set -euo pipefail

echo 'The pods of gang are forbidden because the quota gpus of four GPUs is exceeded.' > refused.txt
