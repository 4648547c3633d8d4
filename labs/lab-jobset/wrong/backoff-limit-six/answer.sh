#!/usr/bin/env bash
# The right three pods; a failure would be made up for by the Job, six times.
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
          backoffLimit: 6
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
          backoffLimit: 6
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              containers:
                - name: train
                  image: busybox:stable
                  imagePullPolicy: IfNotPresent
                  command: [sh, -c, "trap 'exit 143' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
YAML
kubectl apply -f train.yaml

kubectl wait jobset/train --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="leader")].ready}'=1 --timeout=120s
kubectl wait jobset/train --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="worker")].ready}'=1 --timeout=120s
