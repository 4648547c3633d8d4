#!/usr/bin/env bash
# Leaders are called worker 1, workers worker 2.
set -euo pipefail

sed -i -e 's/worker=1$/worker=2/' -e 's/worker=0$/worker=1/' names.txt
