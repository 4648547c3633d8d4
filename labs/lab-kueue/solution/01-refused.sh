#!/usr/bin/env bash
# Step 1: a gang of six against a quota of four: half of it runs, the rest is refused.
set -euo pipefail

cat > gang.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: gang
  namespace: old
spec:
  replicatedJobs:
    - name: w
      template:
        spec:
          parallelism: 6
          completions: 6
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
kubectl apply -f gang.yaml
kubectl -n old wait --for=create job/gang-w-0 --timeout=60s
kubectl -n old wait --for=jsonpath='{.status.ready}'=4 job/gang-w-0 --timeout=120s

for _ in $(seq 240); do
  kubectl -n old get events --field-selector reason=FailedCreate \
    -o jsonpath='{range .items[*]}{.message}{"\n"}{end}' | grep -m1 'exceeded quota' > refused.txt && break
  sleep 0.5
done
test -s refused.txt

kubectl delete -f gang.yaml
kubectl -n old wait --for=delete pod -l jobset.sigs.k8s.io/jobset-name=gang --timeout=120s
