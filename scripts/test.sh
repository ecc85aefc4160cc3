#!/usr/bin/env bash
# Runs the tests of seriesgate: scripts/test.sh [--quick | --all]
#
# Installs what is missing, builds the release, ASan+UBSan and TSan presets, and runs on them the unit tests, scenes and
# random histories of a gate by a clock of their own, the end-to-end tests with real processes, the fuzz targets for a short
# while, and the checks of style and example configuration.
# --quick: the release preset only.
# --all: what takes long and seldom breaks besides: scenes of a fleet and other end-to-end tests marked `extended`, on all three
# builds; upgrades from the last release, which it builds; the Helm chart rendered; builds without unity, static, and by clang;
# scenes of what GCC makes of the gate with ASan; unit tests on Debian 13; the package, the image, arm64; two builds compared;
# fuzzing and a soak for minutes. It takes hours.
# It may be stopped: the next run goes on with what has not passed on the same tree.
# The end says how long each part took; the last line is the count, `N passed, N failed`; exit 0 only if none failed. Logs,
# JUnit files and lists of the slowest tests are left in build/reports.
#
# From the environment:
#   SERIESGATE_HISTORIES      how many random histories (10000)
#   SERIESGATE_FUZZ_SECONDS   how long each fuzz target runs (10; with --all 300)
#   SERIESGATE_SOAK_MINUTES   how long the soak of --all runs (20)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

quick=no all=no
for argument in "$@"; do
    case $argument in
        --quick) quick=yes ;;
        --all) all=yes ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "usage: scripts/test.sh [--quick | --all]" >&2; exit 1 ;;
    esac
done

jobs=$(nproc)
fuzz_seconds=${SERIESGATE_FUZZ_SECONDS:-10}
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

# Runs a command with at most so many seconds: nothing here may hang.
bounded() { # SECONDS COMMAND...
    local limit=$1 status=0
    shift
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
        mapfile -t -O "${#failures[@]}" failures < <(/usr/bin/python3 scripts/junit.py failed "$file" | head -n 20 | sed 's/^/  /')
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
    /usr/bin/python3 scripts/junit.py slowest 10 "${files[@]}" >"$list" || fail "$list"
}

# Configures and builds a preset. PREFIX runs the build.
build() { # PRESET TARGET [PREFIX...]
    local preset=$1 target=$2 status=0
    shift 2
    section "build $preset"
    bounded 300 cmake --preset "$preset" -DSERIESGATE_TESTS=ON >"$reports/configure-$preset.log" 2>&1 || status=$?
    if [ "$status" != 0 ]; then
        tail -n 40 "$reports/configure-$preset.log"
    else
        bounded 2400 "$@" cmake --build "build/$preset" --target "$target" -j "$jobs" || status=$?
        if [ "$status" = 0 ]; then return; fi
    fi
    fail "build $preset"
    return 1
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

# Of real processes, which wait most of the time: so many run at a time.
end_to_end_tests() { # PRESET MARKERS AT_A_TIME [PREFIX...]
    local preset=$1 markers=$2 at_a_time=$3
    shift 3
    python_tests "end-to-end tests" "$preset" "$at_a_time" "tests/attacks tests/e2e tests/files" "$markers" "$@"
}

# Of gates in one process, by a clock that waits for nobody.
scenes() { # PRESET
    python_tests scenes "$1" "$jobs" tests/scenes "not extended"
}

python_tests() { # TITLE PRESET AT_A_TIME FOLDERS MARKERS [PREFIX...]
    local title=$1 preset=$2 at_a_time=$3 folders=$4 markers=$5 status=0 limit=2400
    local name=${title// /-}-$preset
    local report=$reports/$name.xml
    shift 5
    section "$title, $preset"
    if [ "$all" = yes ]; then limit=10800; fi
    # Debian's own Python, for that is the one which has Debian's python3-pytest, -xdist, -snappy and -protobuf.
    # shellcheck disable=SC2086 # folders are several words
    SERIESGATE_BIN=$(gate_binary "$preset") bounded "$limit" "$@" /usr/bin/python3 -m pytest $folders -m "$markers" \
        -n "$at_a_time" --dist loadgroup -q -ra --timeout=300 --junitxml="$report" || status=$?
    count_report "$report" "$title, $preset" "$status"
    list_slowest "$reports/slowest-$name.txt" "$report"
}

# Whole gates with senders and stores in one process, see tests/simulation.
random_histories() { # PRESET ARGUMENTS...: of histories.sh
    local preset=$1 log=$reports/histories-$1.log status=0
    shift
    section "random histories, $preset"
    bounded 3600 scripts/histories.sh --preset "$preset" "$@" >"$log" 2>&1 || status=$?
    tail -n 20 "$log"
    if [ "$status" = 0 ]; then pass; else fail "random histories, $preset (exit $status)"; fi
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
    for file in config/seriesgate.yaml docker/seriesgate.yaml debian/seriesgate.yaml; do
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
    local status=0 log=$reports/fuzz.log count target targets=(tests/fuzz/fuzz_*.cpp)
    build asan tests/fuzz/all || return 0
    section "fuzz targets, $fuzz_seconds s each"
    # As many at a time as there are cores.
    bounded $((600 + (fuzz_seconds + 30) * (${#targets[@]} + jobs) / jobs)) \
        scripts/fuzz.sh --seconds "$fuzz_seconds" >"$log" 2>&1 || status=$?
    grep -v '^\[' "$log" || true
    count=$(grep -c '^ok fuzz_' "$log" || true)
    passed=$((passed + count))
    while IFS= read -r target; do
        status=0
        fail "$target"
    done < <(sed -n 's/^FAILED \(fuzz_.*\)/\1/p' "$log")
    if [ "$status" != 0 ]; then fail "fuzz targets (exit $status)"; fi
}

# --- what --all has besides

# Which tree is tested: by its files, for an archive has no history, and git may not be installed yet.
tree_of_now() {
    find . \( -path ./build -o -path ./.git -o -name __pycache__ -o -name .pytest_cache \) -prune -o -type f -print0 |
        sort -z | xargs -0 sha1sum | sha1sum | cut -c1-16
}

# A part of --all, unless it has passed on this very tree.
part() { # NAME COMMAND...
    local mark=$root/build/all/$tree/$1 before=$failed skipped_before=$skipped
    if [ -e "$mark" ]; then
        already+=("$1: $(cat "$mark")")
        return
    fi
    local passed_before=$passed
    "${@:2}"
    if [ "$failed" = "$before" ] && [ "$skipped" = "$skipped_before" ]; then
        mkdir -p "${mark%/*}"
        echo "$((passed - passed_before)) passed on $(date -u +%FT%TZ)" >"$mark"
    fi
}

# Runs a script of ours, which counts as one test: 77 says that this machine cannot.
script() { # TITLE MINUTES COMMAND...
    local title=$1 limit=$((60 * $2)) status=0 log
    shift 2
    section "$title"
    log=$reports/$(tr -cs '[:alnum:]' '-' <<<"$title").log
    bounded "$limit" "$@" >"$log" 2>&1 || status=$?
    if [ "$status" = 77 ]; then
        untested+=("$(tail -n 1 "$log")")
        skipped=$((skipped + 1))
        echo "${untested[-1]}"
    elif [ "$status" = 0 ]; then
        passed=$((passed + 1))
    else
        tail -n 40 "$log"
        fail "$title (exit $status)"
    fi
}

debian13() {
    script "Debian 13: release preset, unit tests" 90 scripts/test-debian13.sh
}

packages() {
    script "Debian packages: built, linted, and lived through in fresh systems" 180 scripts/test-package.sh
}

other_builds() {
    script "the gate built file by file, as preset dev does" 120 sh -c "cmake --preset dev -DSERIESGATE_TESTS=ON && cmake --build build/dev -j $jobs"
    script "the gate built statically, and by clang" 90 scripts/test-builds.sh
    # GCC 12 has faults of its own in coroutines.
    # Some scenes ask the gate itself whether a configuration is good.
    if build asan-gcc seriesgate && build asan-gcc simulated_gate; then scenes asan-gcc; fi
}

extended() { # PRESET [PREFIX...]
    local preset=$1 markers=extended
    shift
    if [ "$preset" != release ]; then markers="extended and not slow and not text"; fi
    if [ "$preset" = tsan ]; then markers+=" and not one_thread"; fi
    build "$preset" seriesgate "$@" || return 0
    end_to_end_tests "$preset" "$markers" $((2 * jobs)) "$@"
}

what_takes_long() {
    fuzz_seconds=${SERIESGATE_FUZZ_SECONDS:-300}
    # The senders of today, see tests/e2e/test_remedies.py, and what tests/files/test_helm.py needs.
    bounded 600 scripts/fetch-servers.sh newest || fail "fetch-servers newest"
    bounded 1200 scripts/install-deps.sh --helm || fail "install-deps --helm"
    # What tests/e2e/test_upgrades.py comes from. Without the history (77) it says that it is skipped.
    bounded 2400 scripts/last-release.sh >"$reports/last-release.log" 2>&1 || [ $? = 77 ] || fail "last-release"
    part extended-release extended release
    part extended-asan extended asan
    part extended-tsan extended tsan "${fixed_addresses[@]}"
    part other-builds other_builds
    part debian13 debian13
    part packages packages
    part image script "the image: built and run without an engine" 90 scripts/test-image.sh
    part arm64 script "arm64: cross-compiled, unit tests of the core by emulation" 180 scripts/cross-arm64.sh
    part release script "a release of this commit, and each of its artefacts tried" 120 sh -euc '
        scripts/release.sh --snapshot
        scripts/test-release.sh build/release-artifacts/seriesgate_*.deb build/release-artifacts/seriesgate-*-linux-*.tar.gz \
            build/release-artifacts/seriesgate-*-image.tar'
    part reproducible script "two builds compared" 60 scripts/test-reproducible.sh
    part histories random_histories release --seconds 600
    part mutants script "30 faults in the source, and which of them the unit tests notice" 120 \
        tests/mutants/mutants.py all --sample 30 --seed "$(date +%j)" --folder build/mutants-sample
    part store-mutants script "faults in the scripts of the shared store, each of which its tests notice" 30 \
        build/release/fleet_tests "[mutants]"
    part fuzz fuzz
    part soak script "soak" $((${SERIESGATE_SOAK_MINUTES:-20} + 10)) scripts/soak.sh --minutes "${SERIESGATE_SOAK_MINUTES:-20}"
}

# What was freed is kept from use for its last 16 MB only, not 256: each page of that is one that the kernel has to make.
export ASAN_OPTIONS=halt_on_error=1:detect_stack_use_after_return=1:strict_string_checks=1:quarantine_size_mb=16
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:suppressions=$root/tests/tsan.supp
# Kernels that scatter addresses widely break the TSan runtimes of GCC 12 and clang 14 ("unexpected memory mapping").
fixed_addresses=()
if setarch "$(uname -m)" -R true 2>/dev/null; then fixed_addresses=(setarch "$(uname -m)" -R); fi

what_every_change_runs() {
    check_style
    if build release all; then
        unit_tests release
        check_example_configuration
        check_instructions
        random_histories release --count "${SERIESGATE_HISTORIES:-10000}"
        scenes release
        end_to_end_tests release "not extended" $((3 * jobs)) # most of them wait most of the time
    fi
    if [ "$quick" = yes ]; then return; fi
    if build asan all; then
        unit_tests asan
        random_histories asan --count 500
        scenes asan
        end_to_end_tests asan "not extended and not slow and not text" $((5 * jobs / 2))
    fi
    # The simulation has one thread, in which ThreadSanitizer could find nothing: here are the real ones.
    if build tsan all "${fixed_addresses[@]}"; then
        unit_tests tsan "${fixed_addresses[@]}"
        end_to_end_tests tsan "not extended and not slow and not text and not one_thread" $((5 * jobs / 2)) "${fixed_addresses[@]}"
    fi
    fuzz
}

tree=$(tree_of_now) already=()
section "packages"
if ! bounded 1200 scripts/install-deps.sh --test; then
    fail "install-deps"
elif [ "$all" = yes ]; then
    part every-change what_every_change_runs
    what_takes_long
else
    what_every_change_runs
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
for what in "${already[@]}"; do echo "passed before on the same tree, not run again: $what"; done
closing="$passed passed, $failed failed"
if [ "$skipped" -gt 0 ]; then closing+=", $skipped skipped"; fi
echo "$closing"
[ "$failed" = 0 ]
