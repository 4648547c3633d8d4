#!/usr/bin/env bash
# The pods of v2 are Running, which is all that a glance at them shows; the set is not available.
set -euo pipefail

cat > lws.yaml <<'YAML'
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: llm
  namespace: infer
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    restartPolicy: RecreateGroupOnPodRestart
    leaderTemplate:
      spec:
        terminationGracePeriodSeconds: 1
        containers:
          - name: engine
            image: busybox:stable
            imagePullPolicy: IfNotPresent
            command: [sh, -c, "trap 'exit 0' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
            env: [{name: VERSION, value: v2}]
            readinessProbe:
              exec: {command: [test, -e, /tmp/loaded]}
            resources:
              limits:
                nvidia.com/gpu: 1
    workerTemplate:
      spec:
        terminationGracePeriodSeconds: 1
        containers:
          - name: engine
            image: busybox:stable
            imagePullPolicy: IfNotPresent
            command: [sh, -c, "trap 'exit 0' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
            env: [{name: VERSION, value: v2}]
            resources:
              limits:
                nvidia.com/gpu: 1
YAML
kubectl apply -f lws.yaml

for pod in llm-0 llm-0-1 llm-1 llm-1-1; do
  kubectl wait --for=create "pod/$pod" --timeout=60s
  kubectl wait "pod/$pod" --for=jsonpath='{.status.phase}'=Running --timeout=60s
done
