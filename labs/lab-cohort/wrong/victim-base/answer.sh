#!/usr/bin/env bash
# The older and bigger one.
set -euo pipefail

base=$(kubectl get workloads -o name | grep '/job-base-')
sed -i "s/^workload=.*/workload=${base#*/}/" victim.txt
