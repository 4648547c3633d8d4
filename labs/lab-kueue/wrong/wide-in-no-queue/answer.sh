#!/usr/bin/env bash
# It has no pods either; but it waits for a queue, and no end of first will ever let it in.
set -euo pipefail

cat > wide.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: wide
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: team-a
spec:
  replicatedJobs:
    - name: w
      template:
        spec:
          parallelism: 4
          completions: 4
          backoffLimit: 0
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
kubectl apply -f wide.yaml

workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/jobset-wide-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
kubectl get "$workload" -o jsonpath='{range .status.conditions[?(@.type=="QuotaReserved")]}condition={.type}{"\n"}reason={.reason}{"\n"}message={.message}{"\n"}{end}' > waiting.txt
