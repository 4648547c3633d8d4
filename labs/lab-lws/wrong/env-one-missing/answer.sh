#!/usr/bin/env bash
# Address and index, but not how large the group is.
set -euo pipefail

sed -i '/^LWS_GROUP_SIZE=/d' env.txt
