#!/usr/bin/env bash
# Both pods run, with a toleration of their own, and Kueue knows nothing of them.
set -euo pipefail

cat > first.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: first
  namespace: team-a
spec:
  parallelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      tolerations:
        - key: kwok.x-k8s.io/node
          operator: Exists
      containers:
        - name: main
          image: trainer
          resources:
            limits:
              nvidia.com/gpu: 1
YAML
kubectl apply -f first.yaml
kubectl wait job/first --for=jsonpath='{.status.ready}'=2 --timeout=120s
