#!/usr/bin/env bash
# Builds the fuzz targets and runs them: scripts/fuzz.sh [--seconds N] [TARGET...]
#
# TARGET as in fuzz_selector; without one all of them, as many at a time as there are cores, each N seconds (20). What they
# find out about inputs is kept in build/fuzz-corpus, an input that fails in build/fuzz-finds, their output in build/reports.
# A line a target: `ok NAME ...` or `FAILED NAME ...`; exit 0 only if none failed.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

seconds=20 targets=()
while [ $# -gt 0 ]; do
    case $1 in
        --seconds) seconds=${2:?}; shift ;;
        --seconds=*) seconds=${1#*=} ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        -*) echo "usage: scripts/fuzz.sh [--seconds N] [TARGET...]" >&2; exit 1 ;;
        *) targets+=("$1") ;;
    esac
    shift
done

export ASAN_OPTIONS=${ASAN_OPTIONS-halt_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS-halt_on_error=1:print_stacktrace=1}
mkdir -p build/reports build/fuzz-finds
if ! cmake --preset asan >build/reports/configure-fuzz.log 2>&1; then
    tail -n 40 build/reports/configure-fuzz.log
    exit 1
fi
if [ ${#targets[@]} = 0 ]; then mapfile -t targets < <(basename -s .cpp tests/fuzz/fuzz_*.cpp); fi
cmake --build build/asan --target "${targets[@]}" -j "$(nproc)"

run_target() { # NAME SECONDS
    local name=$1 seconds=$2 log=build/reports/$1.log seed why seeds=()
    mkdir -p "build/fuzz-corpus/$name"
    # The golden states are seeds of fuzz_snapshot; to the others they would only be long.
    for seed in "tests/fuzz/corpus/$name" "tests/golden/${name/#fuzz_snapshot/state}"; do
        if [ -d "$seed" ]; then seeds+=("$seed"); fi
    done
    if timeout --kill-after=20 $((seconds + 120)) "build/asan/$name" -max_total_time="$seconds" -timeout=10 \
        -rss_limit_mb=2048 -artifact_prefix=build/fuzz-finds/ "build/fuzz-corpus/$name" "${seeds[@]}" >"$log" 2>&1; then
        echo "ok $name: $(tail -n 1 "$log")"
    else
        why=$(grep -m 1 -E '^(property broken|ALARM)|==ERROR|runtime error:|Assertion' "$log" || tail -n 1 "$log")
        echo "FAILED $name: $why ($(grep -m 1 -o 'Seed: [0-9]*' "$log" || true); see $log, the input is in build/fuzz-finds)"
        tail -n 40 "$log"
        return 1
    fi
}
export -f run_target
# A target has one thread, so there are as many at a time as cores.
# shellcheck disable=SC2016 # expanded by the inner bash
printf '%s\n' "${targets[@]}" | xargs -P "$(nproc)" -I{} bash -c 'run_target "$1" "$2"' _ {} "$seconds"
