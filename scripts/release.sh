#!/usr/bin/env bash
# Makes a release of the last commit, publishes nothing, and looks at what came out: the
# archives and packages for all systems have the program, licences, manual pages and
# completions, the Debian package installs into a folder of its own, the RPM can be
# queried, the program of the image runs where there is nothing else. Another time for
# the same commit gives the same bytes (--again, twice the time).
#
#   scripts/release.sh [--again]
#
# Needs goreleaser on the PATH. What else is missing (dpkg, rpm, unshare, a docker that
# answers) is named and left out. Some ten minutes on two cores.
set -euo pipefail
exec </dev/null
cd "$(dirname "$0")/.."
command -v goreleaser >/dev/null || { echo "no goreleaser: go install github.com/goreleaser/goreleaser/v2@v2.15.1" >&2; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "scripts/release.sh: $*" >&2; exit 1; }
without() { echo "no $1: $2 is left out"; }

made() { # CLONE
  git clone -q . "$1"
  (cd "$1" && goreleaser release --snapshot --clean --skip=publish,sbom,docker) >"$1.log" 2>&1 || { cat "$1.log"; exit 1; }
}
made "$tmp/one"
dist=$tmp/one/dist
pages=$(ls "$tmp"/one/bin/extras/man1/*.1 | wc -l)

# has FILE LISTING: what every one of them has, under whatever folder.
has() {
  local what
  for what in 'kestrel(\.exe)?' '(LICENSE|copyright)' third-party-licences.txt; do
    grep -qE "(^|/)$what\$" "$2" || fail "$1 has no $what"
  done
  [ "$(grep -cE '/kestrel[a-z-]*\.1(\.gz)?$' "$2")" = "$pages" ] || fail "$1 has not all $pages manual pages"
  [ "$(grep -cE '(completions/|_completions|vendor-completions|site-functions).*kestrel' "$2")" = 3 ] || fail "$1 has not three completions"
  echo "$(basename "$1"): whole"
}
for file in "$dist"/*_*.tar.gz; do tar -tzf "$file" >"$tmp/list"; has "$file" "$tmp/list"; done
for file in "$dist"/*.zip; do python3 -m zipfile -l "$file" | awk 'NR > 1 { print $1 }' >"$tmp/list"; has "$file" "$tmp/list"; done

arch=$(go env GOARCH)
if command -v dpkg-deb >/dev/null; then
  for file in "$dist"/*.deb; do dpkg-deb -c "$file" | awk '{ print $6 }' | grep -v '/$' >"$tmp/list"; has "$file" "$tmp/list"; done
  root=$tmp/root
  mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers} && touch "$root/var/lib/dpkg/status"
  dpkg --root="$root" --force-not-root --no-triggers -i "$dist"/*_"$arch".deb >/dev/null
  "$root/usr/bin/kestrel" version
else
  without dpkg "looking into .deb"
fi
if command -v rpm >/dev/null; then
  for file in "$dist"/*.rpm; do rpm --dbpath "$tmp/rpmdb" -qpl "$file" >"$tmp/list"; has "$file" "$tmp/list"; done
else
  without rpm "looking into .rpm"
fi

# The image: a folder with the program and the licences.
platform=linux/$arch
mkdir -p "$tmp/image/$platform" "$tmp/image/bin"
cp "$dist/kestrel_linux_$arch"*/kestrel "$tmp/image/$platform/"
cp Dockerfile LICENSE "$tmp/image/"
cp "$tmp/one/bin/third-party-licences.txt" "$tmp/image/bin/"
if docker info >/dev/null 2>&1; then
  docker build -q --build-arg TARGETPLATFORM="$platform" -t kestrel-release-check "$tmp/image"
  docker run --rm kestrel-release-check version
  docker rmi -f kestrel-release-check >/dev/null
else
  without "docker that answers" "building the image"
  if unshare -r true 2>/dev/null; then
    mkdir -p "$tmp/scratch/usr/bin" && cp "$tmp/image/$platform/kestrel" "$tmp/scratch/usr/bin/"
    unshare -r chroot "$tmp/scratch" /usr/bin/kestrel version
  fi
fi

if [ "${1:-}" = --again ]; then
  made "$tmp/two"
  for file in "$dist"/*.{tar.gz,zip,deb,rpm}; do cmp "$file" "$tmp/two/dist/$(basename "$file")"; done
  echo "the same bytes again"
fi
