#!/usr/bin/env bash
# The right set in the end; a smaller one of the same name ran before it.
set -euo pipefail

cat > toobig.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: toobig
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
                  command: [sh, -c, "trap 'exit 143' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
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
                  command: [sh, -c, "trap 'exit 143' TERM; while [ ! -e /tmp/fail ]; do sleep 0.5; done; exit 1"]
                  resources:
                    limits:
                      nvidia.com/gpu: 1
YAML
kubectl apply -f toobig.yaml

kubectl wait jobset/toobig --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="leader")].ready}'=1 --timeout=120s
kubectl wait jobset/toobig --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="worker")].ready}'=1 --timeout=120s

kubectl delete -f toobig.yaml
kubectl wait pod -l jobset.sigs.k8s.io/jobset-name=toobig --for=delete --timeout=120s
sed -i "s/: 2$/: $VALUES_WORKERS/" toobig.yaml
kubectl apply -f toobig.yaml

uid=$(kubectl get jobset toobig -o jsonpath='{.metadata.uid}')
kubectl wait --for=create workload -l "kueue.x-k8s.io/job-uid=$uid" --timeout=120s
kubectl wait workload -l "kueue.x-k8s.io/job-uid=$uid" --for=condition=QuotaReserved=False --timeout=120s
kubectl get workloads -l "kueue.x-k8s.io/job-uid=$uid" \
  -o jsonpath='{.items[0].status.conditions[?(@.type=="QuotaReserved")].message}{"\n"}' > quota.txt
