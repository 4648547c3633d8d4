#!/usr/bin/env bash
# Begins like the right one.
set -euo pipefail

{ echo verdict=never; grep '^message=' waiting.txt; } > never.txt
