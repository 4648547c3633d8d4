#!/usr/bin/env bash
# The count is right; that the leader has done nothing wrong does not keep it.
set -euo pipefail

leader=$(sed -n 's/^leader_before=//p' restart.txt)
sed -i "s/^leader_after=.*/leader_after=$leader/" restart.txt
