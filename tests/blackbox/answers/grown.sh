# Made too small at first, then edited in place; a long-form file with a document end and a comment behind it.
cat > lws.yaml <<'YAML'
---
apiVersion: "leaderworkerset.x-k8s.io/v1"
kind: 'LeaderWorkerSet'
metadata:
    name: llm
    namespace: infer
spec:
    replicas: 1
    leaderWorkerTemplate:
        size: 2
        restartPolicy: RecreateGroupOnPodRestart
        workerTemplate:
            spec:
                containers:
                -   name: engine-0
                    image: busybox:stable
                    imagePullPolicy: IfNotPresent
                    command: [sh, -c]
                    args:
                    -   |-
                        trap 'exit 0' TERM
                        while [ ! -e /tmp/fail ]; do sleep 0.5; done
                        exit 1
                    resources:
                        limits:
                            nvidia.com/gpu: 1
                tolerations: []
...
# end
YAML
kubectl apply -f lws.yaml
sed -i 's/replicas: 1/replicas: 2/' lws.yaml
kubectl scale lws llm --replicas=2
kubectl wait lws/llm --for=condition=Available --timeout=60s
kubectl wait --for=create pod/llm-1-1 --timeout=60s
kubectl wait pod -l leaderworkerset.sigs.k8s.io/name=llm --for=condition=Ready --timeout=60s
