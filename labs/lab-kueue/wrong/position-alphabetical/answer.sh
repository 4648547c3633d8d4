#!/usr/bin/env bash
# As kubectl get workloads lists them.
set -euo pipefail

sed 's/ position=.*//' position.txt | sort | awk '{ print $0 " position=" NR - 1 }' > sorted.txt
mv sorted.txt position.txt
