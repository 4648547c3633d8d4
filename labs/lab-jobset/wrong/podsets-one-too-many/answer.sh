#!/usr/bin/env bash
# The two podsets, and a sum that is none.
set -euo pipefail

echo 'podset=total count=3' >> podsets.txt
