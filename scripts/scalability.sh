#!/usr/bin/env bash
# Measures how the time of a run grows: with the iterations of the optimiser at
# several batch sizes, with the number of kernels, with the number of rows.
#
#	scripts/scalability.sh OUT [PROGRAM]
#
# Runs of the config scalability go to the folder OUT/runs, their figures to
# OUT/figures; runs that are there already are not made again. PROGRAM is a built
# kestrel (built here if none is named). The machine should be quiet. Sizes, with
# their defaults:
#
#	BATCHES="32 64 128 256" KERNELS="12 36 144" ROWS="10000 100000 1000000"
#	STEPS=100 EVALUATIONS=15
#
# Batches vary at the middle numbers of KERNELS and ROWS; the others at a batch of
# 128. 12 kernels are the paper's K12; other numbers, which must divide 144, are
# every so many of K144. Every evaluation adds a part of the rows, and the run ends
# one evaluation before all are in use: from then on hyperparameters are tuned
# without minibatches. Of at most 100,000 rows seen times kernels every evaluation
# makes an exact pass besides; with the sizes above these are over before the 8th.
#
# A line is fitted to all evaluations, as in the figure, and to those from the 8th
# on: evaluations 1, 2, 4 and 8 (and 16) search for better starts, on 768 rows with
# 144 kernels and up to 1868 with fewer, as long as hundreds of iterations. Slopes by kernels and rows
# are the latter.
set -euo pipefail
exec </dev/null
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
	echo "usage: scripts/scalability.sh OUT [PROGRAM]" >&2
	exit 2
fi
mkdir -p "$1/runs"
out=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=${2:-}
if [ -z "$program" ]; then
	program=$work/kestrel
	(cd "$(dirname "$0")/.." && go build -trimpath -o "$program" .)
fi
program=$(realpath "$program")

read -ra batches <<<"${BATCHES:-32 64 128 256}"
read -ra kernels <<<"${KERNELS:-12 36 144}"
read -ra rows <<<"${ROWS:-10000 100000 1000000}"
steps=${STEPS:-100} evaluations=${EVALUATIONS:-15}
batch=128 k=${kernels[$((${#kernels[@]} / 2))]} n=${rows[$((${#rows[@]} / 2))]}

every=$(awk -v n="$evaluations" 'BEGIN { printf "%.6f", 1 / (n + 1) }')

# space K: the setting that makes a space of so many kernels.
space() {
	case $1 in
	12 | 144) echo "kernels.set=K$1" ;;
	*)
		"$program" kernels --base SE,RQ,LIN,PER --depth 3 |
			awk -v every=$((144 / $1)) 'NR % every == 0 { all = all (all == "" ? "" : ",") $1 } END { print "kernels.expressions=" all }'
		;;
	esac
}

# run B K N
paths=()
run() {
	local path=$out/runs/b$1-k$2-n$3
	for p in "${paths[@]}"; do [ "$p" != "$path" ] || return 0; done
	paths+=("$path")
	[ ! -e "$path" ] || return 0
	local setting began=$SECONDS
	setting=$(space "$2")
	# Put in its place when it is done, so that what is there is whole.
	rm -rf "$path.part"
	"$program" run scalability --quiet --out "$path.part" --set "schedule.batch=$1" --set "$setting" --set "data.outputs=$3" \
		--set "schedule.steps=$steps" --set "schedule.evaluate_every=$every" --set "schedule.budget=$evaluations"
	mv "$path.part" "$path"
	echo "B = $1, K = $2, N = $3: $((SECONDS - began)) s with making the data"
}
run $batch "$k" "$n" # the first one names the figures
for b in "${batches[@]}"; do run "$b" "$k" "$n"; done
for other in "${kernels[@]}"; do run $batch "$other" "$n"; done
for other in "${rows[@]}"; do run $batch "$k" "$other"; done
"$program" figures "${paths[@]}" -o "$out/figures"

# fit ENDING COLUMN: prints the lines of a figure and puts "size slope" to a file.
fit() {
	local table
	table=$(ls "$out"/figures/*-scalability"$1"-fit.csv 2>/dev/null | head -1)
	[ -n "$table" ] || { echo "  no figure: fewer than two sizes" && return 1; }
	awk -F, 'FNR == 1 { file++; next }
	file == 1 { size[++sizes] = $1; slope[$1] = $3; r2[$1] = $5 }
	file == 2 && $1 == "line" && $3 >= 8 * steps && $3 < 16 * steps {
		v = substr($2, 5); n[v]++; x[v] += $3; y[v] += $4; xx[v] += $3 * $3; xy[v] += $3 * $4; yy[v] += $4 * $4
	}
	END {
		for (i = 1; i <= sizes; i++) {
			v = size[i]
			printf "  %s = %-8s %9.3f ms an iteration, R² %.5f", name, v, 1000 * slope[v], r2[v]
			if (n[v] > 2) {
				sxx = xx[v] - x[v] * x[v] / n[v]; sxy = xy[v] - x[v] * y[v] / n[v]; syy = yy[v] - y[v] * y[v] / n[v]
				slope[v] = sxy / sxx
				printf "; without searches %9.3f ms, R² %.5f", 1000 * slope[v], sxy * sxy / (sxx * syy)
			}
			print ""
			print v, slope[v] >slopes
		}
	}' name="$2" steps="$steps" slopes="$work/slopes$1" "$table" "${table%-fit.csv}.csv"
}
echo "time against iterations (K = $k, N = $n):"
fit "" B || true
echo "by kernels (B = $batch, N = $n):"
if fit -kernels K; then
	awk '{ n++; x += $1; y += $2; xx += $1 * $1; xy += $1 * $2; yy += $2 * $2 }
	END {
		sxx = xx - x * x / n; sxy = xy - x * y / n; syy = yy - y * y / n
		printf "  ms an iteration = %.3f + %.4f K", 1000 * (y - sxy / sxx * x) / n, 1000 * sxy / sxx
		if (n > 2 && syy > 0) printf ", R² %.5f", sxy * sxy / (sxx * syy)
		print ""
	}' "$work/slopes-kernels"
fi
echo "by rows (B = $batch, K = $k):"
if fit -rows N; then
	awk 'NR == 1 || $2 < low { low = $2 } $2 > high { high = $2 } END { printf "  most over least %.3f\n", high / low }' "$work/slopes-rows"
fi
