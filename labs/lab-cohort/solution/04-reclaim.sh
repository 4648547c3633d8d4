#!/usr/bin/env bash
# Step 4: the lender wakes up.
set -euo pipefail

kubectl delete jobsets --all
kubectl wait pod --all --for=delete --timeout=120s

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
job extra team-a 2
kubectl wait job/extra --for=jsonpath='{.status.ready}'=2 --timeout=120s
job owner team-b 4
for _ in $(seq 240); do
  owner=$(kubectl -n team-b get workloads -o name | grep '/job-owner-') && break
  sleep 0.5
done
kubectl -n team-b wait "$owner" --for=condition=QuotaReserved=False --timeout=120s

kubectl patch clusterqueue team-b --type=merge -p '{"spec":{"preemption":{"reclaimWithinCohort":"Any"}}}'
kubectl -n team-b wait "$owner" --for=condition=Admitted --timeout=120s
kubectl -n team-b wait job/owner --for=jsonpath='{.status.ready}'=4 --timeout=120s

extra=$(kubectl get workloads -o name | grep '/job-extra-')
kubectl get "$extra" -o jsonpath='workload={.metadata.name}{"\n"}reason={.status.conditions[?(@.type=="Preempted")].reason}{"\n"}' > victim.txt
