#!/usr/bin/env bash
# Runs every fuzz target for a time. An input that makes one fail is left in
# testdata/fuzz beside it: mend the fault and commit the input as a seed.
#
#   scripts/fuzz.sh                    10 minutes each
#   scripts/fuzz.sh 30s                as long as that
#   scripts/fuzz.sh 30s 'CSV|Parse'    those whose names match
#   FUZZ_WORKERS=1 scripts/fuzz.sh     so many processes each, and as many targets at once
#                                      as there are cores for; default: one, on all cores
#   FUZZ_BLIND=1 scripts/fuzz.sh 3s    without what tells which code an input reaches, for
#                                      which all that is compiled is compiled once more
#   FUZZ_BUILD=DIR scripts/fuzz.sh     builds the programs in DIR and runs none
#   FUZZ_PROGRAMS=DIR scripts/fuzz.sh  those programs, where there is no Go; corpora are in $TMPDIR
set -euo pipefail
exec </dev/null
cd "$(dirname "$0")/.."

time=${1:-10m}
only=${2:-.}
cores=$(getconf _NPROCESSORS_ONLN)
workers=${FUZZ_WORKERS:-$cores}
most=$((cores / workers))
[ "$most" -ge 1 ] || most=1
tmp=$(mktemp -d)
trap 'wait; rm -rf "$tmp"' EXIT
programs=${FUZZ_PROGRAMS:-${FUZZ_BUILD:-$tmp}}
mkdir -p "$programs"
programs=$(realpath "$programs")
if [ -z "${FUZZ_PROGRAMS:-}" ]; then
  corpora=$(go env GOCACHE)/fuzz/$(go list -m)
else
  corpora=$tmp/corpora
fi

# target PACKAGE NAME: what go test would do, with a program that is there. What it says is in
# a file, beside which there is another where an input made it fail.
target() {
  local said=$tmp/${1//\//-}.$2
  printf '\n== ./%s %s, %s\n' "$1" "$2" "$time" >"$said"
  if ! (cd "$1" && exec "$programs/${1//\//-}.test" -test.paniconexit0 -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$time" \
    -test.fuzzminimizetime 100x -test.fuzzcachedir "$corpora/$1" -test.parallel "$workers") >>"$said" 2>&1; then
    # Where the time ends while the machine is busy, Go's fuzzer may call its own
    # deadline a failure; of a true one it tells the input.
    if grep -qx ' *context deadline exceeded' "$said" && ! grep -q 'Failing input written' "$said"; then
      echo "no input made it fail: it was stopped by its own deadline" >>"$said"
    else
      touch "$said.failed"
    fi
  fi
  # Of the processes of this target alone: it has a shell of its own.
  times >"$said.times"
  awk -F'[ms ]+' 'NR == 2 { printf "%d s of CPU\n", 60 * ($1 + $3) + $2 + $4 }' "$said.times" >>"$said"
  # One after the other: cat may copy within the system, and what two copy to one file at
  # the same time is written over.
  until mkdir "$tmp/saying" 2>/dev/null; do sleep 0.1; done
  cat "$said" || true
  rmdir "$tmp/saying"
}

guided=(-fuzz .)
[ -z "${FUZZ_BLIND:-}" ] || guided=()
tried=0
while IFS=: read -r file line; do
  name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/' <<<"$line")
  grep -qE "$only" <<<"$name" || continue
  package=$(dirname "$file")
  # The program of a package is built once for all of its targets, while others run.
  binary=$programs/${package//\//-}.test
  [ -e "$binary" ] || go test -c -tags parquet "${guided[@]}" -ldflags="-s -w" -o "$binary" "./$package"
  tried=$((tried + 1))
  [ -z "${FUZZ_BUILD:-}" ] || continue
  while [ "$(jobs -pr | wc -l)" -ge "$most" ]; do wait -n || true; done
  target "$package" "$name" &
done < <(grep -rE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\(f \*testing\.F\)' . | sed 's|^\./||' | sort)
wait

[ "$tried" -gt 0 ] || { echo "no target's name matches $only" >&2; exit 1; }
if ls "$tmp"/*.failed >/dev/null 2>&1; then
  printf '\nfailed:\n'
  for failed in "$tmp"/*.failed; do
    printf '  %s\n' "$(sed -n 's/^== \(.*\), .*/\1/p' "${failed%.failed}")"
  done
  exit 1
fi
