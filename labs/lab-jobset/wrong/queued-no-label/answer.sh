#!/usr/bin/env bash
# Without the label nobody asks for the quota.
set -euo pipefail

cat > queued.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: queued
  namespace: team-a
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
                    limits:
                      nvidia.com/gpu: 1
YAML
kubectl apply -f queued.yaml

kubectl wait jobset/queued --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="leader")].ready}'=1 --timeout=120s
kubectl wait jobset/queued --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="worker")].ready}'=1 --timeout=120s
