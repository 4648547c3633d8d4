#!/usr/bin/env bash
# team-a borrows its two as before.
set -euo pipefail

kubectl patch clusterqueue team-b --type=json \
  -p '[{"op":"add","path":"/spec/resourceGroups/0/flavors/0/resources/0/borrowingLimit","value":1}]'
kubectl delete -f six.yaml
kubectl wait pod --all --for=delete --timeout=120s
kubectl apply -f six.yaml
kubectl wait --for=create job/six-w-0 --timeout=120s
kubectl wait job/six-w-0 --for=jsonpath='{.status.ready}'=6 --timeout=120s
