#!/usr/bin/env bash
# Counts the instructions of the core path a sample, and compares them with bench/instructions.txt.
#
# usage: bench/instructions.sh [--update]
#   --update   write the counts down as the new baseline
#
# Exit 1 if a path takes over 5 % more instructions than the baseline. Noise is no excuse: valgrind counts, nothing is
# timed. Counts depend on the compiler and the libraries, so they are compared only under the compiler that wrote them down.
# Wants the release build (target instruction_count) and Debian's valgrind.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
baseline=$root/bench/instructions.txt
program=$root/build/release/instruction_count
samples=32000
paths=(v1-accepted v1-half-refused v1-refused v2-accepted v2-half-refused exact-accepted exact-refused)

update=no
case ${1-} in
    '') ;;
    --update) update=yes ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 1 ;;
esac
if ! command -v valgrind >/dev/null; then echo "instructions: no valgrind here (Debian: valgrind)" >&2; exit 1; fi
if [ ! -x "$program" ]; then echo "instructions: no $program: build the release preset" >&2; exit 1; fi

count() { # PATH ROUNDS: instructions of the whole program
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 |
        sed -n 's/^==.*Collected : \([0-9]*\).*/\1/p'
}

compiler=$(sed -n 's/^CMAKE_CXX_COMPILER_ID:.*=//p;s/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$root/build/release/CMakeCache.txt" | tail -n 1)
compiler="$(basename "$compiler") $("$compiler" -dumpversion | cut -d. -f1)"
known_compiler=$(sed -n 's/^compiler //p' "$baseline" 2>/dev/null || true)

counts=()
failed=0
for path in "${paths[@]}"; do
    # What three rounds take more than one is two rounds: starting up is no part of it.
    each=$((($(count "$path" 3) - $(count "$path" 1)) / (2 * samples)))
    counts+=("$path $each")
    known=$(sed -n "s/^$path //p" "$baseline" 2>/dev/null || true)
    if [ "$update" = yes ] || [ -z "$known" ] || [ "$compiler" != "$known_compiler" ]; then
        printf '%-16s %6d instructions a sample\n' "$path" "$each"
    else
        percent=$(awk "BEGIN { printf \"%+.1f\", 100 * ($each - $known) / $known }")
        printf '%-16s %6d instructions a sample, %s %% of %d\n' "$path" "$each" "$percent" "$known"
        if [ $((each * 100)) -gt $((known * 105)) ]; then failed=1; fi
    fi
done

if [ "$update" = yes ]; then
    { echo "compiler $compiler"; printf '%s\n' "${counts[@]}"; } >"$baseline"
elif [ "$compiler" != "$known_compiler" ]; then
    echo "not compared: $compiler here, the baseline is of ${known_compiler:-nothing}"
elif [ "$failed" = 1 ]; then
    echo "instructions: over 5 % more than the baseline. If that is meant: bench/instructions.sh --update" >&2
    exit 1
fi
