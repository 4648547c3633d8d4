#!/usr/bin/env bash
# One Job for each role; a podset counts its pods.
set -euo pipefail

sed -i 's/count=2$/count=1/' podsets.txt
