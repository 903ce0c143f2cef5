#!/usr/bin/env bash
# What it costs that workers take part: CPU of all processes, against one process alone.
#
#	scripts/clustercost.sh [ROUNDS] [PROGRAM] [ARGUMENT ...]
#
# ROUNDS are alternated (3), of which the least count; PROGRAM is a built kestrel (built here if none
# is named), ARGUMENTs are those of kestrel run (fig1c with 12 kernels). The run is made by one process with as
# many lanes as cores, and by three workers of one lane each, the run's own not working. Printed are seconds of
# CPU, user and system, units and phases (a unit is two messages, a phase a barrier), and what states
# took: used, from caches, bytes through the object store, seconds that lanes waited for them. The CPU beyond
# that of one process, less what three workers take that join and leave, is divided by messages
# and by barriers. What must hold besides: posterior.csv, kernels.csv and all arrays are the same.
set -u
rounds=${1:-3}
. "$(dirname "$0")/interrupted.sh"
. "$scripts/clustered.sh"
shift $(($# < 2 ? $# : 2))
arguments=("$@")
[ $# -gt 0 ] || arguments=(fig1c --set kernels.set=K12)
TIMEFORMAT='%U %S'

# spent COMMAND...: has the seconds of CPU of it and all its children in $cpu.
spent() {
	cpu=$({ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{print $1 + $2}')
}
alone() { "$program" run "${arguments[@]}" --quiet --out "alone-$1"; }
several() {
	local process
	"$program" run "${arguments[@]}" --headless --set device.lanes=1 --set cluster.work_here=false --out "several-$1" --cluster 127.0.0.1:0 &
	process=$!
	served "$process" "several-$1"
	for _ in 1 2 3; do "$program" worker --lanes 1 --ticket "several-$1/cluster.ticket" & done
	wait
}
watched() {
	until [ -s "several-$1/cluster.ticket" ]; do sleep 0.05; done
	"$harm" watch "several-$1/state/cluster.key" >"watched-$1"
}
# joining: three workers that come to a server without a run, and leave.
joining() {
	local server
	"$program" cluster start server --listen 127.0.0.1:0 &
	server=$!
	until [ -s server/cluster.ticket ]; do sleep 0.05; done
	for _ in 1 2 3; do "$program" worker --lanes 1 --ticket server/cluster.ticket --idle-exit 1s & done
	sleep 3
	kill -TERM "$server"
	wait
}
least() { awk -v a="${1:-x}" -v b="$2" 'BEGIN {print a == "x" || b < a ? b : a}'; }
one= three=
spent joining
comes=$cpu
for i in $(seq "$rounds"); do
	spent alone "$i"
	one=$(least "$one" "$cpu")
	said="one process $cpu s"
	watched "$i" &
	watcher=$!
	spent several "$i"
	three=$(least "$three" "$cpu")
	wait "$watcher"
	echo "round $i: $said, three workers $cpu s; $(differs "alone-$i" "several-$i" && echo equal)"
done
sed -n '$p' "watched-$rounds" >last
units=$(sed 's/.*"Units":\([0-9]*\),"Moved".*/\1/' last)
phases=$(sed 's/.*"Phases":\([0-9]*\).*/\1/' last)
awk -v one="$one" -v three="$three" -v comes="$comes" -v units="$units" -v phases="$phases" 'BEGIN {
	more = three - one
	printf "least: %.2f s alone, %.2f s with three workers, %+.1f %%; joining and leaving alone %.2f s\n", one, three, 100 * more / one, comes
	printf "%d units, %d phases: %.2f ms a message, %.1f ms a barrier, each if all of it were theirs\n", units, phases,
		1000 * (more - comes) / (2 * units), 1000 * (more - comes) / phases
}'
python3 - last <<'END' 2>/dev/null || cat last
import json, sys
s = json.load(open(sys.argv[1]))
used = sum(w["Used"] for w in s["Workers"])
got = sum(w["Moved"]["Got"] for w in s["Workers"])
put = sum(w["Moved"]["Put"] for w in s["Workers"])
size = sum(w["Moved"]["Bytes"] for w in s["Workers"])
wait = sum(w["Moved"]["Seconds"] for w in s["Workers"])
print(f"states: {used} used by units, {got} of them fetched, {put} made; {size/1e6:.1f} MB by workers in {wait:.2f} s, "
      f"by the run {s['Moved']['Bytes']/1e6:.1f} MB in {s['Moved']['Seconds']:.2f} s")
END
