# What the scripts that interrupt runs share; to be sourced, with program and
# variants (arguments of kestrel) set.

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
