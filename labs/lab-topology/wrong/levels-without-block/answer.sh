set -euo pipefail
cat > topology.yaml <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata:
  name: racks
spec:
  levels:
    - nodeLabel: example.com/rack
    - nodeLabel: kubernetes.io/hostname
YAML
kubectl apply -f topology.yaml
