#!/usr/bin/env bash
# What is said of eleven tables of which is known what is in them.
#
#	scripts/sentences.sh PROGRAM FOLDER [NAME…]
#
# Makes the tables in FOLDER, runs each with a newcomer's settings, prints the sentence that a newcomer
# reads, and whether it says what was put in and nothing that was not: a line of what must be there and one
# of what must not, as regular expressions. What is there is not made again. Exit status 1 where one is wrong.
set -euo pipefail
program=$(realpath "$1") folder=$2
shift 2
mkdir -p "$folder"
cd "$folder"
wrong=0

# make NAME SEED HEADER BODY writes a table: BODY is awk, with u() uniform, n() normal, day(i) and hour(i) as
# stamps, and pi.
make() {
	[ -s "$1.csv" ] || awk -v seed="$2" -v header="$3" '
		function u() { return 1 - rand() }
		function n() { return sqrt(-2 * log(u())) * cos(2 * pi * u()) }
		function day(i,  d) { return date(i + 737791) }
		function hour(i) { return date(int(i / 24) + 737791) sprintf(" %02d:00", i % 24) }
		function month(i) { return sprintf("%d-%02d-01", 2008 + int(i / 12), i % 12 + 1) }
		function date(z,  era, doe, yoe, y, doy, mp, d, m) { # of days since 1 March of the year 0 (H. Hinnant)
			era = int(z / 146097); doe = z - era * 146097
			yoe = int((doe - int(doe / 1460) + int(doe / 36524) - int(doe / 146096)) / 365); y = yoe + era * 400
			doy = doe - (365 * yoe + int(yoe / 4) - int(yoe / 100)); mp = int((5 * doy + 2) / 153)
			d = doy - int((153 * mp + 2) / 5) + 1; m = mp < 10 ? mp + 3 : mp - 9
			return sprintf("%d-%02d-%02d", y + (m <= 2), m, d)
		}
		BEGIN { pi = 3.141592653589793; srand(seed); for (i = 0; i < 20; i++) u(); print header; '"$4"' }' >"$1.csv"
}

# say NAME MUST MUST-NOT runs a table and looks at its sentence.
say() {
	local name=$1 must=$2 not=$3 said
	[ ${#names[@]} = 0 ] || [[ " ${names[*]} " == *" $name "* ]] || return 0
	[ -d "$name" ] || "$program" run "$name.csv" --headless --quiet --out "$name" ${4:-} >/dev/null 2>"$name.err" || { cat "$name.err"; wrong=1; return; }
	local summary
	summary=$("$program" open "$name" --summary)
	said=$(awk 'NR > 2 && $0 == "" { exit } NR > 1 { printf "%s%s", gap, $0; gap = " " }' <<<"$summary")
	printf '\n%s: %s\n' "$name" "$said"
	local part
	while read -r part; do
		[ -z "$part" ] || grep -qE -- "$part" <<<"$said" || { printf '  WRONG: not said: %s\n' "$part"; wrong=1; }
	done <<<"${must//;/$'\n'}"
	[ -z "$not" ] || ! grep -qE -- "$not" <<<"$said" || { printf '  WRONG: said, and not so: %s\n' "$not"; wrong=1; }
}
names=("$@")

make noise 1 day,y 'for (i = 0; i < 200; i++) printf "%s,%.2f\n", day(i), 50 + 3 * n()'
say noise 'nothing repeats, grows or wanders: only chance about a mean of (49|50|51)' 'that repeats|that wanders|steps|straight'

make bakery 2 day,loaves 'for (i = 0; i < 400; i++) { w = i % 7; printf "%s,%.1f\n", day(i), 120 + .1 * i + (w == 5 ? 30 : w == 6 ? -20 : 0) + 6 * n() }'
say bakery 'repeats every 7 days;highest on;lowest on;straight line.*grows by 3\.?[0-9]* (loaves )?a month' 'wanders|steps'

make walk 3 month,price 'y = 100; for (i = 0; i < 160; i++) { y += 2 * n(); printf "%s,%.2f\n", month(i), y }'
say walk 'wanders' 'repeats every|steps at'

make step 4 day,pressure 'for (i = 0; i < 150; i++) printf "%s,%.2f\n", day(i), 20 + (i < 90 ? 0 : 8) + n()'
say step 'steps at 2020-0[56]-' 'repeats'

make tide 11 hour,height 'for (i = 0; i < 24 * 21; i++) printf "%s,%.3f\n", hour(i), 2 + .9 * sin(2 * pi * i / 12.42) + .3 * sin(2 * pi * i / 12) + .2 * sin(2 * pi * i / 23.93) + .08 * n()'
say tide 'repeats every 12\.[34][0-9]* h' 'steps at'

make outliers 5 day,level 'for (i = 0; i < 300; i++) printf "%s,%.2f\n", day(i), 10 + 3 * sin(2 * pi * i / 30) + .5 * n() + (u() < .04 ? 25 * (u() - .5) : 0)'
say outliers 'repeats every (30|29\.[5-9]|30\.[0-5])[0-9.]* days;(outlier|far out)' 'steps at'

make rooms 6 room,temperature,humidity,power 'for (i = 0; i < 300; i++) { r = int(3 * u()); t = 5 + 25 * u(); printf "%s,%.1f,%.1f,%.2f\n", substr("ABC", r + 1, 1), t, 30 + 40 * u(), 40 + (r == 1 ? 15 : 0) + (t < 16 ? 3 * (16 - t) : 0) + 4 * n() }'
say rooms 'room;temperature;B .*above' 'repeats|pattern in humidity'

make short 7 month,orders 'for (i = 0; i < 16; i++) printf "%s,%.1f\n", month(i), 30 + 2 * i + 3 * n()'
say short '(not settled|cannot be told|equal)' '9[0-9]\.?[0-9]* % of the belief'

make growth 8 month,passengers 'for (i = 0; i < 120; i++) printf "%s,%.1f\n", month(i), exp(4 + .012 * i + .15 * sin(2 * pi * i / 12) + .04 * n())'
say growth '(1 year|12 months|365\.?[0-9]* days);(logarithm|%)' 'steps at'

make hours 9 hour,load 'for (i = 0; i < 24 * 28; i++) { w = int(i / 24) % 7; printf "%s,%.1f\n", hour(i), 200 + 40 * sin(2 * pi * (i % 24 - 6) / 24) - (w > 4 ? 30 : 0) + 5 * n() }'
say hours 'repeats every (day|24 h|24 hours|1 day);7 days' 'steps at'

make broken 10 day,visits 'for (i = 0; i < 300; i++) { w = i % 7; printf "%s,%.1f\n", day(i), i < 268 ? 300 + 40 * (w == 5) - 40 * (w == 6) + 8 * n() : 120 + 25 * n() }'
say broken '(worse than|do not forecast|not to be trusted|does not hold)' ''

exit $wrong
