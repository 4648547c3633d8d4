#!/usr/bin/env bash
# Applied without the label: the leader runs and holds its GPU, the workers wait for room.
set -euo pipefail

cat > toobig.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: toobig
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
sed -i "s/: 2$/: $VALUES_WORKERS/" toobig.yaml
kubectl apply -f toobig.yaml

kubectl wait jobset/toobig --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="leader")].ready}'=1 --timeout=120s

if kubectl label jobset toobig kueue.x-k8s.io/queue-name=lab; then
  exit 1
fi
