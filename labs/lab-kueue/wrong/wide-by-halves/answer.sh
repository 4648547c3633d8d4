#!/usr/bin/env bash
# Two Jobs of two pods: Kueue sees two small jobs instead of one gang, and two GPUs are free.
set -euo pipefail

cat > wide.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: wide
  namespace: team-a
spec:
  replicatedJobs:
    - name: w
      replicas: 2
      template:
        metadata:
          labels:
            kueue.x-k8s.io/queue-name: queue
        spec:
          parallelism: 2
          completions: 2
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
for _ in $(seq 240); do
  [ -n "$(kubectl get pods -l jobset.sigs.k8s.io/jobset-name=wide -o name)" ] && exit 0
  sleep 0.5
done
exit 1
