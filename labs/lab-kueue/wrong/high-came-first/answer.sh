#!/usr/bin/env bash
# First come, first served gives the same order: it shows nothing about priority.
set -euo pipefail

kubectl apply -f - <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata:
  name: low
value: 100
description: may wait
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata:
  name: high
value: 1000
description: goes before low
YAML

# A job of four GPUs through the queue, of a class.
job() {
  kubectl apply -f - <<YAML
apiVersion: batch/v1
kind: Job
metadata:
  name: $1
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
    kueue.x-k8s.io/priority-class: $2
spec:
  parallelism: 4
  completions: 4
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
  for _ in $(seq 240); do
    workload=$(kubectl get workloads -o name | grep "/job-$1-") && break
    sleep 0.5
  done
}
job filler low
kubectl wait job/filler --for=jsonpath='{.status.ready}'=4 --timeout=120s
job high high
first=$workload
kubectl wait "$first" --for=condition=QuotaReserved=False --timeout=120s
job low low
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s

grader complete -l job-name=filler
kubectl wait "$first" --for=condition=Admitted --timeout=120s
