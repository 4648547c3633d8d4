#!/usr/bin/env bash
# Step 5: the more important job of the same queue.
set -euo pipefail

kubectl patch clusterqueue team-a --type=merge -p '{"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}}'
cat > class.yaml <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata:
  name: urgent
value: 1000
description: may throw others of its queue out
YAML
kubectl apply -f class.yaml

sed -e 's/name: base/name: urgent/' \
  -e 's/^\( *\)kueue.x-k8s.io\/queue-name: queue/&\n\1kueue.x-k8s.io\/priority-class: urgent/' base.yaml > urgent.yaml
kubectl apply -f urgent.yaml
kubectl wait job/urgent --for=jsonpath='{.status.ready}'=4 --timeout=120s
