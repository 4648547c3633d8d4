set -euo pipefail
cat > pairs.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: pairs
  namespace: team-a
spec:
  replicatedJobs:
    - name: w
      replicas: 4
      template:
        spec:
          parallelism: 2
          completions: 2
          backoffLimit: 0
          template:
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
kubectl apply -f pairs.yaml
for job in 0 1 2 3; do
  kubectl wait "job/pairs-w-$job" --for=create --timeout=60s
  kubectl wait "job/pairs-w-$job" --for=jsonpath='{.status.ready}'=2 --timeout=60s
done
