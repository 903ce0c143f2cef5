#!/usr/bin/env bash
# What a card shows, in one go of some eight minutes, for a machine without Go or network:
#
#   scripts/card.sh PROGRAM TESTS PEERS FOLDER
#
# PROGRAM is bin/kestrel-cuda and TESTS the compiled tests of device/cuda (docs/cuda-card.md says how
# they are made), PEERS the folder of torch_svgp.py, "" without, and FOLDER where the output of
# each part goes, a file each. With KESTREL_DATA the Swissgrid experiment of the paper is run, too, for
# SWISSGRID seconds (250). What has not ended within its time is cut off, and said; the exit code is 1
# where a part was cut off or failed.
set -uo pipefail
[ $# -eq 4 ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 tests=$2 peers=$3 out=$4
mkdir -p "$out"
wrong=0
export KESTREL_TEST_CARD=1 PYTHONUNBUFFERED=1

# part NAME SECONDS COMMAND... runs a part and shows the end of what it says.
part() {
  local name=$1 most=$2 code=0
  shift 2
  printf '\n== %s, %s s after the start\n' "$name" "$SECONDS"
  timeout -k 10 "$most" "$@" >"$out/$name" 2>&1 || code=$?
  tail -n "${LINES_SHOWN:-3}" "$out/$name"
  [ $code = 0 ] || { wrong=1; printf 'exit code %s (124: cut off after %s s)\n' $code "$most"; }
  return $code
}

part devices 20 "$program" devices
grep -q '^cuda .*GiB' "$out/devices" || exit 1
LINES_SHOWN=30 part check 240 "$program" devices --check
part suite 400 "$tests" -test.run TestCard -test.v
LINES_SHOWN=25 part operations 60 "$tests" -test.run XXX -test.bench 'Card/.*/M=(200|800)' -test.benchtime 20x
LINES_SHOWN=4 part reads 30 "$tests" -test.run XXX -test.bench CardReads -test.benchtime 4x
bench() { LINES_SHOWN=9 part "$1" 60 "$program" bench --device cuda --kernels k144 --work "$2" --step "$3" --seconds 1 --json; }
bench steps a,b,c adam,theta,frozen
bench bounds d,e bound
if [ -n "$peers" ]; then
  for work in a c; do
    for mode in batched compiled; do
      part "torch-$work-$mode" 60 python3 "$peers/torch_svgp.py" --device cuda --kernels k144 --work $work --mode $mode --seconds 2
    done
  done
  for work in a c; do
    part "gpytorch-$work" 90 python3 "$peers/torch_svgp.py" --device cuda --impl gpytorch --kernels k144 --work $work --seconds 1
  done
  bench again a,c adam
fi
if command -v ncu >/dev/null; then
  for work in b c; do
    part "ncu-$work" 90 ncu --clock-control none --set detailed \
      --kernel-id '::regex:^(gemm64_nt|gemm128_nt|gemm64_pairs|solve64_back|matrix_backward|matrix_forward|cholesky_panel|cholesky_below)$:2' \
      "$program" bench --device cuda --kernels k144 --work $work --step adam --seconds 0.1
  done
fi
if [ -n "${KESTREL_DATA:-}" ]; then
  LINES_SHOWN=40 part swissgrid "${SWISSGRID:-250}" "$program" run swissgrid --headless --device cuda --out "$out/run"
fi
# Beside one another, since the tools are slow and time is not what they show.
sanitize() {
  local shown code=0
  shown=$(part "$1-$2" 180 compute-sanitizer --tool "$1" --error-exitcode 9 "$tests" -test.run "$3" -test.v) || code=$?
  cat <<<"$shown"
  return $code
}
if command -v compute-sanitizer >/dev/null; then
  pids=()
  for tool in memcheck initcheck synccheck; do
    sanitize $tool all 'TestCard/^(interpreted|small)$' & pids+=($!)
  done
  while read -r name which; do
    sanitize racecheck "$name" "TestCard/$which" & pids+=($!)
  done <<'PARTS'
factors ^interpreted$/^(Cholesky|CholeskyFailure|Gemm|GemmLarge)$
solves ^interpreted$/^(Solve|SolveBoth|Inverse)$
large ^interpreted$/^FactorLarge$
steps ^interpreted$/^(SVGP|Targets|GaussKL|Collapsed|Adam|LogPrior|Sample|Lanes|Jitter|Expand)$
kernels ^interpreted$/^(KernelPoints|KernelSubset|KernelLevels|KernelFarPeriods|KernelNotFinite)$
generated ^generated$/^(KernelSubset|KernelPoints)$
arrays ^interpreted$/^(Arrays|Elementwise|Syrk|TriangularProducts)$
small ^small$
PARTS
  for pid in "${pids[@]}"; do wait "$pid" || wrong=1; done
fi
exit $wrong
