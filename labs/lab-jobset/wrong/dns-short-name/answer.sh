#!/usr/bin/env bash
# What nslookup prints for a name it does not complete.
set -euo pipefail

cat > dns.txt <<'TEXT'
Server:		10.250.0.2
Address:	10.250.0.2:53

** server can't find train-leader-0-0.train: SERVFAIL

** server can't find train-leader-0-0.train: SERVFAIL

TEXT
