# What the scripts that interrupt runs share; to be sourced with their arguments,
# of which the second may be a built kestrel. Goes to a new folder.

scripts=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
[ "${KEEP:-}" ] && echo "in $work" || trap 'rm -rf "$work"' EXIT
program=${2:-}
if [ -z "$program" ]; then
	program=$work/kestrel
	go build -trimpath -o "$program" . || exit 2
fi
program=$(realpath "$program")
cd "$work" || exit 2

# A short run, and the arguments of kestrel that a script makes of it: variants.
quick="run quickstart --set schedule.evaluate_every=0.1 --set schedule.refine=2"

now() { date +%s%N; }
# random LOW HIGH: a whole number.
random() { echo $(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1 + 1))); }

# references: runs every variant to its end, in ref-0, ref-1, …; took has their
# microseconds.
declare -a took
references() {
	local v began
	for v in "${!variants[@]}"; do
		began=$(now)
		"$program" ${variants[$v]} --quiet --out "ref-$v" || { echo "variant $v does not run: ${variants[$v]}"; exit 2; }
		took[$v]=$((($(now) - began) / 1000))
	done
}

# killed MICROSECONDS COMMAND...: runs a command and kills it after a while.
killed() {
	local after=$1
	shift
	"$@" >/dev/null 2>&1 &
	local child=$!
	sleep "$(printf '%d.%06d' $((after / 1000000)) $((after % 1000000)))"
	kill -KILL $child 2>/dev/null
	{ wait $child; } 2>/dev/null
}
