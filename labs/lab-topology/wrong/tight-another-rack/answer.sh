set -euo pipefail
cat > tight.yaml <<'YAML'
apiVersion: batch/v1
kind: Job
metadata:
  name: tight
  namespace: team-a
  labels:
    kueue.x-k8s.io/queue-name: queue
spec:
  parallelism: 6
  completions: 6
  completionMode: Indexed
  template:
    metadata:
      annotations:
        kueue.x-k8s.io/podset-required-topology: example.com/rack
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: trainer
          resources:
            limits:
              nvidia.com/gpu: 1
YAML
kubectl apply -f tight.yaml
kubectl wait job/tight --for=jsonpath='{.status.ready}'=6 --timeout=120s
# A rack of three in which they do not stand.
node=$(kubectl get pods -l job-name=tight -o jsonpath='{.items[0].spec.nodeName}')
sed "/^node=$node /d" racks.txt | grep -v "$(sed -n "s/^node=$node .*\(rack=\)/\1/p" racks.txt)" |
  sed -n '1s/.*\(rack=\)/\1/p' > tight.txt
