#!/usr/bin/env bash
# Whether more rows make PER*SE+SE alone better: the error of its mean of f against f.
#
#	scripts/morerows.sh PROGRAM FOLDER [ROWS...]
#
# Makes tables of 1e6 and 5e6 rows (or of ROWS) of three inputs in FOLDER, a smooth
# function of that kind and noise of .3, fits each without a screen, and prints the
# root mean squared error of f on 20,000 fresh rows, seconds of CPU and memory. What is
# there is not made again.
set -euo pipefail
program=$(realpath "$1") folder=$2
shift 2
mkdir -p "$folder"
cd "$folder"

# table ROWS SEED NOISE
table() {
	awk -v rows="$1" -v seed="$2" -v noise="$3" '
		function n() { return sqrt(-2*log(1 - rand())) * cos(6.283185307179586*rand()) }
		BEGIN {
			srand(seed); print "a,b,c,y"
			for (i = 0; i < rows; i++) {
				a = 2*rand()-1; b = 2*rand()-1; c = 2*rand()-1
				f = .5*(sin(6*a) + cos(6*b) + sin(6*c+1))*exp(-(a*a+b*b+c*c)/4) + sin(2*a+b)*cos(c-b)
				printf "%.6f,%.6f,%.6f,%.5f\n", a, b, c, f + (noise ? noise*n() : 0)
			}
		}'
}

[ -s truth.csv ] || table 20000 99 0 >truth.csv
[ $# -gt 0 ] || set -- 1000000 5000000
seed=0
for n; do
	seed=$((seed + 1))
	[ -s "$n.csv" ] || table "$n" "$seed" .3 >"$n.csv"
	[ -d "run-$n" ] || {
		printf 'name = "more-rows"\n[data]\npath = "%s.csv"\ntest = 0\n[kernels]\nexpressions = ["PER*SE+SE"]\n' "$n" >"$n.toml"
		/usr/bin/time -f '%U s of CPU, %M kB' -o "$n.time" "$program" run "$n.toml" --headless --quiet --out "run-$n" >/dev/null
	}
	"$program" predict "run-$n" --data truth.csv -o "$n-predicted.csv" --quiet
	awk -F, -v rows="$n" -v time="$(cat "$n.time")" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ e = $(at["mean"]) - $(at["y"]); sum += e*e; inside += e*e < 3.8416*$(at["sd_f"])^2 }
		END { printf "%d rows: error of f %.5f, %.1f %% within 95 %%; %s\n", rows, sqrt(sum/(NR-1)), 100*inside/(NR-1), time }' "$n-predicted.csv"
done
