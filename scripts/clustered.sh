# What the scripts that have workers take part share; to be sourced behind interrupted.sh.
# Builds harm (scripts/harm), which compares checkpoints.

harm=${HARM:-$work/harm}
[ "${HARM:-}" ] || (cd "$scripts/.." && go build -o "$harm" ./scripts/harm) || exit 2

pause() { sleep "$(printf '0.%03d' "$(random "$1" "$2")")"; }
alive() { kill -0 "$1" 2>/dev/null; }
slay() {
	kill -KILL "$1" 2>/dev/null
	{ wait "$1"; } 2>/dev/null
}
# served PROCESS DIR: waits until a run has written its ticket.
served() {
	local try
	for try in $(seq 600); do
		grep -qs '^seed SU' "$2/cluster.ticket" && return
		alive "$1" || return
		sleep 0.05
	done
}
# differs REFERENCE DIR: says what of a run is not what it is in another one.
differs() {
	local name
	for name in posterior.csv kernels.csv; do
		cmp -s "$1/$name" "$2/$name" || echo "another $name"
	done
	"$harm" arrays "$1/state/checkpoint.npz" "$2/state/checkpoint.npz" 2>&1
}
