#!/usr/bin/env bash
# Step 7: four Jobs that each want a rack, and three racks.
set -euo pipefail

kubectl delete jobs --all
kubectl wait pod --all --for=delete --timeout=120s

cat > pairs.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: pairs
  namespace: team-a
  annotations:
    alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack
spec:
  replicatedJobs:
    - name: w
      replicas: 4
      template:
        spec:
          parallelism: 2
          completions: 2
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              tolerations:
                - key: kwok.x-k8s.io/node
                  operator: Exists
              containers:
                - name: main
                  image: trainer
                  resources:
                    limits:
                      nvidia.com/gpu: 1
YAML
kubectl apply -f pairs.yaml

# Six pods of three Jobs, and the one that is left over.
for _ in $(seq 240); do
  running=$(kubectl get pods -l jobset.sigs.k8s.io/jobset-name=pairs --field-selector status.phase=Running -o name | wc -l)
  kubectl get pods -l jobset.sigs.k8s.io/jobset-name=pairs --field-selector status.phase=Pending \
    -o jsonpath='{.items[*].status.conditions[?(@.type=="PodScheduled")].message}{"\n"}' > fourth.txt
  [ "$running" = 6 ] && grep -q anti-affinity fourth.txt && exit 0
  sleep 0.5
done
exit 1
