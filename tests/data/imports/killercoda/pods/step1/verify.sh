#!/bin/bash
kubectl get pod web -o jsonpath='{.spec.containers[0].image}' | grep -q '^nginx:1.27$' || { echo "there is no pod web of nginx:1.27"; exit 1; }
[ "$(cat /root/notes/state)" = ready ]
