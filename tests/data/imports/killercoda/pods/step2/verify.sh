test "$(kubectl get pod web -o jsonpath='{.metadata.labels.tier}')" = front || exit 1
grep -qx web ~/name.txt || { echo "name.txt does not say web"; exit 1; }
