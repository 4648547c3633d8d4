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
YAML
kubectl apply -f pod.yaml
