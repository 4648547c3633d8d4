#!/usr/bin/env bash
# Kueue takes the pods' priority for want of its own, and the order comes out right; but the scheduler reads it too.
set -euo pipefail

kubectl apply -f - <<'YAML'
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: low
value: 100
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: high
value: 1000
YAML

# A job of four GPUs through the queue; a second word is the priority class of its pods.
job() {
  kubectl apply -f - <<YAML
apiVersion: batch/v1
kind: Job
metadata:
  name: $1
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
spec:
  parallelism: 4
  completions: 4
  template:
    spec:
      restartPolicy: Never
      priorityClassName: "${2-}"
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
job filler
kubectl wait job/filler --for=jsonpath='{.status.ready}'=4 --timeout=120s
job low low
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
job high high
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s

grader complete -l job-name=filler
kubectl wait "$workload" --for=condition=Admitted --timeout=120s
