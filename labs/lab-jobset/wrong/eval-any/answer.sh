#!/usr/bin/env bash
# Without targetReplicatedJobs every role counts: the set is done while the leader still works.
set -euo pipefail

cat > eval.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: eval
  namespace: team-a
spec:
  successPolicy:
    operator: Any
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
                  command: [sh, -c, "sleep 1"]
YAML
kubectl apply -f eval.yaml

kubectl wait jobset/eval --for=jsonpath='{.status.terminalState}'=Completed --timeout=120s
