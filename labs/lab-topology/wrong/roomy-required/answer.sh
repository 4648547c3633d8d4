set -euo pipefail
kubectl delete -f wide.yaml
sed -e 's/name: wide/name: roomy/' wide.yaml > roomy.yaml
kubectl apply -f roomy.yaml
