#!/usr/bin/env bash
# Loads kestrel with much of everything and prints what it takes.
#
#	scripts/load.sh [PART] [PROGRAM] [SECONDS]
#
# PART is one of these, or all (but the last):
#
#	rows         a million generated rows x 3 inputs, 144 kernels, 200 inducing
#	             inputs, three evaluations, then the summary, a prediction of all
#	             rows and a report: time, most memory, files. 2 minutes of CPU
#	components   the same run, what holds its memory, from the heap's profile
#	             beside what can be counted (needs Go). 1 minute of CPU
#	evaluations  ten thousand evaluations of a tiny run: time, memory, files, and
#	             how long they take to be opened, exported, drawn, resumed
#	growth       a run whose space grows, in which some 7,000 kernels come: memory in each
#	             fifth of its time (the last evaluations, of all rows, compare bounds of
#	             k(X,X)); fails if it takes a third more in the fourth than in the second.
#	             2.5 minutes of CPU
#	runs         fifty runs in one folder: the list of runs, and their comparison
#	alone        a run left alone for SECONDS (3600): memory and threads every 10
#	             seconds, or 40 times; fails if it takes a tenth more in the last quarter than in
#	             the one before. A run in the workbench where there is script(1), else headless
#
# PROGRAM is a built kestrel (built here if none is named). The program may take
# LIMIT_MB (4096) of memory; beyond it is ended and the exit code is 1. That is
# looked at four times a second, from its peak as the system counts it. Needs
# Linux. KEEP=1 keeps the files; ROWS, KERNELS (a set), INDUCING and EVALUATIONS are
# for a shorter look.
set -u
part=${1:-all}
program=${2:-}
seconds=${3:-3600}
many=${ROWS:-1000000}
kernels=${KERNELS:-K144}
evaluations=${EVALUATIONS:-10000}
inducing=${INDUCING:-200}
limit=$((${LIMIT_MB:-4096} * 1024))
here=$(cd "$(dirname "$0")/.." && pwd)
case $part in
all | rows | components | evaluations | growth | runs | alone) ;;
*)
	echo "part $part: must be rows, components, evaluations, growth, runs, alone or all" >&2
	exit 2
	;;
esac
[ -r /proc/self/status ] || { echo "needs /proc, which only Linux has" >&2; exit 2; }
work=$(mktemp -d)
[ "${KEEP:-}" ] && echo "in $work" || trap 'rm -rf "$work"' EXIT
if [ -z "$program" ]; then
	program=$work/kestrel
	(cd "$here" && go build -trimpath -o "$program" .) || exit 2
fi
program=$(realpath "$program")
cd "$work" || exit 2
bad=0

now() { date +%s%N; }
mb() { echo "$((($1 + 512) / 1024)) MB"; }
size() { if [ -f "$1" ]; then echo "$(stat -c %s "$1") bytes"; else echo none; fi; }
line() { printf '  %-46s %s\n' "$1" "$2"; }
# status PID FIELD: kB, or a number, of a running process; nothing if it is gone.
status() { awk -v f="$2:" '$1 == f { print $2 }' "/proc/$1/status" 2>/dev/null; }
# ticks PID: CPU time in hundredths of a second.
ticks() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '{ print $12 + $13 }'; }

# watched NAME COMMAND…: runs a command, keeps an eye on it and tells what it
# took. Its output is in NAME.out, what it held in NAME.rss, a line each quarter
# of a second: kB at that moment. GNU time, where it is there, knows the peak and
# the CPU time of short commands, too.
watched() {
	local name=$1 peak=0 cpu=0 child pid p c code began timer=()
	shift
	[ -x /usr/bin/time ] && timer=(/usr/bin/time -o "$name.time" -f '%U %S %M')
	: >"$name.rss"
	began=$(now)
	"${timer[@]}" "$@" >"$name.out" 2>&1 </dev/null &
	child=$!
	while kill -0 $child 2>/dev/null; do
		pid=$child
		[ ${#timer[@]} = 0 ] || pid=$(awk '{ print $1 }' "/proc/$child/task/$child/children" 2>/dev/null)
		p=$(status "$pid" VmHWM) c=$(ticks "$pid")
		[ -n "$p" ] && peak=$p && status "$pid" VmRSS >>"$name.rss"
		[ -n "$c" ] && cpu=$c
		if [ "$peak" -gt $limit ]; then
			echo "$name: more than $(mb $limit); it is ended"
			bad=1
			kill -KILL "$pid"
		fi
		sleep 0.25
	done
	{ wait $child; } 2>/dev/null
	code=$?
	[ ${#timer[@]} = 0 ] || read -r cpu peak < <(tail -n 1 "$name.time" | awk '{ print int(100 * ($1 + $2)), $3 }')
	line "$name" "$(awk -v ns=$(($(now) - began)) -v cpu="$cpu" 'BEGIN { printf "%.1f s, %.1f s of CPU", ns / 1e9, cpu / 100 }'), $(mb "$peak") at most"
	[ "$peak" -le $limit ] || bad=1
	[ $code = 0 ] || { bad=1; echo "$name: exit code $code"; tail -n 3 "$name.out"; }
}

# shown NAME TEXT COMMAND…: starts the workbench in a terminal of 120x36 and
# tells when TEXT is on the screen, how much CPU it takes until it has come to
# rest, and its memory then.
shown() {
	local name=$1 text=$2 began first pid last c i
	shift 2
	if ! command -v script >/dev/null; then
		line "$name" "not looked at: script(1) is not there"
		return
	fi
	rm -f "$name.pid" "$name.screen"
	began=$(now)
	# script gives a terminal but no answer to what the program asks of it.
	(sleep 600 & echo $! >"$name.sleep"; wait) 2>/dev/null |
		TERM=xterm-256color LANG=C.UTF-8 script -qfc "stty rows 36 cols 120; echo \$\$ >$name.pid; exec $*" "$name.screen" >/dev/null 2>&1 &
	first=none
	for i in $(seq 3000); do
		if grep -aq "$text" "$name.screen" 2>/dev/null; then
			first=$((($(now) - began) / 1000000))
			break
		fi
		sleep 0.02
	done
	pid=$(cat "$name.pid")
	last=-1
	for i in $(seq 120); do
		c=$(ticks "$pid")
		[ "$((${c:-0} - last))" -le 2 ] && break
		last=${c:-0}
		sleep 0.5
	done
	line "$name: on the screen after" "$first ms; at rest after ${c:-?}0 ms of CPU with $(mb "$(status "$pid" VmRSS)"), $(mb "$(status "$pid" VmHWM)") at most"
	[ "$first" = none ] && bad=1
	kill -TERM "$pid" 2>/dev/null
	kill "$(cat "$name.sleep")" 2>/dev/null
	wait 2>/dev/null
}

million() { # a table and its config
	awk -v n=$many 'BEGIN {
		srand(1)
		print "a,b,c,y"
		for (i = 0; i < n; i++) {
			a = 100 * rand(); b = 10 * rand(); c = 1000 * i / n
			e = sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand())
			printf "%.6f,%.6f,%.6f,%.6f\n", a, b, c, 2 * sin(a / 3) + 0.1 * b * b + cos(6.283185307 * c / 24) + 0.3 * e
		}
	}' >million.csv
	cat >million.toml <<-END
		name = "load-rows"
		[data]
		source = "csv"
		path = "$work/million.csv"
		inputs = ["a", "b", "c"]
		target = "y"
		test = 0.01
		[kernels]
		set = "$kernels"
		[sparse]
		inducing = $inducing
		[optimise]
		optimizer = "natural"
		starts = 1
		[schedule]
		batch = 256
		evaluate_every = 0.5
		steps = 20
		refine = 1
		elbo_rows = 4000
		[predict]
		metric_rows = 2000
	END
}

rows() {
	echo "$many rows x 3 inputs, $kernels, $inducing inducing inputs"
	million
	line "the table" "$(size million.csv)"
	watched rows "$program" run million.toml --headless --quiet --out million
	line "checkpoint, written at every evaluation" "$(size million/state/checkpoint.npz)"
	line "events.jsonl" "$(size million/events.jsonl)"
	watched rows-summary "$program" open million --summary
	watched rows-predict "$program" predict million --data million.csv --method vbks-s --quiet -o predicted.csv
	watched rows-report "$program" report million -o report.html
}

growth() {
	echo "A space that grows"
	cat >growth.toml <<-END
		name = "load-growth"
		[data]
		source = "synthetic"
		kernel = "PER*SE+LIN"
		noise = 0.1
		outputs = ${GROWN:-6000}
		test = 0
		[kernels]
		expressions = ["SE", "RQ", "LIN", "PER", "MATERN12", "MATERN32", "MATERN52", "COS"]
		grow = true
		grow_live = 160
		grow_change = true
		[sparse]
		inducing = 8
		[optimise]
		starts = 1
		evidence = "mode"
		[schedule]
		evaluate_every = ${EVERY:-0.008}
		steps = 1
		refine = 0
		[posterior]
		errors = "ignore"
		samples = 200
		[predict]
		local = "none"
	END
	watched growth "$program" run growth.toml --headless --quiet --out growth
	line "kernels tried" "$(grep -o '"kernel":{"id":"[^"]*"' growth/events.jsonl | sort -u | wc -l) that came and $(grep -c '"type":"evaluation"' growth/events.jsonl) evaluations"
	line "memory in each fifth of the time, at most" "$(awk '{ a[NR] = $1 } END { for (i = 0; i < 5; i++) { m = 0; for (j = int(i*NR/5) + 1; j <= int((i+1)*NR/5); j++) if (a[j] > m) m = a[j]; printf "%s%d MB", i ? ", " : "", m/1024 } }' growth.rss)"
	line "events.jsonl" "$(size growth/events.jsonl)"
	line "checkpoint" "$(size growth/state/checkpoint.npz)"
	awk '{ a[NR] = $1 } END { for (j = 1; j <= NR; j++) { if (j > NR/5 && j <= 2*NR/5 && a[j] > x) x = a[j]; if (j > 3*NR/5 && j <= 4*NR/5 && a[j] > y) y = a[j] }; exit !(y <= 1.3*x) }' growth.rss || { echo "it takes more and more"; bad=1; }
}

components() {
	echo "What holds the memory of that run, when the heap is largest"
	[ -f million.toml ] || million
	(cd "$here" && KESTREL_LOAD=$work/million.toml go test ./experiment -count 1 -timeout 30m -run TestMemoryByComponent -v) >components.out 2>&1 || { bad=1; tail -n 20 components.out; }
	sed -n 's/^ *load_memory_test.go:[0-9]*: /  /p' components.out
}

tiny() { # NAME: a config that takes next to no time
	cat >"$1.toml" <<-END
		name = "$1"
		[data]
		source = "synthetic"
		kernel = "PER+LIN"
		noise = 0.1
		outputs = 60
		test = 20
		[kernels]
		expressions = ["SE", "PER+LIN", "PER*SE"]
		[sparse]
		inducing = 8
		[optimise]
		optimizer = "natural"
		starts = 1
		transplants = false
		[schedule]
		batch = 16
		evaluate_every = 1.0
		steps = 2
		refine = $2
	END
}

evaluations() {
	echo "$evaluations evaluations of three kernels on 60 rows"
	tiny long $((evaluations - 1))
	watched evaluations "$program" run long.toml --headless --quiet --out long
	line "evaluations" "$(grep -c '"type":"evaluation"' long/events.jsonl)"
	line "memory after 1/10, 1/4, 1/2, 3/4 and all of the time" \
		"$(awk '{ r[NR] = $1 } END { printf "%.1f %.1f %.1f %.1f %.1f MB", r[int(NR * .1) + 1] / 1024, r[int(NR * .25) + 1] / 1024, r[int(NR * .5) + 1] / 1024, r[int(NR * .75) + 1] / 1024, r[NR - 1] / 1024 }' evaluations.rss)"
	line "time of the first and of the last tenth" \
		"$(grep '"type":"evaluation"' long/events.jsonl | sed 's/[^}]*"seconds":\([0-9.e+-]*\).*/\1/' | awk -v n="$evaluations" 'NR == 1 { o = $1 } NR == int(n / 10) + 1 { a = $1 } NR == int(n * .9) { b = $1 } END { printf "%.1f s, %.1f s", a - o, $1 - b }')"
	for file in events.jsonl posterior.csv metrics.csv kernels.csv baselines.csv log.txt state/checkpoint.npz; do
		line "$file" "$(size "long/$file")"
	done
	shown evaluations-open "held-out" "$program" open long
	watched evaluations-summary "$program" open long --summary
	watched evaluations-export "$program" export long -o exported
	watched evaluations-json "$program" export long --format json -o exported-json
	watched evaluations-report "$program" report long -o long.html
	cp -r long again
	# Without its last lines it was cut off; what is done again is the last evaluation.
	head -n -3 long/events.jsonl >again/events.jsonl
	watched evaluations-resume "$program" resume again --quiet
	cmp -s long/posterior.csv again/posterior.csv || { bad=1; echo "resumed, posterior.csv is another"; }
}

runs() {
	echo "Fifty runs in one folder"
	tiny many 2
	mkdir -p fifty
	(
		cd fifty || exit 2
		watched fifty "$program" run ../many.toml --quiet --repeat 50 --out runs
		exit $bad
	) || bad=1
	cd fifty || exit 2
	shown list "many" "$program"
	watched list-figures "$program" figures runs/* -o figures
	cd ..
}

alone() {
	echo "A run left alone for $seconds s"
	tiny alone 100000000
	local pid=
	if command -v script >/dev/null; then
		(sleep $((seconds + 60)) & echo $! >alone.sleep; wait) 2>/dev/null |
			TERM=xterm-256color LANG=C.UTF-8 script -qfc "stty rows 36 cols 120; echo \$\$ >alone.pid; exec $program run alone.toml --out alone" /dev/null >/dev/null 2>&1 &
		while [ ! -s alone.pid ]; do sleep 0.1; done
		pid=$(cat alone.pid)
	else
		"$program" run alone.toml --headless --quiet --out alone >/dev/null 2>&1 &
		pid=$!
	fi
	printf '  %8s %10s %10s %8s %12s %12s\n' seconds "RSS kB" "peak kB" threads evaluations "log kB"
	# The heap goes up and down by a tenth between collections: a quarter is a mean of several looks.
	local began=$SECONDS at=0 every=$((seconds / 40))
	[ $every -le 10 ] || every=10
	[ $every -ge 1 ] || every=1
	while [ $at -lt "$seconds" ] && kill -0 "$pid" 2>/dev/null; do
		sleep $((seconds - at < every ? seconds - at : every))
		at=$((SECONDS - began))
		printf '  %8s %10s %10s %8s %12s %12s\n' $at "$(status "$pid" VmRSS)" "$(status "$pid" VmHWM)" "$(status "$pid" Threads)" \
			"$(tail -n 20 alone/events.jsonl | grep -o '"evaluation":{"evaluation":[0-9]*' | tail -n 1 | tr -dc 0-9)" $(($(stat -c %s alone/events.jsonl) / 1024))
	done | tee alone.table
	if ! kill -TERM "$pid" 2>/dev/null; then
		echo "the run has ended by itself"
		bad=1
	fi
	[ -f alone.sleep ] && kill "$(cat alone.sleep)" 2>/dev/null
	wait 2>/dev/null
	awk '{ rss[NR] = $2; if ($4 > threads) threads = $4 } END {
		quarter = int(NR / 4)
		for (k = 0; k < 4; k++) {
			for (i = k * quarter + 1; i <= (k + 1) * quarter; i++) {
				mean[k] += rss[i] / quarter
				if (rss[i] > most) most = rss[i]
			}
			printf "  quarter %d: %d kB on average\n", k + 1, mean[k]
		}
		printf "  %d kB at most; %d threads at most\n", most, threads
		exit quarter < 1 || mean[3] > 1.1 * mean[2]
	}' alone.table || bad=1
}

case $part in
all) rows; components; evaluations; runs ;;
*) $part ;;
esac
[ $bad = 0 ]
