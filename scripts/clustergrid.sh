#!/usr/bin/env bash
# Makes short runs by one process alone and by workers, as many as may be.
#
#	scripts/clustergrid.sh [UNITS] [PROGRAM]
#
# UNITS are sizes of units, in kernels (0 1 2 6: 0 is as many as take the time that a
# unit should), PROGRAM a built kestrel (built here if none is named). Every
# optimiser, with q(log θ) and without, and one whose states go by the object
# store, is run by one process, and with each size of units by 1, 2, 3 and 5 workers,
# each a process of its own, by TLS on this machine; the run's own lanes work in none
# of them but those of one and five. What must hold: posterior.csv, kernels.csv and every array of
# the checkpoint are those of the run that one process made alone, byte for byte.
# Exit code 1 if that fails for any of them. KEEP=1 keeps the directories.
set -u
units=${1:-0 1 2 6}
. "$(dirname "$0")/interrupted.sh"
. "$scripts/clustered.sh"
short="run quickstart --set data.outputs=100 --set schedule.refine=1 --set optimise.starts=1"
variants=()
names=()
for optimizer in collapsed natural adam; do
	for beliefs in point diagonal; do
		names+=("$optimizer, $beliefs")
		variants+=("$short --set optimise.optimizer=$optimizer --set optimise.hyperparameters=$beliefs --set schedule.batch=32")
	done
done
names+=("natural, M = 72")
variants+=("$short --set optimise.optimizer=natural --set schedule.batch=64 --set sparse.inducing=72")
references

bad=0 made=0
head=$(printf '%-20s' '')
for w in 1 2 3 5; do for u in $units; do head+=$(printf ' %6s' "${w}x$u"); done; done
echo "workers x kernels a unit: units, where all is equal"
echo "$head"
for v in "${!variants[@]}"; do
	line=$(printf '%-20s' "${names[$v]}")
	for w in 1 2 3 5; do
		for u in $units; do
			run=run-$v-$w-$u here=false
			[ $w = 1 ] || [ $w = 5 ] && here=true
			KESTREL_UNIT=$u "$program" ${variants[$v]} --headless --set cluster.work_here=$here --out "$run" \
				--cluster 127.0.0.1:0 >"$run-said" 2>&1 &
			process=$!
			served "$process" "$run"
			"$harm" watch "$run/state/cluster.key" >"$run-watched" &
			for at in $(seq "$w"); do
				"$program" worker --lanes 1 --ticket "$run/cluster.ticket" >>"$run-workers" 2>&1 &
			done
			wait "$process"
			code=$?
			wait
			made=$((made + 1))
			sent=$(tail -n 1 "$run-watched" | sed -n 's/.*"Units":\([0-9]*\),"Moved.*/\1/p')
			said=$(differs "ref-$v" "$run")
			if [ $code != 0 ] || [ "$said" ]; then
				bad=$((bad + 1))
				sent=WRONG
				printf '%s, %d workers, units of %d: exit code %d\n%s\n' "${names[$v]}" "$w" "$u" $code "$said" >&2
				tail -n 3 "$run-said" "$run-workers" >&2
			fi
			line+=$(printf ' %6s' "$sent")
			[ "${KEEP:-}" ] || rm -rf "$run" "$run-said" "$run-workers" "$run-watched"
		done
	done
	echo "$line"
done
echo "$made runs with workers, $bad of them not what one process makes alone"
[ $bad = 0 ]
