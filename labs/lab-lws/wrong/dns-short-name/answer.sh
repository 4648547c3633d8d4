#!/usr/bin/env bash
# What nslookup prints for the name as the variable has it.
set -euo pipefail

cat > dns.txt <<'TEXT'
Server:		10.245.0.1
Address:	10.245.0.1:53

** server can't find llm-1.llm.infer: SERVFAIL

** server can't find llm-1.llm.infer: SERVFAIL

TEXT
