#!/usr/bin/env bash
# Fills the disk while runs write to it.
#
#	scripts/diskfull.sh [N] [PROGRAM]
#
# N is the number of runs (20), PROGRAM a built kestrel (built here if none is
# named). Each runs on a file system of 2 MB in memory, which is filled at a
# random moment. Two of three runs get room again after a while and must go on
# by themselves; every third is killed while the disk is full and resumed when
# there is room. All must end with the posterior.csv and kernels.csv of a run
# that was not disturbed. Needs Linux and user namespaces (unshare).
set -u
n=${1:-20}
if [ -z "${KESTREL_DISK:-}" ]; then
	work=$(mktemp -d)
	program=${2:-}
	if [ -z "$program" ]; then
		program=$work/kestrel
		go build -trimpath -o "$program" . || exit 2
	fi
	mkdir "$work/disk"
	KESTREL_DISK=$work/disk unshare -rm "$0" "$n" "$(realpath "$program")"
	code=$?
	rm -rf "$work"
	exit $code
fi
program=$2
disk=$KESTREL_DISK
mount -t tmpfs -o size=2m none "$disk" || exit 2
cd "$disk/.." || exit 2

args="run quickstart --quiet --set schedule.evaluate_every=0.02 --set schedule.refine=2 --prune-top 3 --then-refine 2"
began=$(date +%s%N)
"$program" $args --out ref || exit 2
took=$((($(date +%s%N) - began) / 1000))

random() { echo $(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1 + 1))); }
pause() { sleep "$(printf '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000)))"; }
fill() { dd if=/dev/zero of="$disk/filler" bs=512 2>/dev/null; }

identical=0 different=0 paused=0 killed=0 ended=0 early=0
for i in $(seq "$n"); do
	run=$disk/run
	rm -rf "$disk/run" "$disk/filler"
	"$program" $args --out "$run" 2>said &
	child=$!
	pause "$(random $((took / 20)) $((took * 4 / 5)))"
	fill
	pause 300000
	if [ $((i % 3)) = 0 ]; then
		kill -KILL $child 2>/dev/null && killed=$((killed + 1))
		{ wait $child; } 2>/dev/null
		rm -f "$disk/filler"
		if ! grep -q '^{.*"run-started".*}$' "$run/events.jsonl" 2>/dev/null; then
			early=$((early + 1))
			continue
		fi
		"$program" resume "$run" --quiet 2>said || grep -q 'needs no resuming' said || cat said
	else
		rm -f "$disk/filler"
		if ! { wait $child; } 2>/dev/null; then
			# Before it began it may have given up, and said why.
			if ! grep -q '"type":"evaluation"' "$run/events.jsonl" 2>/dev/null && grep -q 'no space' said; then
				early=$((early + 1))
				continue
			fi
			# Full at its very end; what is to be done stands in the message.
			grep -q 'make room and resume the run' said || cat said
			"$program" resume "$run" --quiet && ended=$((ended + 1))
		fi
	fi
	grep -q '"paused","reason":"the disk is full' "$run/events.jsonl" && paused=$((paused + 1))
	if cmp -s ref/posterior.csv "$run/posterior.csv" && cmp -s ref/kernels.csv "$run/kernels.csv"; then
		identical=$((identical + 1))
	else
		different=$((different + 1))
		echo "run $i differs"
		tail -n 3 "$run/log.txt"
	fi
done
echo "$n runs on a full disk: $paused paused and went on, $killed killed and resumed, $ended ended with unwritten events and resumed, $early gave up before the first event"
echo "$identical identical results, $different different"
[ $different = 0 ]
