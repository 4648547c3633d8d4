#!/usr/bin/env bash
# The policy is right and the name is urgent; the priority is 0 as everybody's.
set -euo pipefail

# A Job of a team, with as many pods of one GPU.
job() {
  cat > "$1.yaml" <<YAML
apiVersion: batch/v1
kind: Job
metadata:
  name: $1
  namespace: $2
  labels:
    kueue.x-k8s.io/queue-name: queue
spec:
  parallelism: $3
  completions: $3
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
  kubectl apply -f "$1.yaml"
}
job base team-a 4
kubectl wait job/base --for=jsonpath='{.status.ready}'=4 --timeout=120s
job owner team-b 4
kubectl -n team-b wait job/owner --for=jsonpath='{.status.ready}'=4 --timeout=120s

kubectl patch clusterqueue team-a --type=merge -p '{"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}}'
job urgent team-a 4
for _ in $(seq 240); do
  urgent=$(kubectl get workloads -o name | grep '/job-urgent-') && break
  sleep 0.5
done
kubectl wait "$urgent" --for=condition=QuotaReserved=False --timeout=120s
