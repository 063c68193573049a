#!/usr/bin/env bash
# Runs fuzz targets for a while, and keeps what they learn.
#
#   fuzz/campaign.sh [--for 30m] [--jobs N] [--dry] [TARGET…]
#
# Builds once; the time is shared out equally among the targets, of which N run at a time. New inputs are merged into
# fuzz/corpus/TARGET, which is minimised on the way to a set that covers the same edges (--dry leaves it alone). A crash
# stays in fuzz/artifacts/TARGET and
# is printed with the command that shows it again; for `world`, with the shrunk litmus file. Exit code 1 if there is one.
set -euo pipefail
cd "$(dirname "$0")"
. ./common.sh

seconds=1800 jobs=$(nproc) dry= targets=()
usage() {
    sed -n '2,9s/^# \{0,1\}//p' campaign.sh >&2
    exit 2
}
while [ $# -gt 0 ]; do
    case $1 in
    --for)
        [[ ${2-} =~ ^([0-9]+)([smh]?)$ ]] || usage
        case ${BASH_REMATCH[2]} in h) unit=3600 ;; m) unit=60 ;; *) unit=1 ;; esac
        seconds=$((BASH_REMATCH[1] * unit)) && shift 2
        ;;
    --jobs)
        [[ ${2-} =~ ^[1-9][0-9]*$ ]] || usage
        jobs=$2 && shift 2
        ;;
    --dry) dry=1 && shift ;;
    -*) usage ;;
    *) targets+=("$1") && shift ;;
    esac
done
known=$(cargo +nightly fuzz list --fuzz-dir .)
[ ${#targets[@]} -gt 0 ] || mapfile -t targets <<<"$known"
for target in "${targets[@]}"; do
    grep -qx "$target" <<<"$known" || { echo "no target $target; there are: $(echo $known)" >&2 && exit 2; }
done

build
share=$((seconds * jobs / ${#targets[@]}))
[ "$share" -gt 0 ] || share=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

one() {
    local target=$1 log=$work/$1.log
    mkdir -p "$work/$target" "artifacts/$target" "corpus/$target"
    # shellcheck disable=SC2046 # Every option is a word.
    "$binaries/$target" "$work/$target" "corpus/$target" $(options "$target") -max_total_time="$share" \
        -artifact_prefix="artifacts/$target/" -print_final_stats=1 >"$log" 2>&1 || true
    local start end runs rate
    start=$(grep -m 1 -oP 'INITED cov: \K[0-9]+ ft: [0-9]+' "$log" || echo "? ft: ?")
    end=$(grep -oP ' cov: \K[0-9]+ ft: [0-9]+' "$log" | tail -n 1 || true)
    runs=$(grep -oP 'stat::number_of_executed_units: *\K[0-9]+' "$log" || grep -oP '^#\K[0-9]+' "$log" | tail -n 1)
    rate=$(grep -oP 'stat::average_exec_per_sec: *\K[0-9]+' "$log" || echo '?')
    if [ -z "$dry" ]; then
        mkdir "$work/$target.merged"
        # shellcheck disable=SC2046
        if "$binaries/$target" -set_cover_merge=1 -use_counters=0 $(options "$target") "$work/$target.merged" "corpus/$target" "$work/$target" \
            >>"$log" 2>&1; then
            rm -rf "corpus/$target" && mv "$work/$target.merged" "corpus/$target"
        fi
    fi
    printf '%-14s %10s runs %7s a second   cov %s -> %s   %s inputs\n' "$target" "${runs:-0}" "$rate" \
        "${start/ ft: //}" "${end/ ft: //}" "$(ls "corpus/$target" | wc -l)"
}

before=$(find artifacts -type f 2>/dev/null | sort || true)
for target in "${targets[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    one "$target" &
done
wait

new=$(comm -13 <(echo "$before") <(find artifacts -type f 2>/dev/null | sort))
[ -n "$new" ] || { echo "no crash" && exit 0; }
while read -r crash; do
    target=$(basename "$(dirname "$crash")")
    printf '\ncrash of %s: cargo run -p leasecheck-oracles -- %s fuzz/%s\n' "$target" "$target" "$crash"
    [ "$target" != world ] || (cd .. && cargo run -q -p leasecheck-oracles -- world "fuzz/$crash" 2>/dev/null) || true
done <<<"$new"
exit 1
