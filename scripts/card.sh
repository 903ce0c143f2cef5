#!/usr/bin/env bash
# What a card shows, in one go of some five minutes, for a machine without Go or network:
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
}

part devices 20 "$program" devices
grep -q '^cuda .*GiB' "$out/devices" || exit 1
LINES_SHOWN=30 part check 240 "$program" devices --check
part suite 60 "$tests" -test.run 'TestCard/(agreement/interpreted|auto)' -test.v
LINES_SHOWN=25 part operations 60 "$tests" -test.run XXX -test.bench 'Card/.*/M=(200|800)' -test.benchtime 20x
bench() { LINES_SHOWN=9 part "$1" 60 "$program" bench --device cuda --kernels k144 --work "$2" --step "$3" --seconds 1 --json; }
bench steps a,b,c adam,theta,frozen
if [ -n "$peers" ]; then
  for work in a c; do
    for mode in batched compiled; do
      part "torch-$work-$mode" 60 python3 "$peers/torch_svgp.py" --device cuda --kernels k144 --work $work --mode $mode --seconds 2
    done
  done
  bench again a,c adam
fi
if [ -n "${KESTREL_DATA:-}" ]; then
  LINES_SHOWN=40 part swissgrid "${SWISSGRID:-250}" "$program" run swissgrid --headless --device cuda --out "$out/run"
fi
if command -v compute-sanitizer >/dev/null; then
  part memcheck 60 compute-sanitizer --tool memcheck --error-exitcode 9 "$tests" -test.run TestCard/interpreted -test.v
  part racecheck 120 compute-sanitizer --tool racecheck --error-exitcode 9 "$tests" -test.run 'TestCard/interpreted/(Chol|Gemm)' -test.v
fi
exit $wrong
