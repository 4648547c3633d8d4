set -euo pipefail
cat > tight.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: tight
  namespace: team-a
spec:
  parallelism: 6
  completions: 6
  completionMode: Indexed
  template:
    metadata:
      annotations:
        kueue.x-k8s.io/podset-required-topology: example.com/rack
    spec:
      restartPolicy: Never
      tolerations:
        - key: kwok.x-k8s.io/node
          operator: Exists
      containers:
        - name: main
          image: trainer
          resources:
            limits:
              nvidia.com/gpu: 1
YAML
kubectl apply -f tight.yaml
kubectl wait job/tight --for=jsonpath='{.status.ready}'=6 --timeout=120s
