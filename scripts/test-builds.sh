#!/usr/bin/env bash
# Builds the gate in the other ways that are promised, and tries what comes out: scripts/test-builds.sh [static | clang]...
#
#   static   the binary of scripts/tarball.sh: it serves, speaks TLS and resolves names; and its archive is tried (test-release.sh)
#   clang    by clang, without a warning; serves
#
# Both, unless told which. Each takes as long as a release build, or a minute when ccache knows it. Exit status: 0 or 1.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

ways=()
for argument in "$@"; do
    case $argument in
        static | clang) ways+=("$argument") ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "usage: scripts/test-builds.sh [static | clang]..." >&2; exit 1 ;;
    esac
done
if [ ${#ways[@]} = 0 ]; then ways=(static clang); fi

build() { # WAY OPTION...: into build/WAY
    local way=$1 log=$root/build/$1.log
    shift
    mkdir -p build
    if ! { cmake --preset release -B "build/$way" -DSERIESGATE_TESTS=OFF -DCMAKE_COMPILE_WARNING_AS_ERROR=ON "$@" &&
        cmake --build "build/$way" --target seriesgate -j "$(nproc)"; } >"$log" 2>&1 </dev/null; then
        tail -n 40 "$log" >&2
        return 1
    fi
}

try() { # WAY TEST...
    SERIESGATE_BIN=$root/build/$1/seriesgate /usr/bin/python3 -m pytest -q --timeout=120 -n "$(nproc)" --dist loadgroup "${@:2}"
}

for way in "${ways[@]}"; do
    echo "test-builds: $way"
    case $way in
        static)
            scripts/tarball.sh
            scripts/test-release.sh build/packages/seriesgate-*-linux-"$(dpkg --print-architecture)".tar.gz
            try "static-$(dpkg --print-architecture)" tests/e2e/test_tls.py tests/e2e/test_tls_servers.py tests/e2e/test_life_cycle.py
            ;;
        clang)
            build clang -DCMAKE_CXX_COMPILER=clang++
            try clang tests/e2e/test_concurrency.py tests/e2e/test_life_cycle.py
            ;;
    esac
done
