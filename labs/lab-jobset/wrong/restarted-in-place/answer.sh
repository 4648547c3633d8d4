#!/usr/bin/env bash
# With restartPolicy OnFailure the Job, and so the JobSet, never hears of the failure.
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
              restartPolicy: OnFailure
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
              restartPolicy: OnFailure
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

kubectl exec job/train-worker-0 -- touch /tmp/fail
for _ in $(seq 240); do
  restarts=$(kubectl get pods -l jobset.sigs.k8s.io/jobset-name=train -o jsonpath='{.items[*].status.containerStatuses[*].restartCount}')
  case $restarts in *1*) exit 0 ;; esac
  sleep 0.5
done
exit 1
