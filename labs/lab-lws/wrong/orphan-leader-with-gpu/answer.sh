#!/usr/bin/env bash
# With a GPU in both templates the whole group waits: no half group to see.
set -euo pipefail

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
            command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 0.5; done"]
            resources:
              limits:
                nvidia.com/gpu: 1
YAML
kubectl apply -f orphan.yaml

kubectl wait --for=create pod/orphan-0 --timeout=60s
kubectl wait pod/orphan-0 --for=condition=PodScheduled=False --timeout=60s
kubectl wait --for=create pod/orphan-0-1 --timeout=60s
kubectl wait pod/orphan-0-1 --for=condition=PodScheduled=False --timeout=60s

kubectl get pod orphan-0-1 -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].message}{"\n"}' > partial.txt
