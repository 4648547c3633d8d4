#!/usr/bin/env bash
# Toleration and node selector send the set to the fake nodes: Running on paper only.
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
    workerTemplate:
      spec:
        nodeSelector:
          type: kwok
        tolerations:
          - key: kwok.x-k8s.io/node
            operator: Exists
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
