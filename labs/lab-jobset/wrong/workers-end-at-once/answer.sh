#!/usr/bin/env bash
# The loop is forgotten in the workers: three pods were made, and two of them are done.
set -euo pipefail

cat > train.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
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
                  command: [sh, -c, "echo training"]
YAML
kubectl apply -f train.yaml

kubectl wait --for=create job/train-worker-0 --timeout=120s
kubectl wait job/train-worker-0 --for=condition=Complete --timeout=120s
kubectl wait jobset/train --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="leader")].ready}'=1 --timeout=120s
