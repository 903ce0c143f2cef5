#!/usr/bin/env bash
# Runs every fuzz target for a time. An input that makes one fail is left in
# testdata/fuzz beside it: mend the fault and commit the input as a seed.
#
#   scripts/fuzz.sh                    10 minutes each
#   scripts/fuzz.sh 30s                as long as that
#   scripts/fuzz.sh 30s 'CSV|Parse'    those whose names match
#   FUZZ_WORKERS=2 scripts/fuzz.sh     so many processes each; default: all cores
set -euo pipefail
exec </dev/null
cd "$(dirname "$0")/.."

time=${1:-10m}
only=${2:-.}
failed=()
said=$(mktemp)
trap 'rm -f "$said"' EXIT
while IFS=: read -r file line; do
  name=$(sed -E 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/' <<<"$line")
  grep -qE "$only" <<<"$name" || continue
  package=./$(dirname "$file")
  printf '\n== %s %s, %s\n' "$package" "$name" "$time"
  if ! go test -tags parquet "$package" -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 100x \
    ${FUZZ_WORKERS:+-parallel "$FUZZ_WORKERS"} 2>&1 | tee "$said"; then
    # Where the time ends while the machine is busy, Go's fuzzer may call its own
    # deadline a failure; of a true one it tells the input.
    if grep -qx ' *context deadline exceeded' "$said" && ! grep -q 'Failing input written' "$said"; then
      echo "no input made it fail: it was stopped by its own deadline"
    else
      failed+=("$package $name")
    fi
  fi
done < <(grep -rE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\(f \*testing\.F\)' . | sed 's|^\./||' | sort)

if [ ${#failed[@]} -gt 0 ]; then
  printf '\nfailed:\n'
  printf '  %s\n' "${failed[@]}"
  exit 1
fi
