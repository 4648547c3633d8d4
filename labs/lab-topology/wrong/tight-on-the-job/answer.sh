set -euo pipefail
cat > tight.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: tight
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
  annotations:
    kueue.x-k8s.io/podset-required-topology: example.com/rack
spec:
  parallelism: 6
  completions: 6
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: trainer
          resources:
            limits:
              nvidia.com/gpu: 1
YAML
kubectl apply -f tight.yaml
