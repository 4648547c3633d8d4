#!/usr/bin/env bash
# The leader's template forgets the GPU; all four pods run all the same.
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
    workerTemplate:
      spec:
        terminationGracePeriodSeconds: 1
        containers:
          - name: engine
            image: busybox:stable
            imagePullPolicy: IfNotPresent
            command: [sh, -c, "trap 'exit 0' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
            resources:
              limits:
                nvidia.com/gpu: 1
YAML
kubectl apply -f lws.yaml

kubectl wait lws/llm --for=condition=Available --timeout=60s
kubectl wait pod -l leaderworkerset.sigs.k8s.io/name=llm --for=condition=Ready --timeout=60s
