#!/usr/bin/env bash
# Lists the modules that end up in the program, for all systems and with CUDA,
# with their licences, told by the texts that come with them. Fails where a
# module has none, or one that is not among those known to be compatible with
# Apache-2.0.
#
#   scripts/licences.sh          lists them
#   scripts/licences.sh FILE     and writes their texts to FILE, for a release
set -euo pipefail
exec </dev/null
texts=${1:+$(realpath "$1")}
cd "$(dirname "$0")/.."

modules() { # of a build: GOOS, then flags of go list
  local os=$1
  shift
  GOOS=$os go list -deps -json=Module "$@" . | # the folder stands behind path and version
    awk -F'"' '/^\t\t"(Path|Version|Dir)": /{v[$2]=$4} /^\t\t"Main": true/{own=1} /^\t}/{if(!own) print v["Path"] "\t" v["Version"] "\t" v["Dir"]; own=0}'
}

# kinds prints the licences that a text is, a word each, nothing where it is
# none that is known.
kinds() {
  local text
  text=$(tr -cs '[:alnum:].' ' ' <"$1" | tr '[:upper:]' '[:lower:]')
  has() { [[ $text == *"$1"* ]]; }
  local found=
  if has 'mozilla public license version 2.0'; then found+=' MPL-2.0'; fi
  if has 'freetype license' && has 'your choice of exactly one'; then found+=' FTL'; fi
  if [ -z "$found" ] && has 'general public license'; then return; fi
  if has 'apache license version 2.0'; then found+=' Apache-2.0'; fi
  if has 'permission is hereby granted free of charge to any person obtaining a copy of th'; then found+=' MIT'; fi
  if has 'redistribution and use in source and binary forms'; then
    if has 'neither the name'; then found+=' BSD-3-Clause'; else found+=' BSD-2-Clause'; fi
  fi
  if has 'permission to use copy modify and or distribute this software'; then found+=' ISC'; fi
  if has 'creative commons attribution 4.0 international'; then found+=' CC-BY-4.0'; fi
  if has 'sil open font license version 1.1'; then found+=' OFL-1.1'; fi
  echo "$found"
}

all=$({ for os in linux darwin windows; do modules $os; done; CGO_ENABLED=1 modules linux -tags cuda; } | sort -u)
[ -n "$all" ] || { echo "no module is listed; go list must work here" >&2; exit 1; }

if [ -n "$texts" ]; then : >"$texts"; fi
bad=0
while IFS=$'\t' read -r path version dir; do
  [ -d "$dir" ] || { echo "$path $version: not downloaded; run go mod download" >&2; exit 1; }
  line=
  for file in "$dir"/*; do
    name=${file##*/}
    case ${name,,} in
    licen[sc]e-link*) continue ;; # an address
    licen[sc]e | licen[sc]e.* | licen[sc]e-* | copying | copying.* | unlicense) [ -f "$file" ] || continue ;;
    *) continue ;;
    esac
    found=$(kinds "$file")
    if [ -z "$found" ]; then
      found=" unknown($name)"
      bad=1
    fi
    line+=$found
    if [ -n "$texts" ]; then printf '==== %s %s: %s\n\n%s\n\n' "$path" "$version" "$name" "$(<"$file")" >>"$texts"; fi
  done
  if [ -z "$line" ]; then
    line=" none"
    bad=1
  fi
  printf '%-48s %-38s %s\n' "$path" "$version" "$(tr ' ' '\n' <<<"$line" | sed '/^$/d' | sort -u | paste -sd' ')"
done <<<"$all"

if [ $bad -ne 0 ]; then
  echo "a licence is missing or unknown: read it, and add it to scripts/licences.sh if it may be used" >&2
  exit 1
fi
