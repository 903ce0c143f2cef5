#!/usr/bin/env bash
# How much sooner runs are made by more workers, of a quarter of a core each.
#
#	scripts/clusterspeed.sh [PROGRAM] [ARGUMENT ...]
#
# PROGRAM is a built kestrel (built here if none is named), ARGUMENTs are those of
# kestrel run (quickstart). The run is made by one worker and by four ($WORKERS), each a
# process with one lane in a group of its own that has a quarter of a core
# (cgroups, version 1 or 2, as root), so that four of them fit on one core and no gain comes of
# cores; the run's own process does not work, and is not held back. With CORES=1 each
# worker has a core to itself instead, from the second one of the machine on. Printed
# are the seconds from the first unit to the end, and how many units and phases there were.
set -u
set -- "" "$@"
. "$(dirname "$0")/interrupted.sh"
shift
. "$scripts/clustered.sh"
shift $(($# < 1 ? $# : 1))
arguments=("$@")
[ $# -gt 0 ] || arguments=(quickstart)
top=/sys/fs/cgroup/cpu
if [ ! -d $top ]; then
	top=/sys/fs/cgroup
	[ "${CORES:-}" ] || echo +cpu >$top/cgroup.subtree_control || { echo "cgroups do not divide cores here: CORES=1 does without"; exit 2; }
fi
groups=()
leave_groups() {
	local g
	for g in "${groups[@]}"; do rmdir "$g" 2>/dev/null; done
	[ "${KEEP:-}" ] || rm -rf "$work"
}
trap leave_groups EXIT
for k in 0 1 2 3 4 5 6 7 8; do
	[ -z "${CORES:-}" ] || break
	g=$top/speed$$-$k
	mkdir "$g" || { echo "no groups of processes can be made here: CORES=1 does without"; exit 2; }
	groups+=("$g")
	# What else runs on the machine takes nothing of these.
	if [ -e "$g/cpu.shares" ]; then
		echo 20480 >"$g/cpu.shares"
		[ $k = 0 ] || echo 25000 >"$g/cpu.cfs_quota_us"
	else
		echo 2000 >"$g/cpu.weight"
		[ $k = 0 ] || echo "25000 100000" >"$g/cpu.max"
	fi
done
# within K COMMAND...: in a group, or on a core.
within() {
	local k=$1
	shift
	[ -z "${CORES:-}" ] || exec taskset -c "$k" "$@"
	echo $BASHPID >"${groups[k]}/cgroup.procs"
	exec "$@"
}
first=
WORKERS=${WORKERS:-1 4}
for w in $WORKERS; do
	out=with-$w
	(within 0 "$program" run "${arguments[@]}" --headless --set cluster.work_here=false --out "$out" --cluster 127.0.0.1:0) >"$out-said" 2>&1 &
	process=$!
	served "$process" "$out"
	for k in $(seq "$w"); do (within "$k" "$program" worker --lanes 1 --ticket "$out/cluster.ticket") >>"$out-workers" 2>&1 & done
	until grep -qs '"type":"worker-joined"' "$out/events.jsonl" || ! alive "$process"; do sleep 0.02; done
	began=$(now)
	"$harm" watch "$out/state/cluster.key" >"$out-watched" &
	wait "$process"
	code=$?
	seconds=$(awk -v a="$began" -v b="$(now)" 'BEGIN {printf "%.2f", (b - a) / 1e9}')
	wait
	[ $code = 0 ] || { tail -n 5 "$out-said" "$out-workers"; exit 1; }
	units=$(tail -n 1 "$out-watched" | sed -n 's/.*"Units":\([0-9]*\),"Moved.*/\1/p')
	phases=$(tail -n 1 "$out-watched" | sed -n 's/.*"Phases":\([0-9]*\).*/\1/p')
	first=${first:-$seconds}
	gain=$(awk -v a="$first" -v b="$seconds" 'BEGIN {printf "%.2f", a / b}')
	said=
	[ "$w" = "${WORKERS%% *}" ] || said=$(differs "with-${WORKERS%% *}" "$out")
	echo "$w workers: $seconds s, $gain times as fast; $units units, $phases phases $said"
done
