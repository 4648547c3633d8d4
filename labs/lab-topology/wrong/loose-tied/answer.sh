set -euo pipefail
cat > loose.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: loose
  namespace: team-a
spec:
  parallelism: 6
  completions: 6
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      nodeSelector:
        example.com/rack: r1
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
kubectl apply -f loose.yaml
kubectl wait job/loose --for=jsonpath='{.status.ready}'=6 --timeout=120s
echo 'rack=r1 pods=6' > loose.txt
