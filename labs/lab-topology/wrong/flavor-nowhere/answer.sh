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
  nodeLabels:
    type: kwok
YAML
kubectl apply -f topology.yaml
