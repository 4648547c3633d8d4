#!/usr/bin/env bash
# Step 1: six GPUs for a team that has four.
set -euo pipefail

cat > six.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: six
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
spec:
  replicatedJobs:
    - name: w
      template:
        spec:
          parallelism: 6
          completions: 6
          backoffLimit: 0
          template:
            spec:
              restartPolicy: Never
              containers:
                - name: main
                  image: trainer
                  resources:
                    limits:
                      nvidia.com/gpu: 1
YAML
kubectl apply -f six.yaml

kubectl patch clusterqueue team-a team-b --type=merge -p '{"spec":{"cohortName":"ml"}}'
kubectl wait clusterqueue/team-a --for=jsonpath='{.status.flavorsUsage[0].resources[0].borrowed}'=2 --timeout=120s

kubectl get clusterqueue team-a -o jsonpath='queue={.metadata.name}{"\n"}nominal={.spec.resourceGroups[0].flavors[0].resources[0].nominalQuota}{"\n"}used={.status.flavorsUsage[0].resources[0].total}{"\n"}borrowed={.status.flavorsUsage[0].resources[0].borrowed}{"\n"}' > borrow.txt
