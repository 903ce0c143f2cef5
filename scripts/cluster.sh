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
# for lost, sent away with SIGTERM, or a new one joins; in every fourth schedule
# the run's own process is killed, too, and resumed with the same ticket. What
# must hold: posterior.csv, kernels.csv and every array of the checkpoint are
# those of the run that one process made alone, byte for byte (so that no kernel
# fails for the workers that are killed with it, cluster.most_lost is high), and no run takes
# longer than $MOST seconds (180). Exit code 1 if that fails for any of them.
# KEEP=1 keeps the directories.
set -u
n=${1:-20}
. "$(dirname "$0")/interrupted.sh"
seed=${3:-1}
most=${MOST:-180}
cat >"$work/samearrays.go" <<'END'
// The arrays of checkpoints against those of the first one, byte for byte. Left out is what
// says where in its log a run was, and when.
package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	want := arrays(os.Args[1])
	bad := false
	for _, name := range os.Args[2:] {
		got := arrays(name)
		for array, bits := range want {
			if !bytes.Equal(got[array], bits) {
				fmt.Printf("%s: %s differs\n", name, array)
				bad = true
			}
		}
		if len(got) != len(want) {
			fmt.Printf("%s: %d arrays, want %d\n", name, len(got), len(want))
			bad = true
		}
	}
	if bad {
		os.Exit(1)
	}
}

func arrays(path string) map[string][]byte {
	z, err := zip.OpenReader(path)
	if err != nil {
		fail(err)
	}
	defer z.Close()
	out := map[string][]byte{}
	for _, f := range z.File {
		if f.Name == "sha256.npy" || f.Name == "log.npy" || f.Name == "schedule.npy" || strings.HasPrefix(f.Name, "log/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			fail(err)
		}
		if out[f.Name], err = io.ReadAll(r); err != nil {
			fail(err)
		}
	}
	return out
}

func fail(err error) {
	fmt.Println(err)
	os.Exit(2)
}
END
go build -o "$work/samearrays" "$work/samearrays.go" || exit 2

short="run quickstart --headless --set data.outputs=100 --set schedule.refine=1 --set cluster.lost_after=0.6 --set cluster.most_lost=1000000"
variants=(
	"$short"
	"$short --set optimise.hyperparameters=diagonal --set optimise.starts=1"
	"$short --set optimise.optimizer=natural --set schedule.batch=32 --set optimise.starts=1"
	"$short --set optimise.optimizer=natural --set optimise.hyperparameters=diagonal --set schedule.batch=32 --set optimise.starts=1"
	"$short --set optimise.optimizer=adam --set schedule.batch=32 --set optimise.starts=1"
	"$short --set optimise.optimizer=adam --set optimise.hyperparameters=diagonal --set schedule.batch=32 --set optimise.starts=1"
	"$short --set optimise.optimizer=natural --set schedule.batch=64 --set sparse.inducing=72 --set optimise.starts=1"
)

references

pause() { sleep "$(printf '0.%03d' "$(random "$1" "$2")")"; }
alive() { kill -0 "$1" 2>/dev/null; }
slay() {
	kill -KILL "$1" 2>/dev/null
	{ wait "$1"; } 2>/dev/null
}

declare -a workers
join() {
	"$program" worker --lanes 1 --idle-exit 60s --ticket "$run/cluster.ticket" >>"$run-workers" 2>&1 &
	workers+=($!)
	joins=$((joins + 1))
}
# drop PLACE: a worker is not counted on any more.
drop() { workers=("${workers[@]:0:$1}" "${workers[@]:$(($1 + 1))}"); }
# served: waits until the run has written its ticket.
served() {
	local try
	for try in $(seq 600); do
		grep -qs '^seed SU' "$run/cluster.ticket" && return
		alive "$1" || return
		sleep 0.05
	done
}

harm() {
	local at=$((RANDOM % ${#workers[@]})) id
	id=${workers[$at]}
	case $((RANDOM % 6)) in
	0)
		slay "$id"
		drop "$at"
		kills=$((kills + 1))
		;;
	1 | 2)
		kill -STOP "$id" 2>/dev/null
		(sleep "$(printf '%d.%03d' $((RANDOM % 2)) "$(random 0 999)")"; kill -CONT "$id" 2>/dev/null) &
		stops=$((stops + 1))
		;;
	3)
		kill -TERM "$id" 2>/dev/null
		drop "$at"
		drains=$((drains + 1))
		;;
	*) [ ${#workers[@]} -ge 5 ] || join ;;
	esac
}

bad=0 kills=0 stops=0 joins=0 drains=0 deaths=0 lost=0
wrong() {
	bad=$((bad + 1))
	echo "schedule $i (seed $seed, variant $v: ${variants[$v]}): $1"
	tail -n 5 "$run-said" "$run-workers" 2>/dev/null | sed 's/^/	/'
}
for i in $(seq "$n"); do
	RANDOM=$((seed * 1000 + i))
	v=$(((i - 1) % ${#variants[@]}))
	run=run-$i
	workers=()
	own=false
	port=$(random 20000 30000)
	[ $((RANDOM % 3)) = 0 ] && own=true
	"$program" ${variants[$v]} --set cluster.work_here=$own --out "$run" --cluster "127.0.0.1:$port" >"$run-said" 2>&1 &
	process=$!
	served "$process"
	for _ in $(seq "$(random 1 4)"); do join; done
	die=0 ended=false
	[ $((i % 4)) = 0 ] && die=$(random 2 12)
	late=$((SECONDS + most))
	while alive "$process"; do
		pause 20 400
		[ $SECONDS -lt $late ] || slay "$process"
		for at in "${!workers[@]}"; do alive "${workers[$at]}" || { drop "$at"; break; }; done
		if [ "$die" = 1 ]; then
			slay "$process"
			deaths=$((deaths + 1))
			ended=true
			if ! grep -qs '"type":"finished"' "$run/events.jsonl"; then
				ended=false
				"$program" resume "$run" --headless --cluster "127.0.0.1:$port" >>"$run-said" 2>&1 &
				process=$!
				served "$process"
			fi
		fi
		[ "$die" = 0 ] || die=$((die - 1))
		if [ ${#workers[@]} = 0 ]; then join; else harm; fi
	done
	{ wait "$process"; } 2>/dev/null
	code=$?
	! $ended || code=0 # it was killed behind its end
	for id in "${workers[@]}"; do slay "$id"; done
	{ wait; } 2>/dev/null
	lost=$((lost + $(grep -c '"type":"worker-lost"' "$run/events.jsonl")))
	if [ $code != 0 ]; then
		wrong "exit code $code"
	elif ! cmp -s "ref-$v/posterior.csv" "$run/posterior.csv" || ! cmp -s "ref-$v/kernels.csv" "$run/kernels.csv"; then
		wrong "another posterior.csv or kernels.csv"
	elif ! said=$(./samearrays "ref-$v/state/checkpoint.npz" "$run/state/checkpoint.npz"); then
		wrong "$said"
	fi
	[ "${KEEP:-}" ] || rm -rf "$run" "$run-said" "$run-workers"
done
echo "$n schedules from seed $seed: $joins workers joined, $kills were killed, $stops stopped, $drains sent away; $lost left or were lost; $deaths runs were killed"
echo "$bad failed"
[ $bad = 0 ]
