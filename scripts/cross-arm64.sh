#!/usr/bin/env bash
# Compiles the gate for arm64 on another machine, and runs unit tests of its core by emulation: scripts/cross-arm64.sh [MODULE...]
#
# All of it happens in a Debian 12 of its own (see debian-root.sh) with Debian's cross compiler, the arm64 packages of the
# libraries and qemu. MODULE names the tests that run, instead of core, series, wire and filter; "none" runs none (limit takes half an hour).
# The binary is build/debian12-cross/build/arm64/seriesgate. The first run installs 1.5 GB.
#
# Exit status: 0, 1, or 77 where this machine cannot do it, and the last line says why.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/build/debian12-cross

case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
modules=("$@")
if [ ${#modules[@]} = 0 ]; then modules=(core series wire filter); fi
if [ "${modules[*]}" = none ]; then modules=(); fi

inside() { # COMMAND...
    "$root/scripts/debian-root.sh" bookworm-cross "$@"
}

inside true # the first run makes the root, and 77 says that it cannot
inside scripts/install-deps.sh --arch arm64 --package
for_tests=(catch2 protobuf-compiler libprotobuf-dev:arm64)
if ! inside dpkg-query -W "${for_tests[@]}" >/dev/null 2>&1; then
    inside env DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "${for_tests[@]}" >/dev/null
fi
"$root/scripts/debian-root.sh" --save bookworm-cross

if ! inside cmake --preset release -B build/arm64 -DCMAKE_TOOLCHAIN_FILE=cmake/toolchain-aarch64.cmake \
    -DSERIESGATE_TESTS=ON -DSERIESGATE_BENCHES=OFF >"$home/configure.log" 2>&1; then
    tail -n 40 "$home/configure.log"
    exit 1
fi
inside cmake --build build/arm64 -j "$(nproc)" --target seriesgate "${modules[@]/%/_tests}"
inside qemu-aarch64-static build/arm64/seriesgate --version
inside qemu-aarch64-static build/arm64/seriesgate --config.file=config/seriesgate.yaml --check-config
for module in "${modules[@]}"; do
    echo "cross-arm64: tests of $module"
    inside qemu-aarch64-static "build/arm64/${module}_tests"
done
