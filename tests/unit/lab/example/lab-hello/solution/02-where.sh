set -e
kubectl wait --for=jsonpath='{.status.phase}'=Running pod/hello --timeout=30s
echo "node=$(kubectl get pod hello -o jsonpath='{.spec.nodeName}')" > where.txt
