#!/usr/bin/env bash
# How often a belief of .95 or more is overturned by the next evaluation, and whether
# that much is believed in the end where the evidence is more than ten nats ahead.
#
#	scripts/overturned.sh PROGRAM FOLDER [NAME...]
#
# Makes tables of ten thousand to a million rows in FOLDER (those named only, if any
# are), fits each with a newcomer's settings and seeds 1 and 2 ($SEEDS), without a screen, and
# prints a line a run. swissgrid-small needs $KESTREL_DATA. What is there is not made
# again. Takes an hour or two on two cores.
set -euo pipefail
program=$(realpath "$1") folder=$2
shift 2
wanted=" $* "
mkdir -p "$folder"
cd "$folder"

# table NAME ROWS FORMULA: y by awk at the row number t (from 0), with n() a normal and
# u() a uniform variable, and what the formula keeps from row to row.
table() {
	[ "$wanted" = "  " ] || [[ $wanted == *" $1 "* ]] || return 0
	[ -s "$1.csv" ] || awk -v rows="$2" '
		function u() { return rand() }
		function n() { return sqrt(-2*log(1 - rand())) * cos(6.283185307179586*rand()) }
		BEGIN { srand(7); print "t,y"; for (t = 0; t < rows; t++) { '"$3"'; printf "%d,%.6g\n", t, y } }' >"$1.csv"
	for seed in ${SEEDS:-1 2}; do fit "$1" "$seed" "$1.csv" --target y; done
}

# fit NAME SEED ARGUMENTS...
fit() {
	local run=$1-$2 seed=$2
	shift 2
	[ -d "$run" ] || "$program" run "$@" --seed "$seed" --headless --quiet --out "$run" >/dev/null
	awk -F, -v name="$run" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$(at["evaluation"]) != e { e = $(at["evaluation"]); evaluations++; lower = rival = "" }
		$(at["status"]) == "live" && $(at["rank"]) > 1 && $(at["upper"]) != "" && (rival == "" || $(at["upper"]) > rival) { rival = $(at["upper"]) }
		$(at["rank"]) == 1 {
			if (was != "" && was != $(at["kernel_id"])) {
				changes++
				if (q >= .95) overturned++
				if (bayes >= .95) overturnedBayes++
			}
			was = $(at["kernel_id"]); q = $(at["posterior"]); bayes = $(at["bayes"]); lower = $(at["lower"])
			if (q >= .95 && sure == "") sure = $(at["proportion"])
		}
		END {
			ahead = lower != "" && rival != "" ? sprintf("%.1f", lower - rival) : "-"
			printf "%-18s %2d evaluations, %d changes; overturned at q* .95: %d, at bayes .95: %d; ", name, evaluations, changes, overturned, overturnedBayes
			printf "q* .95 from %s; in the end %s %.4f, bayes %.4f, surely ahead by %s nats\n", sure == "" ? "-" : sure, was, q, bayes, ahead
		}' "$run/posterior.csv"
}

table sine-1e6 1000000 'y = sin(t/1000) + .1*n()'
table sine-2e5 200000 'y = sin(t/1000) + .1*n()'
table two-sines 10000 'y = sin(t/40) + .7*sin(t/67.3) + .3*n()'
table walk 30000 'w += n(); y = w + .5*n()'
table around-trend 100000 'a = .995*a + .1*n(); y = t/20000 + a + .2*n()'
table day-and-week 50000 'y = (1 + .5*sin(6.2832*t/672)) * sin(6.2832*t/96) + .4*n()'
table chirp 20000 'y = sin(t*t/2e6) + .2*n()'
table steps 100000 'if (u() < .0005) level = 2*n(); y = level + .3*n()'
table sawtooth 200000 'y = (t % 1500)/1500 + .1*n()'
table heavy-tails 100000 'y = sin(t/300) + .2*n()/sqrt(u() + .02)'
table line 1000000 'y = t/400000 + .5*n()'
table bursts 300000 'b = u() < .001 ? 2 : .99*b; y = b + .1*sin(t/500) + .1*n()'
table wave 30000 'a = .998*a + .1*n(); y = a + 1.1*sin(6.2832*t/700) + .3*n()'
if [ -n "${KESTREL_DATA:-}" ]; then
	for seed in ${SEEDS:-1 2}; do
		[ "$wanted" = "  " ] || [[ $wanted == *" swissgrid-small "* ]] || continue
		fit swissgrid-small "$seed" swissgrid-small
	done
fi
