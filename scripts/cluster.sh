#!/usr/bin/env bash
# Has processes take part in runs, and come to harm by random schedules.
#
#	scripts/cluster.sh [N] [PROGRAM] [SEED]
#
# N is the number of schedules (20), PROGRAM a built kestrel (built here if none
# is named), SEED a number that the schedules are drawn from (1). Every run is one
# of a few short ones with one to four workers, each a process of its own, by TLS
# on this machine. While it goes on, at random moments, a worker is killed with
# SIGKILL, stopped with SIGSTOP for up to twice the time after which it is taken
# for lost, sent away with SIGTERM, or a new one joins; in two of three schedules
# a worker is killed while units of a phase that is drawn beforehand are open; in
# every fourth the run's own process is killed, too, and resumed with the same
# ticket; in every fifth a third of all units and answers comes twice.
#
# As root, where network namespaces can be made, the run and every worker has one
# of its own, and links are cut as well: both ways, or one, for up to four times the time
# after which a worker is lost, now and then for nine seconds (what is sent then goes to no
# card that there is: nobody is told). Where groups of processes can be given less of a core
# (cgroups, version 1), a first worker has a quarter of one in every second schedule. What
# is not to be had is said and left out.
#
# What must hold: posterior.csv, kernels.csv and every array of the checkpoint are
# those of the run that one process made alone, byte for byte (so that no kernel
# fails for the workers that are killed with it, cluster.most_lost is high), and no run takes
# longer than $MOST seconds (240). Exit code 1 if that fails for any of them.
# KEEP=1 keeps the directories, FAILED=DIR copies of those that failed there.
set -u
n=${1:-20}
. "$(dirname "$0")/interrupted.sh"
. "$scripts/clustered.sh"
seed=${3:-1}
most=${MOST:-240}

short="run quickstart --set data.outputs=100 --set schedule.refine=1 --set optimise.starts=1 --set schedule.batch=32"
variants=()
for optimizer in collapsed natural adam; do
	for beliefs in point diagonal; do
		variants+=("$short --set optimise.optimizer=$optimizer --set optimise.hyperparameters=$beliefs")
	done
done
variants+=("$short --set optimise.optimizer=natural --set schedule.batch=64 --set sparse.inducing=72")
for optimizer in collapsed natural; do
	variants+=("$short --set optimise.optimizer=$optimizer --set kernels.grow=true --set kernels.grow_leaves=2 --set kernels.grow_live=8")
done
# Phases that they have.
phases=(
	"optimise transplants integrals_over_hyperparameters evidence predict"
	"optimise transplants beliefs_over_hyperparameters predict"
	"optimise transplants tune learn evidence predict"
	"optimise transplants learn predict"
	"optimise transplants learn predict"
	"optimise transplants learn predict"
	"optimise transplants tune learn evidence predict"
	"optimise transplants integrals_over_hyperparameters evidence predict"
	"optimise transplants tune learn evidence predict"
)
references
exec 2>shell # what it says of its children that are killed is nothing new

# Places: the run's namespace and those of six workers, each with a link to it.
places=6
net=k$$
nets=false
group=
leave_places() {
	local k
	if $nets; then for k in $(seq 0 $places); do ip netns del "$net-$k" 2>/dev/null; done; fi
	[ ! "$group" ] || rmdir "$group" 2>/dev/null
	[ "${KEEP:-}" ] || rm -rf "$work"
}
trap leave_places EXIT
run_card() { printf '02:00:00:00:%02x:01' "$1"; }
worker_card() { printf '02:00:00:00:%02x:02' "$1"; }
# way K PLACE: puts right what place K, or the run towards it, sends; lost does not.
way() {
	if [ "$2" = run ]; then
		ip -n "$net-0" neigh replace "10.77.$1.2" lladdr "${3:-$(worker_card "$1")}" dev "w$1" nud permanent
	else
		ip -n "$net-$1" neigh replace "10.77.$1.1" lladdr "${3:-$(run_card "$1")}" dev w nud permanent
	fi
}
if ip netns add "$net-0" 2>/dev/null; then
	nets=true
	ip -n "$net-0" link set lo up
	for k in $(seq $places); do
		ip netns add "$net-$k" && ip -n "$net-0" link add "w$k" address "$(run_card "$k")" type veth \
			peer name w netns "$net-$k" address "$(worker_card "$k")" || exit 2
		ip -n "$net-0" addr add "10.77.$k.1/24" dev "w$k" && ip -n "$net-0" link set "w$k" up || exit 2
		ip -n "$net-$k" addr add "10.77.$k.2/24" dev w && ip -n "$net-$k" link set w up && ip -n "$net-$k" link set lo up || exit 2
		way "$k" run && way "$k" worker || exit 2
	done
else
	echo "no network namespaces: no link is cut"
fi
if mkdir "/sys/fs/cgroup/cpu/$net" 2>/dev/null; then
	group=/sys/fs/cgroup/cpu/$net
	echo 25000 >"$group/cpu.cfs_quota_us" || { rmdir "$group"; group=; }
fi
[ "$group" ] || echo "no groups of processes: no worker is slower than others"
# at K COMMAND...: in a place.
at() {
	local k=$1
	shift
	if $nets; then exec nsenter "--net=/run/netns/$net-$k" "$@"; else exec "$@"; fi
}

declare -a workers where
join() {
	local k=1 host=127.0.0.1
	while [[ " ${where[*]} " == *" $k "* ]]; do k=$((k + 1)); done
	! $nets || host=10.77.$k.1
	(at "$k" "$program" worker --lanes 1 --idle-exit 60s --join "kestrel://$host:$port" --ticket "$run/cluster.ticket") >>"$run-workers" 2>&1 &
	workers+=($!)
	where+=("$k")
	joins=$((joins + 1))
}
# drop PLACE: a worker is not counted on any more.
drop() {
	workers=("${workers[@]:0:$1}" "${workers[@]:$(($1 + 1))}")
	where=("${where[@]:0:$1}" "${where[@]:$(($1 + 1))}")
}
# doomed PHASE: kills a worker while units of that phase, or any, are open.
doomed() {
	local i=$((RANDOM % ${#workers[@]}))
	(at 0 "$harm" kill "$run/state/cluster.key" "${workers[$i]}" "$1") >>"$run-killed" 2>/dev/null &
}
# cut K: one way or both, for a while.
cut() {
	local k=$1 ways=run s=$((RANDOM % 4))
	case $((RANDOM % 3)) in 0) ways="run worker" ;; 1) ways=worker ;; esac
	[ $((RANDOM % 12)) != 0 ] || s=9
	[ "$ways" = "run worker" ] && cuts=$((cuts + 1)) || half=$((half + 1))
	(
		for from in $ways; do way "$k" "$from" 02:00:00:00:ff:ff; done
		sleep "$(printf '%d.%03d' $s "$(random 200 999)")"
		for from in $ways; do way "$k" "$from"; done
	) 2>/dev/null &
}

harmed() {
	local i=$((RANDOM % ${#workers[@]})) id
	id=${workers[$i]}
	case $((RANDOM % 9)) in
	0)
		(at 0 "$harm" kill "$run/state/cluster.key" "$id") >>"$run-killed" 2>/dev/null
		;;
	1 | 2)
		kill -STOP "$id" 2>/dev/null
		(sleep "$(printf '%d.%03d' $((RANDOM % 2)) "$(random 0 999)")"; kill -CONT "$id" 2>/dev/null) &
		stops=$((stops + 1))
		;;
	3)
		kill -TERM "$id" 2>/dev/null
		drop "$i"
		drains=$((drains + 1))
		;;
	4 | 5 | 6) ! $nets || cut "${where[$i]}" ;;
	*) [ ${#workers[@]} -ge 5 ] || join ;;
	esac
}

bad=0 stops=0 joins=0 drains=0 deaths=0 lost=0 cuts=0 half=0 slow=0 twice=0 again=0
wrong() {
	bad=$((bad + 1))
	echo "schedule $i (seed $seed, variant $v: ${variants[$v]}): $1"
	tail -n 5 "$run-said" "$run-workers" 2>/dev/null | sed 's/^/	/'
	[ ! "${FAILED:-}" ] || cp -r "$run" "$run-said" "$run-workers" "$run-killed" "$FAILED" 2>/dev/null
}
for i in $(seq "$n"); do
	RANDOM=$((seed * 1000 + i))
	v=$(((i - 1) % ${#variants[@]}))
	run=run-$i
	workers=() where=()
	own=false
	port=$(random 20000 30000)
	[ $((RANDOM % 3)) = 0 ] && own=true
	export KESTREL_UNIT=$((RANDOM % 3)) # kernels of a unit; 0: as many as take the time that one should
	(at 0 "$program" ${variants[$v]} --headless --set cluster.lost_after=0.6 --set cluster.most_lost=1000000 \
		--set cluster.work_here=$own --out "$run" --cluster "0.0.0.0:$port") >"$run-said" 2>&1 &
	process=$!
	served "$process" "$run"
	for _ in $(seq "$(random 1 4)"); do join; done
	if [ "$group" ] && [ $((RANDOM % 2)) = 0 ]; then
		echo "${workers[0]}" >"$group/cgroup.procs" && slow=$((slow + 1))
	fi
	if [ $((i % 5)) = 0 ]; then
		(at 0 "$harm" twice "$run/state/cluster.key") >"$run-twice" 2>/dev/null &
		twice=$((twice + 1))
	fi
	of=(${phases[$v]})
	[ $((i % 3)) = 0 ] || doomed "${of[$((RANDOM % ${#of[@]}))]//_/ }"
	die=0 ended=false
	[ $((i % 4)) = 0 ] && die=$(random 2 12)
	late=$((SECONDS + most))
	while alive "$process"; do
		pause 20 400
		if [ $SECONDS -ge $late ]; then
			kill -QUIT "$process" 2>/dev/null # where it stands
			sleep 2
			slay "$process"
		fi
		for x in "${!workers[@]}"; do alive "${workers[$x]}" || { drop "$x"; break; }; done
		if [ "$die" = 1 ]; then
			slay "$process"
			deaths=$((deaths + 1))
			ended=true
			if ! grep -qs '"type":"finished"' "$run/events.jsonl"; then
				ended=false
				(at 0 "$program" resume "$run" --headless --cluster "0.0.0.0:$port") >>"$run-said" 2>&1 &
				process=$!
				served "$process" "$run"
			fi
		fi
		[ "$die" = 0 ] || die=$((die - 1))
		if [ ${#workers[@]} = 0 ]; then join; else harmed; fi
	done
	{ wait "$process"; } 2>/dev/null
	code=$?
	! $ended || code=0 # it was killed behind its end
	for id in "${workers[@]}"; do slay "$id"; done
	{ wait; } 2>/dev/null
	lost=$((lost + $(grep -c '"type":"worker-lost"' "$run/events.jsonl")))
	cat "$run-killed" >>killed 2>/dev/null
	again=$((again + $(cat "$run-twice" 2>/dev/null || echo 0)))
	if [ $code != 0 ]; then
		wrong "exit code $code"
	elif said=$(differs "ref-$v" "$run"); [ "$said" ]; then
		wrong "$said"
	fi
	[ "${KEEP:-}" ] || rm -rf "$run" "$run-said" "$run-workers" "$run-killed" "$run-twice"
done
touch killed
grep -v " Killed " shell
echo "$n schedules from seed $seed: $joins workers joined, $(wc -l <killed) were killed, $stops stopped," \
	"$drains sent away; $lost left or were lost"
echo "$cuts links were cut, $half one way; $slow workers had a quarter of a core;" \
	"$again messages came twice in $twice schedules; $deaths runs were killed"
phase='{printf "%s%s %d", sep, $2, $1; sep = ", "}'
echo "killed in phases: $(sed 's/^$/between_phases/' killed | sort | uniq -c | sort -rn | awk "$phase")"
echo "$bad failed"
[ $bad = 0 ]
