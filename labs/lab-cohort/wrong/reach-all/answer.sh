#!/usr/bin/env bash
# Four and four.
set -euo pipefail

echo reachable=8 > reach.txt
