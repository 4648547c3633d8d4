#!/usr/bin/env bash
# Step 8: a leader and two workers, three GPUs, one Workload.
set -euo pipefail

cat > queued.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: queued
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: lab
spec:
  failurePolicy:
    maxRestarts: 3
  replicatedJobs:
    - name: leader
      template:
        spec:
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              containers:
                - name: train
                  image: busybox:stable
                  imagePullPolicy: IfNotPresent
                  command: &loop
                    - sh
                    - -c
                    - |
                      trap 'exit 143' TERM
                      while [ ! -e /tmp/fail ]; do sleep 0.5; done
                      exit 1
                  resources:
                    limits:
                      nvidia.com/gpu: 1
    - name: worker
      template:
        spec:
          parallelism: 2
          completions: 2
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              terminationGracePeriodSeconds: 1
              containers:
                - name: train
                  image: busybox:stable
                  imagePullPolicy: IfNotPresent
                  command: *loop
                  resources:
                    limits:
                      nvidia.com/gpu: 1
YAML
kubectl apply -f queued.yaml

for role in leader worker; do
  kubectl wait jobset/queued --for=jsonpath="{.status.replicatedJobsStatus[?(@.name==\"$role\")].ready}"=1 --timeout=120s
done

uid=$(kubectl get jobset queued -o jsonpath='{.metadata.uid}')
kubectl get workloads -l "kueue.x-k8s.io/job-uid=$uid" \
  -o jsonpath='{range .items[0].spec.podSets[*]}podset={.name} count={.count}{"\n"}{end}' > podsets.txt
