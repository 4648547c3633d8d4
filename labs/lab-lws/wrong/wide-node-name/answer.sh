#!/usr/bin/env bash
# nodeName goes past the scheduler, and so past what the annotation asks of it.
set -euo pipefail

cat > wide.yaml <<'YAML'
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: wide
  namespace: infer
  annotations:
    leaderworkerset.sigs.k8s.io/exclusive-topology: kubernetes.io/hostname
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 2
    restartPolicy: RecreateGroupOnPodRestart
    workerTemplate:
      spec:
        nodeName: gpu-a
        tolerations:
          - key: kwok.x-k8s.io/node
            operator: Exists
        containers:
          - name: engine
            image: busybox:stable
            imagePullPolicy: IfNotPresent
            command: [sh, -c, "sleep 3600"]
            resources:
              limits:
                nvidia.com/gpu: 1
YAML
kubectl apply -f wide.yaml

kubectl wait lws/wide --for=condition=Available --timeout=60s
kubectl wait pod -l leaderworkerset.sigs.k8s.io/name=wide --for=condition=Ready --timeout=60s
