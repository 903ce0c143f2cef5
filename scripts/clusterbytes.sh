#!/usr/bin/env bash
# How many bytes of a run's rows go to each worker.
#
#	scripts/clusterbytes.sh [MEGABYTES] [PROGRAM]
#
# A table of so many megabytes (1000), random numbers in NumPy's format, is learned
# from by a short run with three workers, each in a network namespace of its own (as root),
# where the system counts what comes in. Printed are the bytes that came to each until it
# took part, against those of its rows. What must hold: at most 1.05 times as many. PROGRAM is a
# built kestrel (built here if none is named). Takes some ten times the megabytes in memory and
# four times on the disk; needs Python.
set -u
megabytes=${1:-1000}
. "$(dirname "$0")/interrupted.sh"
. "$scripts/clustered.sh"
rows=$((megabytes * 1000000 / 8 / 50))
python3 - "$rows" <<'END' || exit 2
import os, struct, sys
rows, columns = int(sys.argv[1]), 50
head = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)
head += " " * (-(len(head) + 11) % 64) + "\n"
with open("rows.npy", "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
    for at in range(0, rows, 50000):
        n = min(50000, rows - at) * columns
        b = bytearray(os.urandom(8 * n))
        b[7::8], b[6::8] = b"\x3f" * n, b"\xf0" * n  # from 1 to 1.07
        f.write(b)
END
net=b$$
leave_places() {
	local k
	for k in 0 1 2 3; do ip netns del "$net-$k" 2>/dev/null; done
	[ "${KEEP:-}" ] || rm -rf "$work"
}
trap leave_places EXIT
ip netns add "$net-0" && ip -n "$net-0" link set lo up || { echo "no network namespaces can be made here"; exit 2; }
for k in 1 2 3; do
	ip netns add "$net-$k" && ip -n "$net-0" link add "w$k" type veth peer name w netns "$net-$k" || exit 2
	ip -n "$net-0" addr add "10.78.$k.1/24" dev "w$k" && ip -n "$net-0" link set "w$k" up || exit 2
	ip -n "$net-$k" addr add "10.78.$k.2/24" dev w && ip -n "$net-$k" link set w up && ip -n "$net-$k" link set lo up || exit 2
done
at() {
	local k=$1
	shift
	exec nsenter "--net=/run/netns/$net-$k" "$@"
}
came() { ip -n "$net-$1" -s -j link show w | sed 's/.*"rx":{"bytes":\([0-9]*\).*/\1/'; }
(at 0 "$program" run rows.npy --headless --set 'kernels.expressions=["SE"]' --set optimise.optimizer=natural --set sparse.inducing=16 \
	--set optimise.starts=1 --set schedule.batch=64 --set schedule.evaluate_every=1 --set schedule.steps=2 --set schedule.elbo_rows=500 \
	--set schedule.refine=0 --set data.test=1000 --set predict.metric_rows=500 --set data.order=shuffled --set cluster.work_here=false \
	--set cluster.lost_after=60 --out out --cluster 0.0.0.0:4222) >said 2>&1 &
process=$!
for _ in $(seq 3000); do
	grep -qs '^seed SU' out/cluster.ticket && break
	alive "$process" || { tail -n 3 said; exit 1; }
	sleep 0.1
done
for k in 1 2 3; do
	(at "$k" "$program" worker --lanes 1 --join "kestrel://10.78.$k.1:4222" --ticket out/cluster.ticket) >"worker-$k" 2>&1 &
done
bad=0
for k in 1 2 3; do
	for _ in $(seq 3000); do
		grep -q 'taking part' "worker-$k" && break
		sleep 0.1
	done
	awk -v k="$k" -v got="$(came "$k")" -v want="$(((rows - 1000) * 50 * 8))" 'BEGIN {
		printf "worker %d: %d bytes came for %d of rows, %.4f times\n", k, got, want, got / want; exit got > 1.05 * want || got < want }' || bad=1
done
kill -INT "$process"
wait
exit $bad
