set -e
cat > pod.yaml <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: hello}
spec:
  containers:
    - name: main
      image: busybox
      resources: {limits: {nvidia.com/gpu: "1"}}
  tolerations:
    - {key: kwok.x-k8s.io/node, operator: Exists}
YAML
kubectl apply -f pod.yaml
