#!/usr/bin/env bash
# Is a kernel's optimum the same whatever the schedule is and whichever kernels are
# compared with it, and if not, is it marked "not converged"?
#
#	scripts/schedules.sh PROGRAM FOLDER [NAME...]
#
# Fits tables (those named only, if any are) by five schedules, in three companies of
# kernels each, and prints for each run the local ELBO of PER+RQ in the end and whether it
# is marked; then by how many nats those that are not marked are apart. gas is made here:
# 30 years of months, a season that grows and wears off. airline and swissgrid, the first
# 20,000 quarters of hours, need $KESTREL_DATA. What is there is not made again. Takes ten
# minutes of CPU, most of them swissgrid's.
set -euo pipefail
program=$(realpath "$1") folder=$2
shift 2
wanted=" $* "
mkdir -p "$folder"
cd "$folder"
kernel=PER+RQ
companies=("[\"$kernel\"]" "[\"$kernel\",\"PER*SE+SE\",\"LIN+RQ\",\"PER+PER+SE\"]" K12)
k12=$("$program" kernels K12 --json | awk -v RS='"id":"' 'NR > 1 { sub(/".*/, ""); printf ",\"%s\"", $0 }')

# known KERNEL RUN: local ELBO in the end, and whether it is marked.
known() {
	awk -v kernel="$1" '/"type":"evaluation"/ { last = $0 } END {
		from = index(last, "{\"id\":\"" kernel "\"")
		own = substr(last, from)
		if ((to = index(substr(own, 2), "{\"id\":\"")) > 0) own = substr(own, 1, to)
		elbo = "none"
		if (from > 0 && match(own, /"elbo":[-0-9.e+]+/)) elbo = substr(own, RSTART + 7, RLENGTH - 7)
		print elbo, (index(own, "\"not converged\"") > 0 ? "marked" : "plain")
	}' "$2/events.jsonl"
}

# table NAME INDUCING FILE
table() {
	[ "$wanted" = "  " ] || [[ $wanted == *" $1 "* ]] || return 0
	for company in 0 1 2; do
		for every in 0.05 0.1 0.25 0.5 1; do
			local run=$1-$company-$every
			local space=(--set "kernels.expressions=${companies[company]}")
			[ "${companies[company]}" != K12 ] || space=(--set "kernels.expressions=[\"$kernel\"$k12]")
			[ -d "$run" ] || "$program" run "$3" "${space[@]}" --set "schedule.evaluate_every=$every" --set "sparse.inducing=$2" \
				--set data.time=no --set data.test=0 --set data.transform=none --set posterior.auto_prune=false --headless --quiet --out "$run" >/dev/null
			echo "$1 company $company, a step of $every: $(known "$kernel" "$run")"
		done
	done | tee "$1.txt"
	awk -v name="$1" '$NF == "plain" && $(NF-1) != "none" { if (n++ == 0 || $(NF-1) < low) low = $(NF-1); if (n == 1 || $(NF-1) > high) high = $(NF-1) }
		$NF == "marked" { marked++ }
		END { printf "%s: %d not marked, %.2f nats apart; %d marked\n", name, n, high - low, marked }' "$1.txt"
}

[ -s gas.csv ] || awk 'function n() { return sqrt(-2*log(1 - rand())) * cos(6.283185307179586*rand()) }
	BEGIN { srand(11); print "t,y"; for (m = 0; m < 360; m++) { w = .97*w + .05*n(); s = m < 200 ? m/200 : 1.5 - m/400
		printf "%.6f,%.6g\n", 1960 + m/12, 2*s + w + s*(cos(6.283185307*m/12) + .3*sin(12.566370614*m/12)) + .07*n() } }' >gas.csv
[ -s airline.csv ] || cp "${KESTREL_DATA:?}/series/01-airline.csv" airline.csv
[ -s swissgrid.csv ] || xz -dc "${KESTREL_DATA:?}/swissgrid/total-consumption-15min-2009-2014.csv.xz" |
	awk -F, 'BEGIN { print "t,y" } NR > 1 && NR <= 20001 { printf "%.8f,%s\n", (NR-2)/96, $3 }' >swissgrid.csv
table gas 64 gas.csv
table airline 64 airline.csv
table swissgrid 100 swissgrid.csv
