#!/usr/bin/env bash
# Runs every test of seriesgate: scripts/test.sh [--quick]
#
# Installs what is missing, builds the release, ASan+UBSan, TSan and fuzz presets, and runs the unit tests and the
# end-to-end tests on each, the fuzz targets for a short while, the checks of style and example configuration, and the
# unit tests once more on Debian 13 in a root of its own, where the machine can (see test-debian13.sh).
# --quick: the release preset only. The end says how long each part took; the last line is the count, `N passed, N failed`;
# exit 0 only if none failed. Logs, JUnit files and lists of the slowest tests are left in build/reports.
#
# From the environment:
#   SERIESGATE_FUZZ_SECONDS   how long each fuzz target runs (20)
#   SERIESGATE_TEST_MINUTES   when everything has to be over (80); what is left by then fails
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

quick=no
for argument in "$@"; do
    case $argument in
        --quick) quick=yes ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "usage: scripts/test.sh [--quick]" >&2; exit 1 ;;
    esac
done

jobs=$(nproc)
fuzz_seconds=${SERIESGATE_FUZZ_SECONDS:-20}
deadline=$((60 * ${SERIESGATE_TEST_MINUTES:-80}))
reports=$root/build/reports
rm -rf "$reports"
mkdir -p "$reports"

passed=0 failed=0 skipped=0
failures=() untested=()

pass() { passed=$((passed + 1)); }
fail() { # WHAT
    failed=$((failed + 1))
    failures+=("$1")
    echo "FAILED: $1"
}

section_title='' section_start=0 sections=()
end_section() {
    if [ -z "$section_title" ]; then return; fi
    sections+=("$(printf '%5d s  %s' $((SECONDS - section_start)) "$section_title")")
    echo "--- $section_title: $((SECONDS - section_start)) s"
    section_title=''
}
section() { # TITLE
    end_section
    section_title=$1 section_start=$SECONDS
    printf '\n=== %s (%d:%02d)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60))
}

running=''
interrupted() {
    trap - INT TERM HUP
    if [ -n "$running" ]; then kill -TERM "$running" 2>/dev/null || true; wait "$running" 2>/dev/null || true; fi
    echo "test: interrupted" >&2
    exit 130
}
trap interrupted INT TERM HUP

# Runs a command with at most so many seconds, and never past the deadline of the whole run: nothing here may hang.
bounded() { # SECONDS COMMAND...
    local limit=$1 left=$((deadline - SECONDS)) status=0
    shift
    if [ "$left" -lt 1 ]; then
        echo "no time left for: $*"
        return 124
    fi
    if [ "$left" -lt "$limit" ]; then limit=$left; fi
    # A process group of its own, so that its end ends all it started; job control, because a plain background
    # job of a script has SIGINT ignored, and tests send it.
    set -m
    timeout --kill-after=20 "$limit" "$@" </dev/null &
    running=$!
    set +m
    wait "$running" || status=$?
    running=''
    if [ "$status" = 124 ] || [ "$status" = 137 ]; then echo "ended after $limit s: $*"; fi
    return "$status"
}

# Adds the counts of a JUnit file to ours, both ctest's and pytest's form. What ended without writing one has failed.
count_report() { # FILE WHAT STATUS
    local file=$1 what=$2 status=$3 tests bad skips
    if [ ! -s "$file" ]; then
        fail "$what (exit $status, no report)"
        return
    fi
    total() { # ATTRIBUTE: summed over the <testsuite> elements
        { grep -o '<testsuite [^>]*' || true; } < <(tr '\n\t' '  ' <"$file") |
            sed -n "s/.* $1=\"\([0-9]*\)\".*/\1/p" | awk '{ sum += $1 } END { print sum + 0 }'
    }
    tests=$(total tests) bad=$(($(total failures) + $(total errors))) skips=$(($(total skipped) + $(total disabled)))
    passed=$((passed + tests - bad - skips)) failed=$((failed + bad)) skipped=$((skipped + skips))
    if [ "$bad" -gt 0 ]; then
        failures+=("$what: $bad of $tests")
    elif [ "$status" != 0 ]; then
        fail "$what (exit $status)"
    elif [ "$tests" = 0 ]; then
        fail "$what ran no test"
    fi
}

# The ten slowest tests of JUnit files, into a file.
list_slowest() { # LIST FILE...
    local list=$1 file files=()
    shift
    for file in "$@"; do
        if [ -s "$file" ]; then files+=("$file"); fi
    done
    if [ ${#files[@]} = 0 ]; then return; fi
    /usr/bin/python3 scripts/slowest.py 10 "${files[@]}" >"$list" || fail "$list"
}

# Configures and builds a preset. PREFIX runs the build, and with it the test programs that it asks for their tests.
build() { # PRESET TARGET [PREFIX...]
    local preset=$1 target=$2 tests=ON
    shift 2
    section "build $preset"
    if [ "$preset" = fuzz ]; then tests=OFF; fi # said each time: run.sh may have left OFF in the release's cache
    if ! bounded 300 cmake --preset "$preset" -DSERIESGATE_TESTS=$tests >"$reports/configure-$preset.log" 2>&1; then
        tail -n 40 "$reports/configure-$preset.log"
        fail "configure $preset"
        return 1
    fi
    if ! bounded 2400 "$@" cmake --build "build/$preset" --target "$target" -j "$jobs"; then
        fail "build $preset"
        return 1
    fi
}

unit_tests() { # PRESET [PREFIX...]
    local preset=$1 status=0 log=$reports/ctest-$1.log
    shift
    section "unit tests, $preset"
    bounded 1800 "$@" ctest --preset "$preset" -j "$jobs" --no-tests=error --output-on-failure \
        --output-junit "$reports/ctest-$preset.xml" >"$log" 2>&1 || status=$?
    # Of hundreds of tests only what went wrong, and the sum.
    grep -vE '^ *Start +[0-9]+:|^ *[0-9]+/[0-9]+ Test .* Passed ' "$log" | cat -s | tail -n 300 || true
    count_report "$reports/ctest-$preset.xml" "unit tests, $preset" "$status"
    list_slowest "$reports/slowest-unit-$preset.txt" "$reports/ctest-$preset.xml"
}

end_to_end_tests() { # PRESET MARKERS AT_A_TIME [PREFIX...]
    local preset=$1 markers=$2 at_a_time=$3 status=0
    shift 3
    section "end-to-end tests, $preset"
    # Debian's own Python, for that is the one which has Debian's python3-pytest, -xdist, -snappy and -protobuf.
    SERIESGATE_BIN=$(gate_binary "$preset") bounded 1800 "$@" /usr/bin/python3 -m pytest tests/attacks tests/e2e -m "$markers" \
        -n "$at_a_time" --dist loadgroup -q -ra --timeout=300 --junitxml="$reports/pytest-$preset.xml" || status=$?
    count_report "$reports/pytest-$preset.xml" "end-to-end tests, $preset" "$status"
    list_slowest "$reports/slowest-e2e-$preset.txt" "$reports/pytest-$preset.xml"
}

check_style() {
    section "style"
    local files
    mapfile -t files < <(find src tests bench proto -name '*.cpp' -o -name '*.hpp' 2>/dev/null | sort)
    # Releases of clang-format disagree on details; the one of Debian 12 decides.
    if ! clang-format --version 2>/dev/null | grep -q 'version 14\.'; then
        echo "clang-format 14 is not here: formatting not checked"
        skipped=$((skipped + 1))
    elif bounded 120 clang-format --dry-run -Werror "${files[@]}" >"$reports/clang-format.log" 2>&1; then
        pass
    else
        head -n 20 "$reports/clang-format.log"
        fail "clang-format"
    fi
    if bounded 60 /usr/bin/python3 -B tests/boundaries/boundaries.py; then pass; else fail "boundaries of the modules"; fi
}

check_example_configuration() {
    section "example configuration"
    local file
    for file in config/seriesgate.yaml docker/seriesgate.yaml; do
        if bounded 10 "$(gate_binary release)" --config.file="$file" --check-config; then
            pass
        else
            fail "$file"
        fi
    done
}

# A change that makes the core path 5 % longer fails here, on a busy machine as on an idle one.
check_instructions() {
    section "instructions of the core path"
    if bounded 300 bench/instructions.sh; then pass; else fail "instructions of the core path"; fi
}

fuzz() {
    local status=0 log=$reports/fuzz.log count target
    build fuzz tests/fuzz/all || return 0
    section "fuzz targets, $fuzz_seconds s each"
    bounded 2400 scripts/fuzz.sh --seconds "$fuzz_seconds" >"$log" 2>&1 || status=$?
    grep -v '^\[' "$log" || true
    count=$(grep -c '^ok fuzz_' "$log" || true)
    passed=$((passed + count))
    while IFS= read -r target; do
        status=0
        fail "$target"
    done < <(sed -n 's/^FAILED \(fuzz_[^:]*\):.*/\1 (input kept in build\/fuzz-finds)/p' "$log")
    if [ "$status" != 0 ]; then fail "fuzz targets (exit $status)"; fi
}

debian13() {
    section "Debian 13: release preset, unit tests"
    local status=0 log=$reports/debian13.log
    bounded 2400 scripts/test-debian13.sh >"$log" 2>&1 || status=$?
    if [ "$status" = 77 ]; then
        untested+=("$(tail -n 1 "$log")")
        skipped=$((skipped + 1))
        echo "${untested[-1]}"
        return
    fi
    grep -vE '^\[[0-9]+/|^ *Start +[0-9]+:|^ *[0-9]+/[0-9]+ Test .* Passed ' "$log" | cat -s | tail -n 300 || true
    count_report build/debian13/build/ctest.xml "unit tests, Debian 13" "$status"
}

export ASAN_OPTIONS=halt_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$root/tests/tsan.supp
# Kernels that scatter addresses widely break the TSan runtimes of GCC 12 and clang 14 ("unexpected memory mapping").
fixed_addresses=()
if setarch "$(uname -m)" -R true 2>/dev/null; then fixed_addresses=(setarch "$(uname -m)" -R); fi

section "packages"
if ! bounded 1200 scripts/install-deps.sh --test; then
    fail "install-deps"
else
    check_style
    if build release all; then
        unit_tests release
        check_example_configuration
        check_instructions
        end_to_end_tests release "" $((3 * jobs)) # most of them wait most of the time
    fi
    if [ "$quick" = no ]; then
        if build asan all; then
            unit_tests asan
            end_to_end_tests asan "not slow and not text" $((2 * jobs))
        fi
        if build tsan all "${fixed_addresses[@]}"; then
            unit_tests tsan "${fixed_addresses[@]}"
            end_to_end_tests tsan "not slow and not text" $((2 * jobs)) "${fixed_addresses[@]}"
        fi
        fuzz
        debian13
    fi
fi
end_section

printf '\n=== result after %d:%02d\n' $((SECONDS / 60)) $((SECONDS % 60))
# In the order in which they ran; a mark at those that took a tenth of the time and more.
for part in "${sections[@]}"; do
    read -r took _ <<<"$part"
    if [ $((took * 10)) -ge "$SECONDS" ]; then part+=" <"; fi
    echo "$part"
done
for what in "${failures[@]}"; do echo "failed: $what"; done
for what in "${untested[@]}"; do echo "skipped: $what"; done
closing="$passed passed, $failed failed"
if [ "$skipped" -gt 0 ]; then closing+=", $skipped skipped"; fi
echo "$closing"
[ "$failed" = 0 ]
