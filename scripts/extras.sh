#!/usr/bin/env bash
# Writes what releases have besides the program, made by the program from its own help:
# manual pages, also packed as packages want them, and completions for shells.
#
#   scripts/extras.sh DIR
#
#   DIR/man1/kestrel.1, kestrel-run.1, …      DIR/man1.gz/kestrel.1.gz, …
#   DIR/completions/kestrel.bash, kestrel.zsh, kestrel.fish
#
# The same commit gives the same bytes.
set -euo pipefail
exec </dev/null
[ $# = 1 ] || { echo "scripts/extras.sh wants a directory" >&2; exit 2; }
mkdir -p "$1"
to=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# For this machine, whatever is released for; with the commit, whose day pages have.
GOOS='' GOARCH='' CGO_ENABLED=0 go build -trimpath -buildvcs=auto -o "$tmp/kestrel" .
export NO_COLOR=1
rm -rf "$to/man1" "$to/man1.gz" "$to/completions"
mkdir -p "$to/man1.gz" "$to/completions"
"$tmp/kestrel" man -o "$to/man1"
for page in "$to"/man1/*.1; do gzip -9n <"$page" >"$to/man1.gz/${page##*/}.gz"; done
for shell in bash zsh fish; do "$tmp/kestrel" completion "$shell" >"$to/completions/kestrel.$shell"; done
