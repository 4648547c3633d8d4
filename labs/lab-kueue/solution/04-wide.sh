#!/usr/bin/env bash
# Step 4: four GPUs behind first: wait as a whole, note why, come in when first has ended.
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

# The Workload's name ends with five characters nobody knows beforehand.
workload=
for _ in $(seq 240); do
  workload=$(kubectl get workloads -o name | grep '/jobset-wide-') && break
  sleep 0.5
done
kubectl wait "$workload" --for=condition=QuotaReserved=False --timeout=120s
kubectl get "$workload" -o jsonpath='{range .status.conditions[?(@.type=="QuotaReserved")]}condition={.type}{"\n"}reason={.reason}{"\n"}message={.message}{"\n"}{end}' > waiting.txt

grader complete -l job-name=first
kubectl wait "$workload" --for=condition=Admitted --timeout=120s
kubectl wait job/wide-w-0 --for=jsonpath='{.status.ready}'=4 --timeout=120s
