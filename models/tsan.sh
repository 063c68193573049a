#!/bin/sh
# The stress test under the thread sanitizer of the nightly toolchain.
#
# Usage: models/tsan.sh [SECONDS]
#
# Exit code 0 if the test passes, and also if it could not run at all, which it then says; otherwise 1. What a run can
# and cannot show is in README.md beside this file.
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${1:-10}

could_not_run() {
    echo "tsan: NOT RUN: $1"
    exit 0
}

command -v rustup >/dev/null 2>&1 || could_not_run "there is no rustup to ask for a nightly toolchain"
rustup run nightly rustc --version >/dev/null 2>&1 || could_not_run "no nightly toolchain is installed"
sysroot=$(rustup run nightly rustc --print sysroot)
target=$(rustup run nightly rustc -vV | sed -n 's/^host: //p')
if [ ! -f "$sysroot/lib/rustlib/src/rust/library/std/Cargo.toml" ]; then
    could_not_run "the nightly toolchain has no rust-src. Without it the standard library, and with it every mutex and
condition variable of the shell, would not be instrumented, and the sanitizer would report races that are none.
To run: rustup component add rust-src --toolchain nightly"
fi
RUSTFLAGS="-Zsanitizer=thread" TSAN_OPTIONS="halt_on_error=1" \
    rustup run nightly cargo test --release -Zbuild-std --target "$target" \
    -p leasecheck-models --test stress -- --seconds "$seconds" || { echo "tsan: FAILED"; exit 1; }
echo "tsan: passed"
