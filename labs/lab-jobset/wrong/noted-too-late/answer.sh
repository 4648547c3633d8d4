#!/usr/bin/env bash
# What was there afterwards, noted as what was there before.
set -euo pipefail

leader=$(sed -n 's/^leader_after=//p' restart.txt)
sed -i -e "s/^leader_before=.*/leader_before=$leader/" -e 's/^restarts_before=.*/restarts_before=1/' restart.txt
