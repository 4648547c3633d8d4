#!/usr/bin/env bash
# Step 6: low comes first, high goes first.
set -euo pipefail

cat > classes.yaml <<'YAML'
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
kubectl apply -f classes.yaml

# A job of that name, size and class, and wait until Kueue has said that it waits.
queue_up() {
  sed -e "s/name: first/name: $1/" -e "s/: 2$/: $2/" \
    -e "s/^\( *\)kueue.x-k8s.io\/queue-name: queue/&\n\1kueue.x-k8s.io\/priority-class: $3/" first.yaml > "$1.yaml"
  kubectl apply -f "$1.yaml"
  for _ in $(seq 240); do
    workload=$(kubectl get workloads -o name | grep "/job-$1-") && break
    sleep 0.5
  done
  kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
}
queue_up low 4 low
queue_up high 4 high

grader complete -l jobset.sigs.k8s.io/jobset-name=wide
kubectl wait "$workload" --for=condition=Admitted --timeout=120s
kubectl wait job/high --for=jsonpath='{.status.ready}'=4 --timeout=120s
