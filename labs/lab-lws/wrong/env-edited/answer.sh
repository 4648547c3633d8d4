#!/usr/bin/env bash
# The full name looks better, but it is not what the pod has.
set -euo pipefail

sed -i 's/^\(LWS_LEADER_ADDRESS=.*\)$/\1.svc.cluster.local/' env.txt
