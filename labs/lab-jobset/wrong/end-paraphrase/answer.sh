#!/usr/bin/env bash
# True, but not what the set says.
set -euo pipefail

echo 'fragile failed because it reached its maximum of one restart.' > end.txt
