#!/usr/bin/env bash
# A night in two hours: everything that stays on at once, with harm, and what it holds.
#
#	scripts/night.sh [PROGRAM] [SECONDS]
#
# PROGRAM is a built kestrel (built here if none is named), SECONDS how long (7200).
# At the same time, all of them slow beside each other:
#
#	workbench  in a terminal of 120x36, a run whose space grows, with evaluations four times as
#	           often as by default; through its socket an order every few seconds, drawn from
#	           pause and resume, prune, restore, stop, reoptimise with growth and without
#	server     kestrel cluster start, with three workers that stay: one is left alone, of the two
#	           others one is killed with SIGKILL every minute, and another one comes
#	runs       one after the other by that server, each growing: in the end posterior.csv,
#	           kernels.csv and the checkpoint must be those of the run alone, byte for byte
#	backtests  one after the other: their forecasts must be those of the first
#
# Prints what workbench, server and worker hold every minute, or 120 times: memory, goroutines,
# threads, descriptors, disk beside logs and tables that grow with events, and what is left in
# $TMPDIR and where sockets are; then a table of quarters. Exit code 1 if one of them takes a
# tenth more memory in the last quarter than in the one before, or more descriptors, or if the least
# number of its goroutines is a tenth and ten more, if a result differs, or if one ends by itself.
# Needs script(1), Go for harm (scripts/harm; HARM names a built one) and Linux. KEEP=1 keeps the files.
set -u
seconds=${2:-7200}
set -- "${1:+0}" "${1:-}"
. "$(dirname "$0")/interrupted.sh"
. "$scripts/clustered.sh"
command -v script >/dev/null || { echo "needs script(1)" >&2; exit 2; }
export TMPDIR=$work/tmp
mkdir tmp
unset XDG_RUNTIME_DIR
sockets=$TMPDIR/kestrel-$(id -u)
trap 'kill $(jobs -p) 2>/dev/null; sleep 1; [ "${KEEP:-}" ] || rm -rf "$work"' EXIT

# config NAME ROWS EVERY
config() {
	cat >"$1.toml" <<-END
		name = "$1"
		[data]
		source = "synthetic"
		kernel = "PER*SE+LIN"
		noise = 0.1
		outputs = $2
		test = 40
		[kernels]
		expressions = ["SE", "RQ", "LIN", "PER"]
		grow = true
		grow_live = 24
		grow_leaves = 4
		[sparse]
		inducing = 12
		[optimise]
		starts = 1
		evidence = "mode"
		[schedule]
		evaluate_every = $3
		steps = 4
		[predict]
		local = "none"
	END
}
config grown 4000 0.0125
config short 150 0.1
awk 'BEGIN { srand(3); print "month,y"; for (i = 0; i < 60; i++) printf "%d-%02d-01,%.3f\n", 2015 + int(i / 12), i % 12 + 1, 100 + i / 2 + 8 * sin(i * 6.283185307 / 12) + 3 * rand() }' >series.csv
forecast="backtest series.csv --horizon 6 --origins 2 --set data.time=yes --set sparse.inducing=12 --set optimise.starts=1 --set device.lanes=1 --quiet"

"$program" run short.toml --headless --quiet --set device.lanes=1 --out alone || exit 2
"$program" $forecast --out forecast >/dev/null || exit 2

# What goroutines there are the program itself says, every now and then, to a file.
every=$((seconds / 120))
[ "$every" -le 60 ] || every=60
[ "$every" -ge 1 ] || every=1
traced() { GODEBUG=schedtrace=$((every * 1000)),scheddetail=1 exec "$@"; }
(sleep $((seconds + 120)) 2>/dev/null) |
	TERM=xterm-256color LANG=C.UTF-8 script -qfc "stty rows 36 cols 120; echo \$\$ >workbench.pid; GODEBUG=schedtrace=$((every * 1000)),scheddetail=1 exec $program run grown.toml --set device.lanes=1 --out grown 2>>workbench.trace" /dev/null >/dev/null 2>&1 &
(traced "$program" cluster start cluster --listen 127.0.0.1:0) >server.out 2>>server.trace &
echo $! >server.pid
for try in $(seq 200); do [ -s cluster/owner.ticket ] && grep -q kestrel:// server.trace && break; sleep 0.1; done
address=$(grep -o 'kestrel://[^ ]*' server.trace | head -n 1)
(traced "$program" worker --lanes 1 --stay --join "$address" --ticket cluster/cluster.ticket) >worker.out 2>>worker.trace &
echo $! >worker.pid
others=()
join() {
	"$program" worker --lanes 1 --stay --join "$address" --ticket cluster/cluster.ticket >>others.out 2>&1 &
	others+=($!)
}
join
join
for try in $(seq 200); do [ -S grown/state/control.sock ] || [ -s grown/events.jsonl ] && break; sleep 0.1; done

end=$((SECONDS + seconds))
: >orders >runs >forecasts
steered() {
	local order
	RANDOM=7
	while [ $SECONDS -lt $end ]; do
		sleep $((2 + RANDOM % 9))
		case $((RANDOM % 8)) in
		0) order="pause" ;;
		1) order="prune --top $((4 + RANDOM % 8))" ;;
		2) order="restore" ;;
		3) order="stop" ;;
		4) order="reoptimise --evaluations $((4 + RANDOM % 12)) --grow off" ;;
		*) order="reoptimise --evaluations $((20 + RANDOM % 60)) --grow on" ;;
		esac
		timeout 60 "$program" order grown $order >order.out 2>&1
		echo "$? $order: $(tail -n 1 order.out)" >>orders
		case $order in pause) sleep 2; timeout 60 "$program" order grown resume >order.out 2>&1; echo "$? resume: $(tail -n 1 order.out)" >>orders ;; esac
	done
}
shared() {
	while [ $SECONDS -lt $end ]; do
		rm -rf shared
		"$program" run short.toml --headless --quiet --set device.lanes=1 --set cluster.most_lost=1000 --cluster "$address" --ticket cluster/owner.ticket --out shared >shared.out 2>&1
		echo "$? $(differs alone shared | tr '\n' ' ')" >>runs
	done
}
forecasting() {
	while [ $SECONDS -lt $end ]; do
		rm -rf again
		"$program" $forecast --out again >again.out 2>&1
		echo "$? $(cmp forecast/backtest.csv again/backtest.csv 2>&1)" >>forecasts
	done
}
losing() {
	while [ $SECONDS -lt $((end - 60)) ]; do
		sleep 60
		slay "${others[0]}"
		others=("${others[@]:1}")
		join
		echo lost >>lost
	done
	kill "${others[@]}" 2>/dev/null
}
steered &
doing=$!
shared &
doing+=" $!"
forecasting &
doing+=" $!"
: >lost
losing 2>/dev/null &
doing+=" $!"

held() { awk -v f="$2:" '$1 == f { print $2 }' "/proc/$1/status" 2>/dev/null; }
# goroutines NAME: that there were when it was last said; those that have ended have status 6.
goroutines() { awk '/^SCHED/ { n = 0 } /^ *G[0-9]+: status=/ && !/status=6/ { n++ } END { print n + 0 }' <(tail -n 20000 "$1.trace"); }
names="workbench server worker"
printf '%7s' second; for name in $names; do printf ' %10s %10s %7s %6s' "$name" goroutines threads open; done
printf ' %8s %8s %8s %8s %6s %6s\n' "disk kB" "log kB" events "in tmp" socks lost
bad=0
began=$SECONDS
while [ $SECONDS -lt $end ]; do
	sleep "$every"
	printf '%7d' $((SECONDS - began))
	for name in $names; do
		pid=$(cat $name.pid)
		alive "$pid" || { echo " $name has ended"; bad=1; break 2; }
		printf ' %10d %10d %7d %6d' "$(held "$pid" VmRSS)" "$(goroutines $name)" "$(held "$pid" Threads)" "$(ls "/proc/$pid/fd" | wc -l)"
		tail -n 20000 $name.trace >$name.tail && cat $name.tail >$name.trace && rm $name.tail
	done
	printf ' %8d %8d %8d %8d %6d %6d\n' "$(du -sk grown/state cluster | awk '{ s += $1 } END { print s }')" "$(($(stat -c %s grown/events.jsonl) / 1024))" \
		"$(wc -l <grown/events.jsonl)" "$(find tmp -mindepth 1 | wc -l)" "$(ls "$sockets" 2>/dev/null | wc -l)" "$(wc -l <lost)"
done | tee held.table
[ "${PIPESTATUS[0]}" = 0 ] || bad=1
grep -q 'has ended' held.table && bad=1
wait $doing 2>/dev/null

awk -v names="$names" 'NR > 1 && NF >= 19 { rows++; for (i = 1; i <= NF; i++) x[rows, i] = $i }
	END {
		split(names, name)
		q = int(rows / 4)
		if (q < 1) { print "too short for quarters"; exit 1 }
		printf "%-28s %9s %9s %9s %9s\n", "mean of a quarter", 1, 2, 3, 4
		for (p = 1; p <= 3; p++) for (k = 0; k < 4; k++) {
			at = 2 + 4*(p - 1) + k
			# Of goroutines the least: what is left behind is always there. A run that goes on has some ten in
			# the server, and may do so whenever a short quarter is looked at.
			for (j = 0; j < 4; j++) {
				m[j] = k == 1 ? 1e9 : 0
				for (i = j*q + 1; i <= (j + 1)*q; i++) { if (k != 1) m[j] += x[i, at]/q; else if (x[i, at] < m[j]) m[j] = x[i, at] }
			}
			what = k == 0 ? "kB" : k == 1 ? "goroutines, least" : k == 2 ? "threads" : "descriptors"
			printf "%-28s %9.0f %9.1f %9.1f %9.1f\n", name[p] " " what, m[0], m[1], m[2], m[3]
			if (k == 0 && m[3] > 1.1*m[2]) { print "  takes more and more memory"; bad = 1 }
			if (k == 1 && m[3] > 1.1*m[2] + 10) { print "  has more and more goroutines"; bad = 1 }
			if (k == 3 && m[3] > m[2] + 1) { print "  has more and more files open"; bad = 1 }
		}
		exit bad
	}' held.table || bad=1
count() { printf '%-28s %s\n' "$1" "$2"; }
count "orders" "$(wc -l <orders), $(grep -vc '^0 ' orders) refused"
grep -v '^0 ' orders | sed 's/^[0-9]* //' | sort | uniq -c | sort -rn | head -n 5
count "evaluations, kernels that came" "$(grep -c '"type":"evaluation"' grown/events.jsonl), $(grep -o '"kernel":{"id":"[^"]*"' grown/events.jsonl | sort -u | wc -l)"
count "workers lost" "$(wc -l <lost)"
count "runs by the server" "$(wc -l <runs), $(grep -vc '^0 $' runs) not as alone"
count "backtests" "$(wc -l <forecasts), $(grep -vc '^0 $' forecasts) not as the first"
grep -qv '^0 $' runs && { bad=1; grep -v '^0 $' runs | head -n 3; tail -n 3 shared.out; }
grep -qv '^0 $' forecasts && { bad=1; grep -v '^0 $' forecasts | head -n 3; }
for name in $names; do kill -TERM "$(cat $name.pid)" 2>/dev/null; done
for try in $(seq 100); do alive "$(cat workbench.pid)" || break; sleep 0.1; done
alive "$(cat workbench.pid)" && { echo "the workbench does not end"; bad=1; }
"$program" export grown -o exported >export.out 2>&1 || { echo "it cannot be exported"; tail -n 2 export.out; bad=1; }
count "left in \$TMPDIR" "$(find tmp -mindepth 1 -maxdepth 1 | wc -l) (a worker that is killed leaves its data)"
[ $bad = 0 ]
