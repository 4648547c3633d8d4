#!/usr/bin/env bash
set -euo pipefail

echo bye > bye.txt
