#!/usr/bin/env bash
# Step 3: three levels, a flavor that has them, a queue.
set -euo pipefail

cat > topology.yaml <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata:
  name: racks
spec:
  levels:
    - nodeLabel: example.com/block
    - nodeLabel: example.com/rack
    - nodeLabel: kubernetes.io/hostname
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata:
  name: gpu
spec:
  topologyName: racks
  nodeLabels:
    type: kwok
  tolerations:
    - key: kwok.x-k8s.io/node
      operator: Equal
      value: fake
      effect: NoSchedule
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: team-a
spec:
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: team-a
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors:
        - name: gpu
          resources:
            - name: nvidia.com/gpu
              nominalQuota: 24
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: queue
  namespace: team-a
spec:
  clusterQueue: team-a
YAML
kubectl apply -f topology.yaml
kubectl wait clusterqueue/team-a --for=condition=Active --timeout=120s
kubectl wait localqueue/queue --for=condition=Active --timeout=120s
