#!/usr/bin/env bash
# The borrower alone names the cohort.
set -euo pipefail

cat > six.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: six
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
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
              containers:
                - name: main
                  image: trainer
                  resources:
                    limits:
                      nvidia.com/gpu: 1
YAML
kubectl apply -f six.yaml
kubectl patch clusterqueue team-a --type=merge -p '{"spec":{"cohortName":"ml"}}'

workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep "/jobset-six-") && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
