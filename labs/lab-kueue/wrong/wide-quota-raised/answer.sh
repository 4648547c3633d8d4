#!/usr/bin/env bash
# It waited for a moment; then the queue got six GPUs, and nobody had to end.
set -euo pipefail

cat > wide.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: wide
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
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

kubectl patch clusterqueue team-a --type=json \
  -p '[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":6}]'
kubectl wait "$workload" --for=condition=Admitted --timeout=120s
