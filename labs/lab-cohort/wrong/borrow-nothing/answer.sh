#!/usr/bin/env bash
# Used is right, and where it came from is not.
set -euo pipefail

sed -i -e 's/^nominal=.*/nominal=6/' -e 's/^borrowed=.*/borrowed=0/' borrow.txt
