set -euo pipefail
sed -e 's/name: tight/name: wide/' -e 's/: 6$/: 10/' tight.yaml > wide.yaml
kubectl apply -f wide.yaml
echo 'topology racks has room for only 8 of 10 pods' > wide.txt
