#!/usr/bin/env bash
# Right in itself, but it is the other end that a worker has to find.
set -euo pipefail

kubectl exec job/train-worker-0 -- nslookup train-worker-0-0.train.team-a.svc.cluster.local > dns.txt
