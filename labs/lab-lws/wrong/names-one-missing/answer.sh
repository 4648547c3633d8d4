#!/usr/bin/env bash
# Three lines for four pods.
set -euo pipefail

sed -i '/^pod=llm-1-1 /d' names.txt
