#!/usr/bin/env bash
# How many small changes to the code the tests notice (cargo-mutants; settings in .cargo/mutants.toml).
#
#   oracles/mutants.sh core|oracles|sim [--shard K/N] [other options of cargo mutants]
#
# core: changes to core, seen by core's own tests (with fewer random cases than usual). oracles: the changes to core that
# those have missed, seen by the state machines and corpora of oracles/. sim: changes to the invariants of sim and to the
# shadow, seen by the corpus of litmus files. core/src/shell is left to models/: loom takes minutes for one change.
# Results are in target/mutants/PART; oracles/mutants.md is the score, with the survivors and why they survive.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cargo-mutants >/dev/null || cargo install cargo-mutants --locked --quiet
part=${1-}
[ $# -eq 0 ] || shift
out=target/mutants/$part
options=(--no-shuffle --output "$out")
case $part in
core)
    options+=(-p leasecheck-core --exclude 'core/src/shell/**' --test-package leasecheck-core)
    tests=(--lib --test all)
    ;;
oracles)
    [ -e "$out" ] || { mkdir -p target/mutants && cp -r target/mutants/core "$out"; }
    options+=(--iterate -p leasecheck-core --exclude 'core/src/shell/**' --test-package leasecheck-oracles)
    tests=(--lib --tests)
    ;;
sim)
    options+=(-p leasecheck-sim -f 'sim/src/invariants/**' -f sim/src/world/access.rs --test-package leasecheck-sim)
    tests=(--test invariants --test guards)
    ;;
*)
    sed -n '4,9s/^# \{0,1\}//p' oracles/mutants.sh >&2
    exit 2
    ;;
esac

# What is built a thousand times is built fast. A test that takes more CPU time than it ever does is in an endless loop.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_OPT_LEVEL=${OPT_LEVEL:-0} PROPTEST_CASES=${PROPTEST_CASES:-150}
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="prlimit --cpu=60 --as=4000000000"
mkdir -p "$out"
cargo mutants "${options[@]}" "$@" -- "${tests[@]}"
