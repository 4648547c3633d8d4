#!/usr/bin/env bash
# The ClusterQueue was made by hand and is not in the file.
set -euo pipefail

cat > queues.yaml <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: queue
  namespace: team-a
spec:
  clusterQueue: team-a
YAML
