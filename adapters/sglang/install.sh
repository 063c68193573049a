#!/usr/bin/env bash
# Puts what the adapter needs into DIR (default: target/sglang of the repository): the wheel of SGLang 0.5.23, unpacked,
# and a torch that needs no GPU. Does nothing if both are there. Debian 12 or a Python 3.11 that has torch already.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=${1:-target/sglang}
python=${LEASECHECK_PYTHON:-/usr/bin/python3}

mkdir -p "$dir"
if ! "$python" -c 'import torch' 2>/dev/null; then
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-torch >"$dir/apt.log" 2>&1
  else
    echo "$python has no torch: install python3-torch, or set LEASECHECK_PYTHON to a Python that has it" >&2
    exit 2
  fi
fi
if [ ! -e "$dir/sglang/srt/mem_cache/pool_host/unified.py" ]; then
  fetch=$(command -v pip3 || command -v pip || true)
  if [ -n "$fetch" ]; then fetch="$fetch download"; else fetch="$python -m pip download"; fi
  $fetch -q --no-deps --only-binary=:all: --platform manylinux_2_34_x86_64 --python-version 3.11 \
    -d "$dir" sglang==0.5.23
  "$python" -m zipfile -e "$dir"/sglang-0.5.23-*.whl "$dir/unpacked"
  mv "$dir/unpacked/sglang" "$dir/sglang"
  rm -rf "$dir/unpacked" "$dir"/sglang-0.5.23-*.whl
fi
