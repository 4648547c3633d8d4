#!/usr/bin/env bash
# With llm on all four GPUs the reason is noted; then a group of llm is taken away, and the worker gets its GPU.
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

cat > orphan.yaml <<'YAML'
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: orphan
  namespace: infer
spec:
  replicas: 1
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
            command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.5; done"]
    workerTemplate:
      spec:
        terminationGracePeriodSeconds: 1
        containers:
          - name: engine
            image: busybox:stable
            imagePullPolicy: IfNotPresent
            command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.5; done"]
            resources:
              limits:
                nvidia.com/gpu: 1
YAML
kubectl apply -f orphan.yaml

kubectl wait --for=create pod/orphan-0-1 --timeout=60s
kubectl wait pod/orphan-0-1 --for=condition=PodScheduled=False --timeout=60s
kubectl get pod orphan-0-1 -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].message}{"\n"}' > partial.txt

kubectl scale lws/llm --replicas=1
kubectl wait pod -l leaderworkerset.sigs.k8s.io/name=orphan --for=condition=Ready --timeout=60s
