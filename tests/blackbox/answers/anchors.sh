# Anchors, several documents, CRLF, requests equal to limits, labels and variables of one's own; `kubectl create`.
cat > lws.yaml <<'YAML'
# My notes, which are no part of the answer.
apiVersion: v1
kind: ConfigMap
metadata: {name: notes-of-anchors}
data: {step: "1"}
---

---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata:
  name: llm
  labels: {team: serving}
  annotations: {why: "because I can"}
spec:
  replicas: 2
  leaderWorkerTemplate:
    restartPolicy: RecreateGroupOnPodRestart
    size: 2
    leaderTemplate: &template
      metadata:
        labels: {app: engine}
      spec:
        terminationGracePeriodSeconds: 0
        containers:
          - name: model
            image: busybox:stable
            imagePullPolicy: IfNotPresent
            env: [{name: MODEL, value: small}]
            command: ["sh", "-c", "trap 'exit 0' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
            resources:
              requests: &gpu {nvidia.com/gpu: "1"}
              limits: *gpu
    workerTemplate: *template
YAML
sed -i 's/$/\r/' lws.yaml
kubectl delete configmap notes-of-anchors --ignore-not-found
kubectl create -f lws.yaml
kubectl wait lws/llm --for=condition=Available --timeout=60s
kubectl wait pod -l leaderworkerset.sigs.k8s.io/name=llm --for=condition=Ready --timeout=60s
