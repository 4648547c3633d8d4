#!/usr/bin/env bash
# Step 6: a trainer that saves at TERM and goes on from there.
set -euo pipefail

cat > train.sh <<'TRAIN'
#!/usr/bin/env bash
step=$(cat checkpoint 2>/dev/null || echo 0)
trap 'echo "$step" > checkpoint; exit 0' TERM
while true; do
  step=$((step + 1))
  echo "step=$step"
  sleep 1
done
TRAIN
kubectl delete jobs --all
kubectl -n team-b delete jobs --all
kubectl wait pod --all --for=delete --timeout=120s

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
