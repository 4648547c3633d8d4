#!/usr/bin/env bash
# What kubectl shows, with its random end, made into a name that nobody can look up.
set -euo pipefail

sed -i 's/^pod=\([^ ]*\) .*/pod=\1 fqdn=\1.train.team-a.svc.cluster.local/' hosts.txt
