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
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: team-a
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors:
        - name: gpus
          resources:
            - name: nvidia.com/gpu
              nominalQuota: 24
YAML
kubectl apply -f topology.yaml
kubectl wait clusterqueue/team-a --for=condition=Active=False --timeout=60s
