# JSON is YAML, too: one template for both, subgroups, a volume, other resources, another image name, keys in another order.
cat > lws.yaml <<'JSON'
{"kind": "LeaderWorkerSet", "spec": {"leaderWorkerTemplate": {"restartPolicy": "RecreateGroupOnPodRestart", "size": 2,
  "subGroupPolicy": {"subGroupSize": 1},
  "workerTemplate": {"spec": {"terminationGracePeriodSeconds": 1, "volumes": [{"name": "scratch", "emptyDir": {}}],
    "containers": [{"name": "worker", "image": "docker.io/library/busybox:stable", "imagePullPolicy": "Never",
      "command": ["sh", "-c", "trap 'exit 0' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"],
      "env": [{"name": "A", "value": "b"}, {"name": "C", "value": "d"}],
      "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
      "resources": {"limits": {"memory": "64Mi", "nvidia.com/gpu": 1}, "requests": {"nvidia.com/gpu": 1, "cpu": "10m"}}}]}}},
  "replicas": 2, "startupPolicy": "LeaderCreated"},
 "metadata": {"namespace": "infer", "name": "llm"}, "apiVersion": "leaderworkerset.x-k8s.io/v1"}
JSON
kubectl create -f - < lws.yaml
kubectl wait pod -l leaderworkerset.sigs.k8s.io/name=llm --for=condition=Ready --timeout=60s
