#!/usr/bin/env bash
# Three pods as asked, but nothing that ties them together.
set -euo pipefail

cat > train.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: team-a
spec:
  parallelism: 3
  completions: 3
  completionMode: Indexed
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
YAML
