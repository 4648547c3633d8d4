set -euo pipefail
sed -e 's/name: tight/name: wide/' -e 's/: 6$/: 30/' tight.yaml > wide.yaml
kubectl apply -f wide.yaml
