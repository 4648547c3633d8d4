#!/usr/bin/env bash
# Both roles count, so a set whose workers never end is never done.
set -euo pipefail

cat > eval.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: eval
  namespace: team-a
spec:
  successPolicy:
    operator: All
    targetReplicatedJobs: [leader, worker]
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
                  command: [sh, -c, "sleep 5"]
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
                  command:
                    - sh
                    - -c
                    - |
                      trap 'exit 143' TERM
                      while [ ! -e /tmp/fail ]; do sleep 0.5; done
                      exit 1
YAML
kubectl apply -f eval.yaml

kubectl wait jobset/eval --for=jsonpath='{.status.replicatedJobsStatus[?(@.name=="leader")].succeeded}'=1 --timeout=120s
