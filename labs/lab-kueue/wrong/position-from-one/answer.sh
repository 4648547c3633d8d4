#!/usr/bin/env bash
# Everybody one place further back.
set -euo pipefail

sort -t= -k3 -n position.txt | awk '{ sub(/position=.*/, "position=" NR); print }' > shifted.txt
mv shifted.txt position.txt
