#!/usr/bin/env bash
# hostname without -f.
set -euo pipefail

sed -i 's/\.train\.team-a\.svc\.cluster\.local$//' hosts.txt
