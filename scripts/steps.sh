#!/usr/bin/env bash
# What kernels with steps are worth for series whose level changes once.
#
#	scripts/steps.sh PROGRAM FOLDER
#
# Makes eight monthly series of 90 to 150 rows in FOLDER, noise of sd 1 about a level that
# changes by 5 to 14, half of them with a season, a third on a slope, forecasts the last tenth of
# each with a newcomer's settings and with kernels.set = "series", and prints the CRPS beside that of
# the best baseline of kestrel's own. What is there is not made again.
set -euo pipefail
program=$(realpath "$1") folder=$2
mkdir -p "$folder"
cd "$folder"
for k in 1 2 3 4 5 6 7 8; do
	[ -s "$k.csv" ] || awk -v k="$k" '
		function n() { return sqrt(-2*log(1 - rand())) * cos(6.283185307179586*rand()) }
		BEGIN {
			srand(100 + k); print "month,y"; rows = 90 + int(60*rand()); at = int(rows*(.25 + .5*rand()))
			jump = (rand() < .5 ? -1 : 1)*(5 + 9*rand()); season = k%2 ? 0 : 1 + 3*rand(); slope = k%3 ? 0 : .03
			for (i = 0; i < rows; i++) {
				y = 100 + slope*i + (i < at ? 0 : jump) + season*sin(6.283185307179586*i/12) + n()
				printf "%d-%02d-01,%.3f\n", 2005 + int(i/12), i%12 + 1, y
			}
		}' >"$k.csv"
	for set in auto series; do
		[ -d "$k-$set" ] || "$program" run "$k.csv" --headless --quiet --set kernels.set=$set --set device.lanes=1 --out "$k-$set" >/dev/null
	done
	awk -F, -v k="$k" '
		FNR == 1 { for (i = 1; i <= NF; i++) if ($i == "crps") at = i; else if ($i == "method") name = i; next }
		FILENAME ~ /metrics/ && $name == "vbks" { crps[FILENAME] = $at }
		FILENAME ~ /baselines/ && $name !~ /^vbks/ && $at != "" && (best == "" || $at + 0 < best) { best = $at + 0; of = $name }
		END { printf "%d  with steps %.3f, without %.3f, %s %.3f\n", k, crps[k "-auto/metrics.csv"], crps[k "-series/metrics.csv"], of, best }
	' "$k-auto/metrics.csv" "$k-series/metrics.csv" "$k-auto/baselines.csv"
done
