#!/usr/bin/env bash
# Builds kestrel with CUDA: bin/kestrel-cuda. Needs gcc and two headers, no
# driver, no card and no toolkit to link with:
#
#   cuda.h   of CUDA 12 or 13
#   nvrtc.h
#
# They are looked for in $CUDA_HOME/include, /usr/local/cuda/include,
# /opt/cuda/include, and where NVIDIA's wheels put them in python3's packages.
#
#   device/cuda/build.sh                                    builds
#   device/cuda/build.sh go test -tags cuda ./device/cuda/...   any command, in the environment of the build
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

folders() {
  if [ -n "${CUDA_HOME:-}" ]; then printf '%s\n' "$CUDA_HOME/include"; fi
  printf '%s\n' /usr/local/cuda/include /opt/cuda/include
  python3 -c '
import glob, sys
for path in sys.path:
    for folder in sorted(glob.glob(glob.escape(path) + "/nvidia/*/include")): print(folder)' 2>/dev/null || true
}

# holding prints the first of the folders that has a header.
holding() {
  local folder
  while read -r folder; do
    if [ -f "$folder/$1" ]; then printf '%s\n' "$folder"; return; fi
  done
  return 1
}

all=$(folders)
missing=
cuda=$(holding cuda.h <<<"$all") || missing='cuda.h (pip install nvidia-cuda-runtime-cu12)'
nvrtc=$(holding nvrtc.h <<<"$all") || missing="${missing:+$missing and }nvrtc.h (pip install nvidia-cuda-nvrtc-cu12)"
if [ -n "$missing" ]; then
  echo "no $missing in: $(tr '\n' ' ' <<<"$all"); install the CUDA toolkit or these packages, or set CUDA_HOME to a folder with include/ in it" >&2
  exit 1
fi

export CGO_ENABLED=1
export CGO_CFLAGS="-O2 -g -I$here/compat -I$cuda -I$nvrtc"
# The empty archives come before whatever toolkit there may be, so that the
# program needs nothing of CUDA to start.
export CGO_LDFLAGS="-L$here/driver/lib -Wl,--as-needed"

if [ $# -gt 0 ]; then exec "$@"; fi
cd "$here/../.."
go build -tags cuda -o bin/kestrel-cuda .
echo "bin/kestrel-cuda"
