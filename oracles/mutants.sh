#!/usr/bin/env bash
# How many small changes to the code the tests notice: oracles/mutants.md says how, and what came of it.
#
#   oracles/mutants.sh build                      once, and again after each change to code or tests
#   oracles/mutants.sh run core|sim [--shard K/N] what is in the build; shards can run beside each other
#   oracles/mutants.sh plain core|sim             what is not, with cargo-mutants alone
#   oracles/mutants.sh sample N                   N of the first kind with cargo-mutants alone: both must agree
#   oracles/mutants.sh report                     writes the score and the survivors into oracles/mutants.md
set -euo pipefail
cd "$(dirname "$0")/.."

command -v cargo-mutants >/dev/null || cargo install cargo-mutants --locked --quiet
venv=${CARGO_TARGET_DIR:-target}/mutants/venv
if [ ! -e "$venv/ready" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet tree_sitter==0.26.1 tree_sitter_rust==0.24.2
    touch "$venv/ready"
fi
exec "$venv/bin/python" oracles/mutants "$@"
