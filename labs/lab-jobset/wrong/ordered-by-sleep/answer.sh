#!/usr/bin/env bash
# The workers begin later, but they are made at once with the leader.
set -euo pipefail

cat > ordered.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: ordered
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
                  command: [sh, -c, "trap 'exit 143' TERM; sleep 3; touch /tmp/ready; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
                  readinessProbe:
                    exec:
                      command: [test, -e, /tmp/ready]
                    periodSeconds: 1
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
                  command: [sh, -c, "sleep 5; trap 'exit 143' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
YAML
kubectl apply -f ordered.yaml

kubectl wait jobset/ordered --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="leader")].ready}'=1 --timeout=120s
kubectl wait jobset/ordered --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="worker")].ready}'=1 --timeout=120s
