#!/usr/bin/env bash
# What stands on the screen on six journeys through the workbench, at three sizes of the terminal.
#
#	scripts/journeys.sh PROGRAM FOLDER [NAME…]
#
# The journeys are series (a table with dates and a text column, to be forecast), fig1c, swissgrid (the first two
# minutes of swissgrid-small, whose data are looked for in KESTREL_DATA; JOURNEY_SECONDS, "30 60 120", says when it is
# looked at), table (five columns), compare (runs beside each other) and steer (every order to a run without a screen,
# beside two busy loops). The program runs in tmux as a user has it; at each station the window is made 80x24, 120x36
# and 200x55 in turn, so that one run serves for all three. FOLDER gets JOURNEY-SIZE-NN-WHAT.txt, with colours, and
# .svg; tables and runs are made in FOLDER/work. What a program does not have, an old one say, is passed over with a
# line. Exit status 1 where something was waited for in vain that every program has to show. Needs tmux.
set -euo pipefail
exec </dev/null
if [ $# -lt 2 ]; then
	echo "usage: scripts/journeys.sh PROGRAM FOLDER [NAME…]" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "$1")
mkdir -p "$2/work"
folder=$(realpath "$2")
shift 2
names=("$@")
[ ${#names[@]} -gt 0 ] || names=(series fig1c swissgrid table compare steer)
sizes=(80x24 120x36 200x55)
wrong=0 journey='' station=0 children=()
bin=$(mktemp -d)
screens() { TMUX_TMPDIR=$bin tmux -L journeys -f /dev/null "$@"; } # whose socket goes with the folder
leave() {
	screens kill-server 2>/dev/null || true
	[ ${#children[@]} = 0 ] || kill "${children[@]}" 2>/dev/null || true
	wait
	rm -rf "$bin"
}
trap leave EXIT
trap 'exit 130' INT TERM
ln -s "$program" "$bin/kestrel"
(cd "$root" && go build -o "$bin/screens" ./scripts/screens)
cd "$folder/work"

# begin NAME opens a terminal for a journey, with a shell in it.
begin() {
	journey=$1 station=0
	rm -f "$folder/$journey"-[0-9]*x[0-9]*-[0-9][0-9]-*.{txt,svg}
	echo "$journey"
	local shell="env -u NO_COLOR -u COLORTERM PATH='$bin:$PATH' LC_ALL=C.UTF-8 PS1='\$ ' KESTREL_DATA='${KESTREL_DATA:-}'"
	shell="$shell bash --norc --noprofile"
	screens new-session -d -x 80 -y 24 -s "$journey" "$shell"
	screens set -g status off
	screens set -g default-terminal tmux-256color
	screens set -g window-size manual
	screens respawn-window -k "$shell" # which has these settings
	await '^\$' 10
}
end() { screens kill-session -t "$journey"; }

# enter COMMAND types a command and gives it to the shell.
enter() { screens send-keys -l -- "$1"; screens send-keys Enter; }
# press KEY… presses keys, one after the other as fingers do.
press() { local k; for k in "$@"; do screens send-keys -- "$k"; sleep 0.2; done; }
# shown REGEX: whether that is on the screen.
shown() { screens capture-pane -p | grep -qE -- "$1"; }
# gone REGEX: whether it is not.
gone() { ! shown "$1"; }
# until_it SECONDS COMMAND…: waits until the command is well.
until_it() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}
# await REGEX [SECONDS] waits until it stands on the screen; await_or_pass says that it does not, and that is all.
await() {
	until_it "${2:-20}" shown "$1" && return
	echo "  WRONG: waited in vain for $1; on the screen stands"
	screens capture-pane -p | sed 's/^/    /'
	wrong=1
}
await_or_pass() { until_it "${2:-5}" shown "$1" || { echo "  passed over, this program does not show: $1"; return 1; }; }
# happens RUN REGEX SECONDS waits for a line of a run's log of events.
happened() { grep -qE -- "$2" "$1/events.jsonl" 2>/dev/null; }
happens() { until_it "$3" happened "$1" "$2" || { echo "  WRONG: $1 has no $2 after $3 s"; wrong=1; return 1; }; }
evaluations() { [ -e "$1/events.jsonl" ] && [ "$(grep -c '"type":"evaluation"' "$1/events.jsonl")" -ge "$2" ]; }

# look WHAT keeps the screen at each size, once it has come to rest or a while has gone by.
look() {
	station=$((station + 1))
	local size before now i
	for size in "${sizes[@]}"; do
		screens resize-window -t "$journey" -x "${size%x*}" -y "${size#*x}"
		sleep 0.4
		before=''
		for ((i = 0; i < 12; i++)); do
			now=$(screens capture-pane -e -p)
			if [ "$now" = "$before" ] && [[ $now != *computing* ]]; then break; fi
			before=$now
			sleep 0.3
		done
		printf '%s\n' "$now" >"$folder/$journey-$size-$(printf %02d $station)-$1.txt"
	done
	screens resize-window -t "$journey" -x "${sizes[0]%x*}" -y "${sizes[0]#*x}" # tmux 3.3 leaves a larger screen on the one below
	sleep 0.4
	echo "  $station $1"
}

# made FILE HEADER BODY writes a table where it is not there: BODY is awk, with u() uniform, n() normal and day(i).
made() {
	[ -s "$1" ] || awk -v header="$2" '
		function u() { return 1 - rand() }
		function n() { return sqrt(-2 * log(u())) * cos(2 * pi * u()) }
		function day(i) { return date(i + 738827) }
		function date(z,  era, doe, yoe, y, doy, mp, d, m) { # of days since 1 March of the year 0 (H. Hinnant)
			era = int(z / 146097); doe = z - era * 146097
			yoe = int((doe - int(doe / 1460) + int(doe / 36524) - int(doe / 146096)) / 365); y = yoe + era * 400
			doy = doe - (365 * yoe + int(yoe / 4) - int(yoe / 100)); mp = int((5 * doy + 2) / 153)
			d = doy - int((153 * mp + 2) / 5) + 1; m = mp < 10 ? mp + 3 : mp - 9
			return sprintf("%d-%02d-%02d", y + (m <= 2), m, d)
		}
		BEGIN { pi = 3.141592653589793; srand(4); for (i = 0; i < 20; i++) u(); print header; '"$3"' }' >"$1"
}

# tables are what users have: visitors of a shop, +9 a month and a week that is +60 on Saturdays and -40 on Sundays,
# scatter 6, the weather as text, which does nothing; houses whose price is 6 an m2, less 4 a km, +80 on the hill,
# scatter 20, and whose age does nothing.
tables() {
	made visitors.csv date,weather,visitors 'for (i = 0; i < 160; i++) { w = i % 7; printf "%s,%s,%d\n", day(i),
		u() < .3 ? "rain" : u() < .2 ? "snow" : "sun", 150 + .3 * i + (w == 5 ? 60 : w == 6 ? -40 : 0) + 6 * n() }'
	made houses.csv area_m2,age_years,distance_km,district,price_kchf 'for (i = 0; i < 160; i++) {
		a = int(50 + 150 * u()); d = 25 * u(); r = int(3 * u()); printf "%d,%d,%.1f,%s,%d\n", a, 80 * u(), d,
		r == 0 ? "north" : r == 1 ? "hill" : "lake", 100 + 6 * a - 4 * d + (r == 1 ? 80 : 0) + 20 * n() }'
}

# views looks at what every run shows, once it has ended.
views() {
	press 1
	look bench
	press '?'
	look words
	press Escape 2
	sleep 2
	look kernel
	press 3
	await_or_pass '95 %' 30 || true
	until_it 30 gone 'until the average|computing' || true
	look fit
	press v
	sleep 1
	look residuals
	press 4
	sleep 2
	look similarity
	press 6
	look log
	press 1
}

series() {
	tables
	rm -rf runs/visitors
	begin series
	enter kestrel
	await 'quickstart' 60
	look launcher
	press / v i s i t o r s Enter
	await 'rows: [0-9]+ training' 20
	look preview
	press i
	look inputs
	press Escape
	press '?'
	look help
	press Escape q
	await '^\$'
	enter 'clear; kestrel visitors.csv --out runs/visitors'
	until_it 90 evaluations runs/visitors 1 || true
	look early
	until_it 120 evaluations runs/visitors 5 || true
	look middle
	happens runs/visitors '"type":"finished"' 400 || return 0
	sleep 1
	views
	press q
	await '^\$' 60
	look quit
	enter 'clear; kestrel open runs/visitors --summary | head -10'
	enter 'kestrel predict runs/visitors --horizon 14 -o forecast.csv; cut -d, -f1-3,9- forecast.csv'
	await '2023-06-24|unknown flag' 120
	if shown 'unknown flag'; then echo '  passed over, this program does not forecast'; fi
	look forecast
	end
}

fig1c() {
	rm -rf runs/fig1c
	begin fig1c
	enter 'clear; kestrel fig1c --out runs/fig1c'
	await 'pause' 60
	look start
	until_it 120 evaluations runs/fig1c 2 || true
	look early
	happens runs/fig1c '"type":"finished"' 900 || return 0
	sleep 1
	views
	press q
	await '^\$' 60
	look quit
	end
}

swissgrid() {
	if [ ! -e "${KESTREL_DATA:-}/swissgrid/total-consumption-15min-2009-2014.csv.xz" ]; then
		echo 'swissgrid: skipped, $KESTREL_DATA/swissgrid/total-consumption-15min-2009-2014.csv.xz is not there'
		return 0
	fi
	rm -rf runs/swissgrid
	begin swissgrid
	enter 'clear; kestrel swissgrid-small --out runs/swissgrid'
	local start=$SECONDS at
	sleep 2
	look begin
	for at in 15 ${JOURNEY_SECONDS:-30 60 120}; do
		while [ $((SECONDS - start)) -lt "$at" ]; do sleep 0.5; done
		look "after-$at-s"
	done
	press '?'
	look words
	press Escape q
	look leaving
	press Enter
	await '^\$' 60
	look quit
	end
}

table() {
	tables
	rm -rf runs/houses
	begin table
	enter 'clear; kestrel houses.csv --target price_kchf --out runs/houses'
	until_it 90 evaluations runs/houses 1 || true
	look early
	happens runs/houses '"type":"finished"' 600 || return 0
	sleep 1
	views
	press 3 i
	sleep 2
	look one-input
	press c
	sleep 2
	look next-input
	press q
	await '^\$' 60
	look quit
	end
}

# short NAME ARGUMENT… makes a run without a screen, where it is not there.
short() {
	local name=$1
	shift
	[ -d "compared/$name" ] || kestrel_quiet run "$@" --out "compared/$name"
}
kestrel_quiet() { "$program" "$@" --headless --quiet >/dev/null 2>"$bin/said" || { cat "$bin/said"; wrong=1; }; }

compare() {
	tables
	short first visitors.csv --set schedule.evaluate_every=0.25
	short seed visitors.csv --set schedule.evaluate_every=0.25 --seed 2
	short fewer visitors.csv --set schedule.evaluate_every=0.25 --set kernels.base=SE,LIN
	short other houses.csv --target price_kchf --set schedule.evaluate_every=0.5
	begin compare
	enter 'clear; kestrel open compared/first'
	await 'finished' 30
	press 5
	sleep 1
	look list
	press Down Enter Down Enter Down Enter
	sleep 2
	look chosen
	press t
	look table
	press t v
	look quantity
	press v v Up
	sleep 1
	look other-data
	press '?'
	look words
	press Escape q
	await '^\$' 20
	end
}

# steer gives every order from another terminal, and waits for each in the run's log of events.
steer() {
	tables
	rm -rf runs/steered
	begin steer
	"$program" run visitors.csv --headless --set schedule.refine=500 --out runs/steered >steered.txt 2>&1 &
	local run=$! busy
	children+=("$run")
	yes >/dev/null & children+=($!)
	busy=$!
	yes >/dev/null & children+=($!)
	busy="$busy $!"
	happens runs/steered '"type":"evaluation"' 180 || return 0
	enter 'clear; kestrel open runs/steered'
	await 'pause|follow|watch' 60
	look open
	press space
	happens runs/steered '"to":"paused","reason":"paused by the user"' 60 || { end; return 0; }
	look pause
	press space
	happens runs/steered '"to":"running","reason":"resumed by the user"' 60
	look resume
	press p
	sleep 1
	look prune-asked
	press BSpace BSpace 3 Enter
	happens runs/steered '"type":"pruned"' 60
	sleep 1
	look prune
	press u
	happens runs/steered '"type":"restored"' 60
	sleep 1
	look restore
	press r
	sleep 1
	look re-optimise-asked
	press Enter
	happens runs/steered '"type":"reoptimised"' 60
	sleep 1
	look re-optimise
	press s
	happens runs/steered '"to":"stopped"' 60
	sleep 1
	look stop
	press 6
	look log
	press q
	await '^\$' 60
	# shellcheck disable=SC2086
	kill $busy 2>/dev/null || true
	wait "$run" || true
	enter 'clear; tail -3 steered.txt; grep -vE "evaluation|kernels? " runs/steered/log.txt | tail -12'
	sleep 1
	look written
	end
}

for name in "${names[@]}"; do
	case $name in
	series | fig1c | swissgrid | table | compare | steer) "$name" ;;
	*) echo "no journey is called $name" >&2; exit 2 ;;
	esac
done
for text in "$folder"/*-[0-9][0-9]-*.txt; do
	[ "$text" -nt "${text%.txt}.svg" ] || continue
	"$bin/screens" -title "$(basename "${text%.txt}")" "$text" >"${text%.txt}.svg"
done
exit $wrong
