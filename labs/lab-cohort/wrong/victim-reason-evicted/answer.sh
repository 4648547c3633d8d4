#!/usr/bin/env bash
# Every preempted Workload has this one.
set -euo pipefail

sed -i 's/^reason=.*/reason=Preempted/' victim.txt
