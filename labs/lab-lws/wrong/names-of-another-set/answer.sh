#!/usr/bin/env bash
# The same groups and numbers, read from the pods of another set.
set -euo pipefail

sed -i 's/^pod=llm-/pod=wide-/' names.txt
