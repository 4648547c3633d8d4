#!/usr/bin/env bash
set -euo pipefail

echo HELLO > hello.txt
