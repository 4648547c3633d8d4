#!/bin/bash
. "$BATCHLAB_SCRIPTS/common.sh"
kubectl get namespace shop >/dev/null 2>&1 || fail "there is no namespace shop"
grep -qx shop ~/name.txt || fail "name.txt does not say shop"
