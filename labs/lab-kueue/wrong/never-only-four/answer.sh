#!/usr/bin/env bash
# Behind a job of one GPU it waits, and is taken for one that can never fit.
set -euo pipefail

kubectl apply -f - <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: filler
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
spec:
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
kubectl wait job/filler --for=jsonpath='{.status.active}'=1 --timeout=120s

cat > never.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: never
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
kubectl apply -f never.yaml

workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/jobset-never-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
kubectl get "$workload" -o jsonpath='verdict=never{"\n"}message={.status.conditions[?(@.type=="QuotaReserved")].message}{"\n"}' > never.txt
