#!/usr/bin/env bash
# Gives the module another path, one that `go get` takes: where it is published.
#
#   scripts/module.sh github.com/you/kestrel
#
# go.mod, that of the generator of assembly, and every import of every file are
# changed, whatever system or tag they are for; then all is built and vetted. The
# tree must have no changes; what has changed is left to be looked at and
# committed. Given again it changes nothing.
set -euo pipefail
exec </dev/null
cd "$(dirname "$0")/.."

fail() { echo "scripts/module.sh: $*" >&2; exit 2; }

[ $# = 1 ] || fail "one argument is taken, the new path of the module, such as github.com/you/kestrel"
new=$1
old=$(sed -n 's/^module //p' go.mod)
# What golang.org/x/mod/module.CheckPath takes, in short.
[[ $new =~ ^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)+(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$ && $new != *. && $new != */*./* ]] ||
  fail "$new is no path of a module that go get takes: a host with a dot in lower case, then names, such as github.com/you/kestrel"
if [ "$old" = "$new" ]; then
  echo "the module is $new already"
  exit 0
fi
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed; commit them or put them away first"

# An import is a line with nothing else but, perhaps, its name. Paths have no
# character but the dot that means something to sed.
imports='^([[:space:]]*(import )?([A-Za-z0-9_.]+ )?")'${old//./\\.}'(/[a-z0-9/]*)?"'
git grep -lE "$imports" -- '*.go' | while read -r file; do
  sed -i.old -E "s#$imports#\\1$new\\4\"#" "$file"
  rm "$file.old"
  gofmt -w "$file"
done
for mod in $(git ls-files go.mod '*/go.mod'); do
  sed -i.old -E "s#^module ${old//./\\.}(/|\$)#module $new\\1#" "$mod"
  rm "$mod.old"
done

# What is left would not build somewhere else.
if left=$(git grep -nE "\"${old//./\\.}/" -- '*.go' | grep -vF "\"$new/"); then
  printf '%s\n' "$left" >&2
  fail "these lines still have the old path"
fi
go build ./...
go vet ./...
for os in linux darwin windows; do
  GOOS=$os CGO_ENABLED=0 go build -o /dev/null .
done
git diff --shortstat
echo "the module is $new now; look at it with git diff and commit it. Others then say: go get $new"
name=$(sed -E 's#/v[0-9]+$##; s#.*/##' <<<"$new") # a major version is no name
[ "$name" = kestrel ] || echo "note: go install $new names the program $name"
