#!/usr/bin/env bash
# It was a worker that failed, not the leader.
set -euo pipefail

sed -i 's/train-worker-0/train-leader-0/' reason.txt
