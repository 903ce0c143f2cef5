#!/usr/bin/env bash
# Damages the files of N runs at random and resumes them.
#
#	scripts/torn.sh [N] [PROGRAM]
#
# N is the number of cases (50), PROGRAM a built kestrel (built here if none is
# named). Every run is one of a few short ones, killed at a random moment or, in
# every fourth case, come to its end. Then one of these happens to it: its
# events.jsonl is cut at a random byte, or within the last line; its checkpoint
# is cut at a random byte, has a random byte changed, is removed, or is an
# earlier one. What must hold of kestrel resume: it goes on and ends with the
# posterior.csv and kernels.csv of the run that nothing happened to, byte for
# byte; or it says so in one line and leaves all files as they are (but
# state/owner.json, which says who held the run last), and if that line offers
# --from-start, that ends with the same results. Exit code 1 if that fails for
# any of them. KEEP=1 keeps the directories.
set -u
n=${1:-50}
. "$(dirname "$0")/interrupted.sh"

variants=(
	"$quick --prune-top 3 --then-refine 2"
	"$quick --set optimise.optimizer=natural --set schedule.batch=32 --set optimise.starts=1 --prune-top 2 --then-refine 2"
	"$quick --set optimise.optimizer=adam --set schedule.batch=32 --set optimise.starts=1 --set predict.metric_rows=20"
	"$quick --set schedule.checkpoint=0.02 --set optimise.optimizer=natural --set schedule.batch=32 --set optimise.starts=1"
)
kinds=(cut-log torn-line cut-checkpoint changed-checkpoint no-checkpoint earlier-checkpoint)

size() { stat -c %s "$1"; }

references

# begun RUN VARIANT: a run that was killed behind its first evaluation.
begun() {
	local try
	for try in $(seq 20); do
		rm -rf "$1"
		killed "$(random $((took[$2] / 5)) "${took[$2]}")" "$program" ${variants[$2]} --quiet --out "$1"
		[ -f "$1/state/checkpoint.npz" ] && return
	done
	echo "variant $2 saves nothing"
	exit 2
}
# damage RUN KIND VARIANT
damage() {
	local log=$1/events.jsonl saved=$1/state/checkpoint.npz last at byte
	case $2 in
	cut-log) truncate -s "$(random 0 $(($(size "$log") - 1)))" "$log" ;;
	torn-line)
		last=$(tail -n 1 "$log" | wc -c)
		truncate -s -"$(random 1 $((last - 1)))" "$log"
		;;
	cut-checkpoint) truncate -s "$(random 0 $(($(size "$saved") - 1)))" "$saved" ;;
	changed-checkpoint)
		at=$(random 0 $(($(size "$saved") - 1)))
		byte=$(od -An -tu1 -j "$at" -N 1 "$saved")
		printf "\\x$(printf %02x $((byte ^ $(random 1 255))))" | dd of="$saved" bs=1 seek="$at" conv=notrunc status=none
		;;
	no-checkpoint) rm "$saved" ;;
	earlier-checkpoint)
		cp "$saved" earlier
		killed "$(random 0 $((took[$3] / 2)))" "$program" resume "$1" --quiet
		mv earlier "$saved"
		;;
	esac
}
hashes() { (cd "$1" && find . -type f ! -path ./state/owner.json -print0 | sort -z | xargs -0 sha256sum); }
same() { cmp -s "ref-$2/posterior.csv" "$1/posterior.csv" && cmp -s "ref-$2/kernels.csv" "$1/kernels.csv"; }

declare -A cases on identical said untouched again
bad=0
wrong() {
	bad=$((bad + 1))
	echo "case $i ($kind, variant $v): $1"
	sed 's/^/	/' out
}
for i in $(seq "$n"); do
	v=$((i % ${#variants[@]}))
	kind=${kinds[$((RANDOM % ${#kinds[@]}))]}
	run=run-$i
	if [ $((i % 4)) = 0 ] && [ $kind != earlier-checkpoint ]; then cp -r "ref-$v" "$run"; else begun "$run" $v; fi
	damage "$run" $kind $v
	cases[$kind]=$((${cases[$kind]:-0} + 1))
	hashes "$run" >before
	if "$program" resume "$run" --quiet >out 2>&1; then
		on[$kind]=$((${on[$kind]:-0} + 1))
		if same "$run" $v; then identical[$kind]=$((${identical[$kind]:-0} + 1)); else wrong "goes on and ends with other results"; fi
	else
		said[$kind]=$((${said[$kind]:-0} + 1))
		sed "s/$run/RUN/g; s/[0-9]\+/…/g" out >>lines
		[ "$(wc -l <out)" = 1 ] && grep -q "\"$run\"" out || wrong "does not say in one line what is wrong with which run"
		if hashes "$run" | cmp -s before -; then untouched[$kind]=$((${untouched[$kind]:-0} + 1)); else wrong "changes files of a run that it does not resume"; fi
		if grep -q -- --from-start out; then
			if "$program" resume "$run" --quiet --from-start >out 2>&1 && same "$run" $v; then
				again[$kind]=$((${again[$kind]:-0} + 1))
			else
				wrong "begun again, does not end with the same results"
			fi
		fi
	fi
	[ "${KEEP:-}" ] || rm -rf "$run"
done
format='%-20s %6s %6s %10s %8s %10s %12s\n'
printf "$format" damage cases "go on" identical "one line" untouched "begun again"
for kind in "${kinds[@]}"; do
	printf "$format" $kind "${cases[$kind]:-0}" "${on[$kind]:-0}" "${identical[$kind]:-0}" "${said[$kind]:-0}" "${untouched[$kind]:-0}" "${again[$kind]:-0}"
done
echo "what was said:"
[ -f lines ] && sort lines | uniq -c | sort -rn
echo "$n cases, $bad wrong"
[ $bad = 0 ]
