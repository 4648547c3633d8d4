#!/usr/bin/env bash
# Step 2: six pods that nobody holds together.
set -euo pipefail

cat > loose.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: loose
  namespace: team-a
spec:
  parallelism: 6
  completions: 6
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      tolerations:
        - key: kwok.x-k8s.io/node
          operator: Exists
      containers:
        - name: main
          image: trainer
          resources:
            limits:
              nvidia.com/gpu: 1
YAML
kubectl apply -f loose.yaml
kubectl wait job/loose --for=jsonpath='{.status.ready}'=6 --timeout=120s

kubectl get pods -l job-name=loose -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' |
  while read -r node; do sed -n "s/^node=$node .*\(rack=\)/\1/p" racks.txt; done |
  sort | uniq -c | awk '{ print $2, "pods=" $1 }' > loose.txt

kubectl delete job loose
kubectl wait pod -l job-name=loose --for=delete --timeout=120s
