#!/usr/bin/env bash
# Builds the release preset and runs the unit tests on Debian 13, in a root of its own: scripts/test-debian13.sh
#
# The root is build/debian13/root, see debian-root.sh, which also says what is kept for other clones. With arguments they are
# run in there instead: scripts/test-debian13.sh COMMAND...
#
# Exit status: 0, 1, or that of the command; 77 where this machine cannot do it, and the last line says why.
# The result of the tests is in build/debian13/build/ctest.xml.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/build/debian13

case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac

inside() { # COMMAND...
    "$root/scripts/debian-root.sh" trixie "$@"
}

if [ $# -gt 0 ]; then
    inside "$@"
    exit
fi
rm -f "$home/build/ctest.xml"
inside true # the first run makes the root, and 77 says that it cannot
if [ ! -e "$home/root/.reached" ]; then # it also needs a network, and having none is no fault of ours
    if ! why=$(inside apt-get update -qq -o APT::Update::Error-Mode=any 2>&1); then
        echo "test-debian13: NOT TESTED on Debian 13: no packages: $why"
        exit 77
    fi
    touch "$home/root/.reached"
fi
inside scripts/install-deps.sh --unit-tests
"$root/scripts/debian-root.sh" --save trixie
if ! inside cmake --preset release -DSERIESGATE_TESTS=ON >"$home/configure.log" 2>&1; then
    tail -n 40 "$home/configure.log"
    exit 1
fi
inside cmake --build build/release --target all -j "$(nproc)"
inside ctest --preset release -j "$(nproc)" --no-tests=error --output-on-failure --output-junit /src/build/ctest.xml
