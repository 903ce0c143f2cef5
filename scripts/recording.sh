#!/usr/bin/env bash
# Records the workbench in a terminal: the pictures of docs/pictures.
#
#	scripts/recording.sh [OUT] [PROGRAM]
#
# OUT is where they go (docs/pictures), PROGRAM a built kestrel (built here if none
# is named). In a terminal of 128 x 34 characters the series of
# docs/your-own-series.md is run, looked at and left; what stood on the screen is
# drawn by scripts/screens: workbench.svg, which moves, and bench.svg and kernel.svg,
# which do not. chart.svg is what the program itself draws of the fit (key
# e), posterior.svg what kestrel figures draws of the run. Needs tmux; the run takes
# a quarter of a minute, and its seconds are on the pictures.
set -euo pipefail
exec </dev/null
if [ $# -gt 2 ]; then
	echo "usage: scripts/recording.sh [OUT] [PROGRAM]" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "${1:-$root/docs/pictures}"
out=$(realpath "${1:-$root/docs/pictures}")
work=$(mktemp -d)
screens() { tmux -L "kestrel-$$" -f /dev/null "$@"; }
trap 'screens kill-server 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/home" "$work/frames"
if [ $# -eq 2 ]; then
	ln -s "$(realpath "$2")" "$work/bin/kestrel"
else
	(cd "$root" && go build -trimpath -o "$work/bin/kestrel" .)
fi
(cd "$root" && go build -o "$work/bin/screens" ./scripts/screens)

# The series is made by the page's own command.
cd "$work/home"
awk '/^```sh$/ { on = 1; next } /^```$/ { exit } on' "$root/docs/your-own-series.md" | grep -v "^kestrel" >../series.sh
sh ../series.sh
[ -s visitors.csv ] || { echo "docs/your-own-series.md makes no visitors.csv" >&2; exit 1; }

unset NO_COLOR COLORTERM
shell="env PATH='$work/bin:$PATH' LC_ALL=C.UTF-8 PS1='\$ ' bash --norc --noprofile"
screens new-session -d -x 128 -y 34 -s film "$shell"
screens set -g status off
screens set -g default-terminal tmux-256color
screens set -g window-style 'fg=#c9d1d9,bg=#0d1117'
screens respawn-window -k "$shell" # which has these settings

film=() still=0
# keep NAME N: the screen as it is, for N steps of the film.
keep() {
	screens capture-pane -e -p >"$work/frames/$1"
	for ((i = 0; i < $2; i++)); do film+=("$work/frames/$1"); done
}
# wait_for TEXT: until it stands on the screen.
wait_for() {
	for ((i = 0; i < 1200; i++)); do
		if screens capture-pane -p | grep -qE -- "$1"; then return 0; fi
		sleep 0.1
	done
	echo "waited in vain for $1; on the screen stands" >&2
	screens capture-pane -p >&2
	exit 1
}
type_in() { screens send-keys -l -- "$1"; sleep 0.3; }

wait_for '^\$'
type_in 'kestrel visitors.csv --out runs/visitors'
keep prompt 2
screens send-keys Enter
wait_for ' 20 % of data'
keep early 2
wait_for ' 50 % of data'
keep middle 2
wait_for 'finished [0-9]*:'
sleep 0.5
keep bench 4
still=${#film[@]}
screens send-keys 2
wait_for 'Covariance|covariance'
sleep 1
keep kernel 4
screens send-keys 3
wait_for '95 % of y'
sleep 2
keep fit 4
screens send-keys e
for ((i = 0; i < 600; i++)); do
	[ -s runs/visitors/export/fit.svg ] && break
	sleep 0.1
done
screens send-keys q
wait_for 'runs/visitors shows it again'
type_in 'kestrel predict runs/visitors --horizon 1y -o forecast.csv'
screens send-keys Enter
wait_for '^note: fitted again'
sleep 1
keep forecast 5

title='The workbench of kestrel: a run on a series by month, its best kernel, its fit, a forecast'
(cd "$work" && bin/screens -seconds 0.8 -still $still -title "$title" "${film[@]}") >"$out/workbench.svg"
for still in bench kernel; do
	(cd "$work" && bin/screens -title "The workbench: $still" "frames/$still") >"$out/$still.svg"
done
kestrel=$work/bin/kestrel
"$kestrel" figures runs/visitors -o figures >/dev/null
cp figures/visitors-posterior.svg "$out/posterior.svg"
cp runs/visitors/export/fit.svg "$out/chart.svg"
ls -l "$out"
