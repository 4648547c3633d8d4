#!/usr/bin/env bash
# The account lets the probe in, and no node takes its pod.
set -euo pipefail

cat > queues.yaml <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: gpu
spec:
  nodeLabels:
    type: kwok
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: team-a
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors:
        - name: gpu
          resources:
            - name: nvidia.com/gpu
              nominalQuota: 4
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: queue
  namespace: team-a
spec:
  clusterQueue: team-a
YAML
kubectl apply -f queues.yaml
kubectl wait clusterqueue/team-a --for=condition=Active --timeout=120s
kubectl wait localqueue/queue --for=condition=Active --timeout=120s

cat > probe.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: probe
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
spec:
  template:
    metadata:
      annotations:
        batchlab/run-for: 2s
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: trainer
          resources:
            limits:
              nvidia.com/gpu: 1
YAML
kubectl apply -f probe.yaml

kubectl wait job/probe --for=jsonpath='{.status.active}'=1 --timeout=120s
kubectl wait pod -l job-name=probe --for=condition=PodScheduled=False --timeout=120s
