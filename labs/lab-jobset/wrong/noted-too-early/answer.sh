#!/usr/bin/env bash
# Noted while the old leader was still there.
set -euo pipefail

leader=$(sed -n 's/^leader_before=//p' restart.txt)
sed -i -e "s/^leader_after=.*/leader_after=$leader/" -e 's/^restarts_after=.*/restarts_after=0/' restart.txt
