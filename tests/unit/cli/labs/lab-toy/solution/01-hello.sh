#!/usr/bin/env bash
set -euo pipefail

echo hello > hello.txt
