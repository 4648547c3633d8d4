. "$BATCHLAB_SCRIPTS/common.sh"
[ "$(id -u)" = 65534 ] || fail "it is not nobody"
[ "$(ls /run/batchlab | xargs)" = "bin kubeconfig lib scripts" ] || fail "more in /run/batchlab: $(ls /run/batchlab)"
found=$(find / -xdev \( -name progress.json -o -name 'history.db*' -o -name '*.kubeconfig' -o -name machine.json \
  -o -name session.json -o -name '*.key' -o -name checks.py -o -name shadow -o -name '*.sock' \) 2>/dev/null)
[ -z "$found" ] || fail "found $found"
[ -z "$(find /home /var /srv /mnt -type f -not -path '/home/learner/*' 2>/dev/null)" ] || fail "somebody's files"
ps -e -o comm= | grep -Eq 'kube|etcd|python3 -m' && fail "programs of the cluster"
for path in /etc/x /usr/x /run/batchlab/x "$BATCHLAB_SCRIPTS/secrets.sh" /proc/sys/vm/swappiness; do
  (echo 1 > "$path") 2>/dev/null && fail "could write $path"
done
[ "$(kubectl auth whoami -o jsonpath='{.status.userInfo.username}')" = lab-script ] || fail "it is somebody else"
[ "$(kubectl auth can-i create pods)" = no ] || fail "it may create pods"
[ "$(kubectl auth can-i get secrets -A)" = yes ] || fail "it may not read"
(exec 3<>/dev/tcp/10.0.0.1/80) 2>/dev/null && fail "a way out"
exit 0
