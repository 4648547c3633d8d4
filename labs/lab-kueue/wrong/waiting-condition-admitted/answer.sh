#!/usr/bin/env bash
# Written down after wide had come in.
set -euo pipefail

printf 'condition=Admitted\nreason=Admitted\nmessage=The workload is admitted\n' > waiting.txt
