#!/usr/bin/env bash
# The file of another set, saved under this name.
set -euo pipefail

cp train.yaml ordered.yaml
