#!/usr/bin/env bash
# The leader and one worker.
set -euo pipefail

sed -i '$d' hosts.txt
