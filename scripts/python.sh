#!/usr/bin/env bash
# What kestrel export --format python writes, run by the libraries that are there: for
# each kind of kernel a short run on 60 rows of two inputs, exported for each library, and
# the largest relative difference of three predictions, mean and standard deviation, from
# kestrel's own. "-": the library cannot express it; empty: the library is not there.
#
#   scripts/python.sh [PYTHON...]
#
# Each PYTHON, python3 if none is named, is asked for all libraries; the first that has one
# runs it. scikit-learn: pip install scikit-learn. GPflow wants an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- python3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/kestrel" .
export TF_CPP_MIN_LOG_LEVEL=3

libraries=(numpy sklearn gpytorch gpflow gpjax)
runs=()
for library in "${libraries[@]}"; do
  found=""
  for python in "$@"; do
    if [ -z "$found" ] && "$python" -c "import $library" >"$work/import" 2>&1; then found=$python; fi
  done
  runs+=("$found")
done

awk 'BEGIN { srand(4); print "a,b,y"; for (i = 0; i < 60; i++) { a = 10*rand(); b = 3*rand()-1;
  printf "%.4f,%.4f,%.4f\n", a, b, sin(2*a) + 0.3*a*b + 0.1*(rand()-0.5) } }' >"$work/two.csv"
awk 'BEGIN { srand(5); print "x,y"; for (i = 0; i < 60; i++) { x = 10*rand();
  printf "%.4f,%.4f\n", x, sin(2*x) + 0.1*x*(x > 5) + 0.1*(rand()-0.5) } }' >"$work/one.csv"

kinds=(
  "two SE" "two SE[;ard]" "two RQ" "two RQ[;ard]" "two MATERN12" "two MATERN32[b]" "two MATERN52[;ard]" "two PER" "two PER[a]" "two COS[a]" "two COS"
  "two LIN" "two LIN[;ard]" "two POLY2" "two POLY3[a]" "two RQ+LIN[b]" "two PER[a]*SE[b]" "two (PER[a]+RQ)*LIN[b]" "two SE+CONST" "two SE+WN"
  "one PER*SE+LIN" "one CP(SE,LIN)" "one RW+PER" "one IRW+SE"
)
printf '%-26s' kernel
printf ' %10s' "${libraries[@]}"
printf '\n'
failed=0
for kind in "${kinds[@]}"; do
  table=${kind%% *} kernel=${kind#* }
  rm -rf "$work/run"
  "$work/kestrel" run "$work/$table.csv" -o "$work/run" --set "kernels.expressions=$kernel" --set data.time=no --set optimise.starts=2 \
    --set schedule.steps=20 --set schedule.evaluate_every=1 --set schedule.refine=0 --set data.test=0 >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
  }
  printf '%-26s' "$kernel"
  for i in "${!libraries[@]}"; do
    library=${libraries[$i]} python=${runs[$i]} value=""
    if ! "$work/kestrel" export "$work/run" --format python --library "$library" -o "$work/s.py" >"$work/log" 2>&1; then
      grep -q 'cannot express' "$work/log" || { cat "$work/log"; exit 1; }
      value=-
    elif [ -n "$python" ]; then
      value=$("$python" "$work/s.py" 2>"$work/log" | sed -n 's/^largest relative difference //p') || true
      if [ -z "$value" ]; then
        tail -3 "$work/log"
        value=failed failed=1
      elif awk -v v="$value" 'BEGIN { exit !(v != v + 0 || v > 1e-6) }'; then
        failed=1
      fi
    fi
    printf ' %10s' "$value"
  done
  printf '\n'
done
exit "$failed"
