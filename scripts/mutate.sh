#!/usr/bin/env bash
# Small changes to the program, one at a time, drawn from a seed: which do the tests
# notice? Given again it goes on; what is known is in bin/mutate.
#
#   scripts/mutate.sh                                    200, from seed 1: many hours on two slow cores
#   scripts/mutate.sh -packages vbks/belief -n 20        of one package
#   scripts/mutate.sh -deadline 1h                       none is begun later
#   scripts/mutate.sh -again                             those that survived once more, after tests were added
#   scripts/mutate.sh -list                              what is drawn
#
# Mutants that change no behaviour, or are another choice that is as good, stand with the
# reason in scripts/mutate/known.csv.
set -euo pipefail
exec </dev/null
cd "$(dirname "$0")/.."
program=$(mktemp)
trap 'rm -f "$program"' EXIT
go build -o "$program" ./scripts/mutate
ulimit -v $((12 << 20)) 2>/dev/null || true # a loop that has lost its end may fill the memory
"$program" "$@"
