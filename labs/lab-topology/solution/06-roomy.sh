#!/usr/bin/env bash
# Step 6: the same ten, as close as may be.
set -euo pipefail

kubectl delete -f wide.yaml
sed -e 's/name: wide/name: roomy/' -e 's/podset-required-topology/podset-preferred-topology/' wide.yaml > roomy.yaml
kubectl apply -f roomy.yaml
kubectl wait job/roomy --for=jsonpath='{.status.ready}'=10 --timeout=120s

kubectl get pods -l job-name=roomy -o jsonpath='{range .items[*]}{.spec.nodeName}{"\n"}{end}' |
  while read -r node; do sed -n "s/^node=$node .*\(rack=\)/\1/p" racks.txt; done |
  sort | uniq -c | awk '{ print $2, "pods=" $1 }' > roomy.txt
