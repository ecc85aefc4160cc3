#!/usr/bin/env bash
# Builds the gate in the other ways that are promised, and tries what comes out: scripts/test-builds.sh [static | clang]...
#
#   static   the binary of scripts/tarball.sh: it serves, speaks TLS and resolves names; and it names the culprit within a minute of
#            being unpacked in a Debian 12 and a Debian 13 that debootstrap has just made
#   clang    by clang, without a warning; serves
#
# Both, unless told which. Each takes as long as a release build, or a minute when ccache knows it. Exit status: 0 or 1.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

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

# With the traffic of docs/limits.md, from out here.
name_the_culprit() { # SUITE
    local suite=$1 number shared port=19201 began inside
    case $suite in bookworm) number=12 ;; trixie) number=13 ;; esac
    shared=build/debian$number/build # /src/build in there
    mkdir -p "$shared"
    rm -f "$shared"/seriesgate-*-linux-*.tar.gz "$shared"/{unpacking,end}
    cp build/packages/seriesgate-*-linux-*.tar.gz "$shared/"
    # shellcheck disable=SC2016 # for the shell in there
    scripts/debian-root.sh --fresh "$suite" sh -euc '
        touch /src/build/unpacking
        cd /tmp
        tar -xzf /src/build/seriesgate-*-linux-*.tar.gz
        cd seriesgate-*
        printf "%s\n" "upstream: {url: \"discard:\"}" "maxHourlySeries: 15000" >first.yaml
        ./seriesgate --config.file=first.yaml --listen="127.0.0.1:$1" &
        until [ -e /src/build/end ]; do sleep 0.1; done
        kill $!
        wait' sh "$port" >"build/static-$suite.log" 2>&1 &
    inside=$!
    until [ -e "$shared/unpacking" ]; do
        if ! kill -0 "$inside" 2>/dev/null; then
            tail -n 5 "build/static-$suite.log"
            wait "$inside"
        fi
        sleep 0.1
    done
    began=$SECONDS
    wait_ready "http://127.0.0.1:$port/-/ready" "$inside" 20
    scripts/example-traffic.py "http://127.0.0.1:$port" >/dev/null
    scripts/example-traffic.py "http://127.0.0.1:$port" --explode 20000 >/dev/null
    until curl -fsS "http://127.0.0.1:$port/api/v1/findings" | grep -q '"label":"trace_id"'; do
        if [ $((SECONDS - began)) -ge 60 ]; then echo "test-builds: no culprit on $suite" >&2; return 1; fi
        sleep 0.5
    done
    echo "test-builds: on a new $suite the culprit is named after $((SECONDS - began)) s"
    touch "$shared/end"
    wait "$inside"
}

for way in "${ways[@]}"; do
    echo "test-builds: $way"
    case $way in
        static)
            scripts/tarball.sh
            for suite in bookworm trixie; do name_the_culprit "$suite"; done
            try static tests/e2e/test_tls.py tests/e2e/test_tls_servers.py tests/e2e/test_life_cycle.py
            ;;
        clang)
            build clang -DCMAKE_CXX_COMPILER=clang++
            try clang tests/e2e/test_concurrency.py tests/e2e/test_life_cycle.py
            ;;
    esac
done
