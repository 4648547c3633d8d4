#!/usr/bin/env bash
# Four pods as asked, but one body of four instead of two bodies of two.
set -euo pipefail

sed -i -e 's/^  replicas: 2$/  replicas: 1/' -e 's/^    size: 2$/    size: 4/' lws.yaml
