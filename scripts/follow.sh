#!/usr/bin/env bash
# Follows a page of docs literally: runs the commands of its blocks ```sh, one
# after the other, in an empty folder, and stops at the first that fails.
#
#	scripts/follow.sh PAGE [PROGRAM]
#
# PROGRAM is a built kestrel (built here if none is named); the folder has docs and
# scripts of this clone. What the commands print is to be held against the page.
# What needs data that do not come with the program ends with its words where
# KESTREL_DATA does not lead to them. KEEP=1 keeps the folder.
set -euo pipefail
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: scripts/follow.sh PAGE [PROGRAM]" >&2
	exit 2
fi
page=$(realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
if [ -n "${KEEP:-}" ]; then echo "in $work"; else trap 'rm -rf "$work"' EXIT; fi
mkdir "$work/bin" "$work/here"
if [ $# -eq 2 ]; then
	ln -s "$(realpath "$2")" "$work/bin/kestrel"
else
	(cd "$root" && go build -trimpath -o "$work/bin/kestrel" .)
fi
ln -s "$root/docs" "$root/scripts" "$work/here"
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >"$work/commands.sh"
[ -s "$work/commands.sh" ] || { echo "$1 has no commands" >&2; exit 1; }
cd "$work/here"
PATH=$work/bin:$PATH bash -euvo pipefail "$work/commands.sh" </dev/null
