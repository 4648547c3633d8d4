#!/usr/bin/env bash
# Leader and workers are let in one without the other.
set -euo pipefail

cat > queued.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: queued-leader
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: lab
spec:
  parallelism: 1
  completions: 1
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
        - name: train
          image: busybox:stable
          imagePullPolicy: IfNotPresent
          command: [sh, -c, "trap 'exit 143' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
          resources:
            limits:
              nvidia.com/gpu: 1
---
apiVersion: batch/v1
kind: Job
metadata:
  name: queued-worker
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: lab
spec:
  parallelism: 2
  completions: 2
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers:
        - name: train
          image: busybox:stable
          imagePullPolicy: IfNotPresent
          command: [sh, -c, "trap 'exit 143' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
          resources:
            limits:
              nvidia.com/gpu: 1
YAML
kubectl apply -f queued.yaml

for _ in $(seq 240); do
  [ "$(kubectl get workloads -o jsonpath='{.items[*].metadata.name}' | wc -w)" = 2 ] && exit 0
  sleep 0.5
done
exit 1
