#!/usr/bin/env bash
# Right label, room enough, and never let in: the ClusterQueue covers GPUs only.
set -euo pipefail

cat > queued.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: queued
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: lab
spec:
  failurePolicy:
    maxRestarts: 3
  replicatedJobs:
    - name: leader
      template:
        spec:
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
                    requests:
                      cpu: 100m
                    limits:
                      nvidia.com/gpu: 1
    - name: worker
      template:
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
                    requests:
                      cpu: 100m
                    limits:
                      nvidia.com/gpu: 1
YAML
kubectl apply -f queued.yaml

uid=$(kubectl get jobset queued -o jsonpath='{.metadata.uid}')
kubectl wait --for=create workload -l "kueue.x-k8s.io/job-uid=$uid" --timeout=120s
kubectl wait workload -l "kueue.x-k8s.io/job-uid=$uid" --for=condition=QuotaReserved=False --timeout=120s
