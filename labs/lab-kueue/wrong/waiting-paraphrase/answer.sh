#!/usr/bin/env bash
# The sense of it, not the words.
set -euo pipefail

sed -i 's/^message=.*/message=two more GPUs are needed in the flavor gpu/' waiting.txt
