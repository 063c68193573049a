#!/bin/bash -eu
# Builds every fuzz target into $OUT, with its corpus, options and dictionary, as ClusterFuzzLite expects.
# SANITIZER is address or coverage there; none works as well, and is what campaigns of our own use.
cd "$SRC/leasecheck/fuzz"

sanitizer=()
case ${SANITIZER:-address} in
coverage) ;; # The builder's cargo adds what coverage needs.
*) sanitizer=(-s "$SANITIZER") ;;
esac
# The base image's default toolchain is a nightly; elsewhere it is asked for.
toolchain=()
rustc --version | grep -q nightly || toolchain=(+nightly)
cargo "${toolchain[@]}" fuzz build --fuzz-dir . -O "${sanitizer[@]}" --no-trace-compares

binaries=${CARGO_TARGET_DIR:-target}/x86_64-unknown-linux-gnu/release
for target in $(cargo "${toolchain[@]}" fuzz list --fuzz-dir .); do
    cp "$binaries/$target" "$OUT/"
    [ ! -e "$target.options" ] || cp "$target.options" "$OUT/"
    inputs=("corpus/$target")
    [ ! -d "crashes/$target" ] || inputs+=("crashes/$target")
    zip -q -r -j "$OUT/${target}_seed_corpus.zip" "${inputs[@]}"
done
cp dictionaries/*.dict "$OUT/"
