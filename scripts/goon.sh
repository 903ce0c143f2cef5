#!/usr/bin/env bash
# Kills series of runs with SIGKILL at N random points and gives the same command
# again.
#
#	scripts/goon.sh [N] [PROGRAM]
#
# N is the number of series (60), PROGRAM a built kestrel (built here if none is
# named). Each is one of run --repeat, study, compare and backtest, is killed at a random
# moment one to four times, each time in the middle of what the same command makes
# of the rest, and then left to end. Every third one has two workers, processes of
# their own, of which one is killed as well; in every second of these the command
# itself does none of the work. What must hold: its directory has the same
# files as that of a series that was never killed, hidden ones included, and all
# tables and the table on the screen say the same but for seconds. Exit code 1 if
# that fails for any of them. KEEP=1 keeps the directories.
set -u
n=${1:-60}
. "$(dirname "$0")/interrupted.sh"

quick="--set data.outputs=100 --set data.test=20 --set sparse.inducing=8 --set optimise.starts=1 --set schedule.evaluate_every=0.2 --set schedule.refine=1"
variants=(
	"run quickstart $quick --repeat 3 --prune-top 3 --then-refine 1"
	"study --figures quickstart --variant i,iii --seeds 1..2 --compare-starts 2 $quick"
	"compare quickstart $quick --runs 2 --methods vbks,vbks-s,vbks-prune,random,bo --set compare.budget=3 --set compare.random_runs=3 --set compare.rows=20 --set compare.draws=2"
	"backtest quickstart $quick --horizon 10 --origins 8 --step 2"
)

# timeless FILE: a table without what a clock decides.
timeless() {
	case "$1" in
	*/study-elbos-* | */study-starts-*) cat "$1" ;;
	*/study-*) cut -d, -f1-17,19- "$1" ;;
	*/search.csv) cut -d, -f1,2,5- "$1" ;;
	*/final.csv) cut -d, -f1-5,7- "$1" ;;
	*/[0-9]*/metrics.csv) cut -d, -f1,2,4- "$1" ;;
	*/metrics.csv) cut -d, -f1-3,5- "$1" ;;
	*.txt) sed -E 's/; median [^;]* s$//; s/^(\| [0-9]+ \|.*\|) [0-9.e+-]+ \|$/\1/' "$1" ;;
	*) cat "$1" ;;
	esac
}

# tables DIR: all of them, and the names of all files.
tables() {
	local file
	(cd "$1" && find . | LC_ALL=C sort)
	find "$1" -name '*.csv' | LC_ALL=C sort | while read -r file; do
		echo "== ${file#"$1"}"
		timeless "$file"
	done
	timeless "$1.txt"
}

references >/dev/null
for v in "${!variants[@]}"; do
	"$program" ${variants[$v]} --quiet --out "ref-$v" >"ref-$v.txt" || exit 2
	tables "ref-$v" >"ref-$v.all"
done

# helped DIR: two workers take part in what is made there, whenever somebody serves them, until it
# is over. One of them stands still for longer than it may be silent, or is sent away, and is
# killed after a while.
helped() {
	local stays="" child="" left
	left=$(random 5 30)
	alive() { [ "$1" ] && kill -0 "$1" 2>/dev/null; }
	until [ -e "$1.over" ]; do
		sleep 0.1
		[ -e "$1/cluster.ticket" ] || continue
		if ! alive "$stays"; then
			"$program" worker --lanes 1 --ticket "$1/cluster.ticket" >"$1-stays" 2>&1 &
			stays=$!
		fi
		[ $left -gt 0 ] || continue
		if ! alive "$child"; then
			"$program" worker --lanes 1 --ticket "$1/cluster.ticket" >"$1-killed" 2>&1 &
			child=$!
		fi
		left=$((left - 1))
		[ $left = 0 ] || continue
		case $((RANDOM % 3)) in
		0) kill -TERM "$child" 2>/dev/null && sleep 1 ;;
		1) kill -STOP "$child" 2>/dev/null && sleep 2.5 && kill -CONT "$child" && sleep "0.$(random 100 999)" ;;
		esac
		kill -KILL "$child" 2>/dev/null
		{ wait "$child"; } 2>/dev/null
	done
	for child in $stays $child; do kill -KILL "$child" 2>/dev/null; done
	{ wait; } 2>/dev/null
}

same=0 different=0 kills=0 refused=0 helped=0
for i in $(seq "$n"); do
	v=$((i % ${#variants[@]}))
	dir=series-$i
	with=""
	if [ $((i % 3)) = 0 ]; then
		helped=$((helped + 1))
		with="--cluster 127.0.0.1:$(random 20000 30000) --set cluster.lost_after=1.5"
		[ $((i % 2)) = 1 ] || with="$with --set cluster.work_here=false"
		helped "$dir" &
		helper=$!
	fi
	for _ in $(seq "$(random 1 4)"); do
		killed "$(random 0 "${took[$v]}")" "$program" ${variants[$v]} $with --quiet --out "$dir"
		kills=$((kills + 1))
	done
	if ! said=$("$program" ${variants[$v]} $with --quiet --out "$dir" 2>&1 >"$dir.txt"); then
		refused=$((refused + 1))
		echo "series $i (variant $v): $said"
	elif tables "$dir" >"$dir.all"; cmp -s "ref-$v.all" "$dir.all"; then
		same=$((same + 1))
	else
		different=$((different + 1))
		echo "series $i (variant $v) differs: ${variants[$v]}"
		diff "ref-$v.all" "$dir.all" | head -n 10
	fi
	if [ "$with" ]; then
		touch "$dir.over"
		{ wait $helper; } 2>/dev/null
	fi
	[ "${KEEP:-}" ] || rm -rf "$dir" "$dir.txt" "$dir.all" "$dir.over" "$dir-stays" "$dir-killed"
done
echo "$n series, $helped with workers, $kills kills: $same as never killed, $different different, $refused that did not go on"
[ $different = 0 ] && [ $refused = 0 ]
