#!/usr/bin/env bash
# Runs each fuzz target for some seconds (default 600), from the corpus and the examples in the tests.
# Needs cargo-fuzz: cargo install --locked cargo-fuzz
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-600}
shift $(($# > 0 ? 1 : 0))
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(data geojson info pickle profile services settings spec)

declare -A seeds=(
    [data]=tests/corpus/data
    [pickle]=tests/corpus/pickle
    [profile]=tests/fixtures/profiles
    [services]=tests/fixtures/answers
)
# The sanitizer is an unstable option of the compiler.
export RUSTC_BOOTSTRAP=1
found=0
for target in "${targets[@]}"; do
    corpus=tests/fuzz/corpus/$target
    mkdir -p "$corpus"
    echo "== $target, $seconds s"
    cargo fuzz run --fuzz-dir tests/fuzz "$target" "$corpus" ${seeds[$target]:-} "tests/fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
        2> "tests/fuzz/$target.log" || found=1
    grep -E 'stat::(number_of_executed_units|peak_rss_mb)|ERROR|panicked' "tests/fuzz/$target.log"
done
exit $found
