#!/usr/bin/env bash
# Half an hour later it will still be so.
set -euo pipefail

sed -i 's/^verdict=.*/verdict=waits/' never.txt
