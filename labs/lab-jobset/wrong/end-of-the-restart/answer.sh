#!/usr/bin/env bash
# The event of the first failure, which did not end anything.
set -euo pipefail

echo 'applying RestartJobSet failure policy action (first failed job: fragile-worker-0)' > end.txt
