#!/usr/bin/env bash
# Looks for known vulnerabilities in the code that the program reaches, on
# Linux, macOS and Windows, by govulncheck. Apart from .ci/run, because the
# database of vulnerabilities is not reachable everywhere; GOVULNDB may name a
# copy (https://… or file:///…).
#
#   scripts/vulncheck.sh
set -euo pipefail
exec </dev/null
cd "$(dirname "$0")/.."

bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install golang.org/x/vuln/cmd/govulncheck@v1.8.0
for os in linux darwin windows; do
  printf '\n== %s\n' "$os"
  GOOS=$os "$bin/govulncheck" ${GOVULNDB:+-db "$GOVULNDB"} .
done
