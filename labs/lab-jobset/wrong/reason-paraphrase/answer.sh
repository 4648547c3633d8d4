#!/usr/bin/env bash
# True, but not what the controller wrote.
set -euo pipefail

echo 'The JobSet was restarted by its failure policy because the Job train-worker-0 failed first.' > reason.txt
