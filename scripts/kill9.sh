#!/usr/bin/env bash
# Kills runs with SIGKILL at N random points and resumes them.
#
#	scripts/kill9.sh [N] [PROGRAM]
#
# N is the number of runs (60), PROGRAM a built kestrel (built here if none is
# named). Every run is one of a few short ones, is killed at a random moment,
# resumed, in every second case killed again while it is resumed, and resumed to
# its end. What must hold: posterior.csv and kernels.csv are those of the run
# that was never killed, byte for byte, and no row of posterior.csv or
# metrics.csv that was there at a kill is gone at the end. Exit code 1 if that
# fails for any of them. KEEP=1 keeps the directories.
set -u
n=${1:-60}
. "$(dirname "$0")/interrupted.sh"

variants=(
	"$quick"
	"$quick --prune-top 3 --then-refine 2"
	"$quick --set optimise.optimizer=natural --set schedule.batch=32 --set optimise.starts=1 --prune-top 2 --then-refine 2 --then-inducing 12"
	"$quick --set optimise.optimizer=adam --set schedule.batch=32 --set optimise.starts=1 --set predict.metric_rows=20"
	"$quick --set optimise.hyperparameters=diagonal --set data.outputs=100 --set posterior.auto_prune={below=0.05,wait=2,keep=2}"
	"$quick --set schedule.checkpoint=3600 --prune-top 3 --then-refine 2"
	"$quick --set schedule.checkpoint=0.02 --set optimise.optimizer=adam --set schedule.batch=32 --set optimise.starts=1"
)

references

# rows RUN FILE: those of the event log at this moment, without the column of
# seconds, sorted; the tables may end in a torn line, which is not one of them.
rows() {
	[ -s "$1/$2" ] || return 0
	if [ -n "$(tail -c 1 "$1/$2")" ]; then head -n -1 "$1/$2"; else cat "$1/$2"; fi |
		if [ "$2" = metrics.csv ]; then cut -d, -f1,2,4-; else cat; fi | sort
}

identical=0 different=0 lost=0 unbegun=0 over=0 first=0 twice=0
for i in $(seq "$n"); do
	v=$((i % ${#variants[@]}))
	run=run-$i
	killed "$(random 0 "${took[$v]}")" "$program" ${variants[$v]} --quiet --out "$run"
	if ! grep -q '^{.*"run-started".*}$' "$run/events.jsonl" 2>/dev/null; then
		# Nothing had been written: there is nothing to resume and nothing to lose.
		unbegun=$((unbegun + 1))
		rm -rf "$run"
		continue
	fi
	: >before-p >before-m
	keep() {
		rows "$run" posterior.csv | sort -u - before-p -o before-p
		rows "$run" metrics.csv | sort -u - before-m -o before-m
	}
	keep
	if grep -q '"type":"finished"' "$run/events.jsonl"; then over=$((over + 1)); else first=$((first + 1)); fi
	if [ $((i % 2)) = 0 ]; then
		killed "$(random 0 "${took[$v]}")" "$program" resume "$run" --quiet
		keep
		twice=$((twice + 1))
	fi
	said=$("$program" resume "$run" --quiet 2>&1) || case "$said" in
	*"needs no resuming"*) ;;
	*) echo "run $i (variant $v): $said" ;;
	esac
	if cmp -s "ref-$v/posterior.csv" "$run/posterior.csv" && cmp -s "ref-$v/kernels.csv" "$run/kernels.csv"; then
		identical=$((identical + 1))
	else
		different=$((different + 1))
		echo "run $i (variant $v) differs: ${variants[$v]}"
	fi
	gone=$(($(rows "$run" posterior.csv | sort -u | comm -23 before-p - | wc -l) + $(rows "$run" metrics.csv | sort -u | comm -23 before-m - | wc -l)))
	lost=$((lost + gone))
	[ "$gone" = 0 ] || echo "run $i (variant $v) has lost $gone rows"
	[ "${KEEP:-}" ] || rm -rf "$run"
done
echo "$n kills: $unbegun before the run's first event, $first in the middle, $over after a (first) end; $twice killed again while resuming"
echo "$identical identical results, $different different, $lost rows lost"
[ $different = 0 ] && [ $lost = 0 ]
