#!/usr/bin/env bash
# Both UIDs are right, each beside the other's group.
set -euo pipefail

sed -i -e 's/^group0_/group?_/' -e 's/^group1_/group0_/' -e 's/^group?_/group1_/' restart.txt
