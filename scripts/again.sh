#!/usr/bin/env bash
# Runs all tests N times on a machine that has more to do than it can, and names those that
# fail: a test that now and then fails is a wrong one.
#
#	scripts/again.sh [N] [ROUNDS]
#
# N is how often (20), ROUNDS how many rounds are under way at once (as many as there are
# cores); in each one package is tested after the other. PROGRAMS=DIR names the tests as built
# before, for a machine without Go: of the package datasets/formats datasets+formats.test, of
# the root root.test; BUILD=DIR builds them there and does nothing else. Exit code 1 if one
# fails; what it said is in $FAILED (a new folder).
set -u
exec </dev/null
n=${1:-20} rounds=${2:-$(getconf _NPROCESSORS_ONLN)}
cd "$(dirname "$0")/.." || exit 2
programs=${PROGRAMS:-} failed=${FAILED:-$(mktemp -d)}
mkdir -p "$failed"
if [ -z "$programs" ]; then
	programs=${BUILD:-$(mktemp -d)}
	mkdir -p "$programs"
	programs=$(realpath "$programs")
	[ "${BUILD:-}" ] || trap 'rm -rf "$programs"' EXIT
	go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./... | grep . | xargs -n 1 realpath --relative-to=. |
		PROGRAMS=$programs xargs -P "$(getconf _NPROCESSORS_ONLN)" -I D bash -c 'name=D; [ D != . ] || name=root
			exec go test -c -trimpath -vet=off -ldflags="-s -w" -o "$PROGRAMS/${name//\//+}.test" "./D"' || exit 2
	[ -z "${BUILD:-}" ] || exit 0
fi
programs=$(realpath "$programs") failed=$(realpath "$failed")

# round K: all packages, each with a folder for what it writes, in another order each time.
round() {
	local program package folder tmp began=$SECONDS bad=0
	tmp=$(mktemp -d)
	for program in $(ls "$programs" | shuf --random-source=<(yes "$1")); do
		package=${program%.test} folder=${package//+//}
		[ "$package" != root ] || folder=.
		mkdir "$tmp/$program"
		(cd "$folder" && TMPDIR=$tmp/$program exec "$programs/$program" -test.timeout 40m) >"$tmp/said" 2>&1 || {
			bad=$((bad + 1))
			cp "$tmp/said" "$failed/$1-$package"
			printf 'round %d, ./%s: %s\n' "$1" "$folder" "$(grep -m 3 -E '^ *--- FAIL|^panic|^fatal' "$tmp/said" | tr '\n' ' ')"
		}
		rm -rf "${tmp:?}/$program" 2>/dev/null
	done
	rm -rf "$tmp"
	printf 'round %d: %d of %d packages failed, %d s\n' "$1" "$bad" "$(ls "$programs" | wc -l)" $((SECONDS - began))
}
export -f round
export programs failed
seq "$n" | xargs -P "$rounds" -I K bash -c 'round K'
printf 'load %s; failures: %d\n' "$(cut -d' ' -f1-3 /proc/loadavg)" "$(ls "$failed" | wc -l)"
[ "$(ls "$failed" | wc -l)" = 0 ]
