#!/usr/bin/env bash
# Kueue counts quota and does not look at taints that the flavor does not name: the pods stay Pending.
set -euo pipefail

kubectl patch resourceflavor gpu --type=json -p '[{"op":"remove","path":"/spec/tolerations"}]'
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
kubectl wait job/first --for=jsonpath='{.status.active}'=2 --timeout=120s
kubectl wait pod -l job-name=first --for=condition=PodScheduled=False --timeout=120s
