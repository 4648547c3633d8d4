#!/usr/bin/env bash
# A checkpoint that nobody reads: each pod begins anew.
set -euo pipefail

cat > train.sh <<'TRAIN'
#!/usr/bin/env bash
step=0
trap 'echo "$step" > checkpoint; exit 0' TERM
while true; do
  step=$((step + 1))
  echo "step=$step"
  sleep 1
done
TRAIN
kubectl patch clusterqueue team-a --type=merge -p '{"spec":{"preemption":{"withinClusterQueue":"LowerPriority"}}}'
cat > class.yaml <<'YAML'
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata:
  name: urgent
value: 1000
description: may throw others of its queue out
YAML
kubectl apply -f class.yaml


# A Job of the team, with as many pods of one GPU: the pattern of the next two files.
job() {
  cat > "$1.yaml" <<YAML
apiVersion: batch/v1
kind: Job
metadata:
  name: $1
  namespace: $2
  labels:
    kueue.x-k8s.io/queue-name: queue
spec:
  parallelism: $3
  completions: $3
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
}
job base team-a 4
sed -e 's/name: base/name: urgent/' \
  -e 's/^\( *\)kueue.x-k8s.io\/queue-name: queue/&\n\1kueue.x-k8s.io\/priority-class: urgent/' base.yaml > urgent.yaml

kubectl get configmap player -o go-template='{{index .data "play.sh"}}' > play.sh
bash play.sh &
player=$!
trap 'kill "$player"' EXIT

sed -e 's/name: base/name: train/' -e 's/: 4$/: 1/' -e 's/gpu: 1$/gpu: 4/' base.yaml > train.yaml
kubectl apply -f train.yaml

# Lines of the log that say which pod did which step; $1 of them, of $2 pods.
logged() {
  for _ in $(seq 240); do
    if [ -e train.log ] && [ "$(wc -l < train.log)" -ge "$1" ] &&
      [ "$(sed 's/ .*//' train.log | sort -u | wc -l)" -ge "$2" ]; then
      return 0
    fi
    sleep 0.5
  done
  return 1
}
logged 4 1

kubectl apply -f urgent.yaml
kubectl wait job/urgent --for=jsonpath='{.status.ready}'=4 --timeout=120s
before=$(wc -l < train.log)
grader complete -l job-name=urgent
logged $((before + 2)) 2
