#!/usr/bin/env bash
# The same words, another number.
set -euo pipefail

sed -i 's/(5)/(4)/' limit.txt
