#!/usr/bin/env bash
# It may start again once, but a rule gives up before.
set -euo pipefail

cat > fragile.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: fragile
  namespace: team-a
spec:
  failurePolicy:
    maxRestarts: 1
    rules:
      - name: giveUp
        action: FailJobSet
  replicatedJobs:
    - name: worker
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
                  command: [sh, -c, "sleep 1; exit 1"]
YAML
kubectl apply -f fragile.yaml

kubectl wait jobset/fragile --for=jsonpath='{.status.terminalState}'=Failed --timeout=120s
kubectl get jobset fragile -o jsonpath='{.status.conditions[?(@.type=="Failed")].message}{"\n"}' > end.txt
