#!/usr/bin/env bash
# Step 3: two GPUs through the queue.
set -euo pipefail

cat > first.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: first
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: trainer
          resources:
            limits:
              nvidia.com/gpu: 1
YAML
kubectl apply -f first.yaml
kubectl wait job/first --for=jsonpath='{.status.ready}'=2 --timeout=120s
