#!/usr/bin/env bash
# All four pods, one of them twice.
set -euo pipefail

sed -i '/^pod=llm-0-1 /p' names.txt
