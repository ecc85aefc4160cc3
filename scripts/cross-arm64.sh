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

tools=(g++-aarch64-linux-gnu cmake ninja-build pkg-config ccache protobuf-compiler python3 qemu-user-static)
headers=(libcli11-dev catch2)
libraries=(libfmt-dev libyaml-cpp-dev libxxhash-dev libsnappy-dev libzstd-dev libre2-dev libssl-dev libcrypt-dev libhiredis-dev
    libboost1.81-dev libboost-json1.81-dev libboost-system1.81-dev libboost-url1.81-dev libprotobuf-dev)
packages=("${tools[@]}" "${headers[@]}" "${libraries[@]/%/:arm64}")

inside true # the first run makes the root, and 77 says that it cannot
if ! inside dpkg-query -W "${packages[@]}" >/dev/null 2>&1; then
    inside dpkg --add-architecture arm64
    if ! why=$(inside apt-get update -qq -o APT::Update::Error-Mode=any 2>&1); then
        echo "cross-arm64: NOT DONE: no packages: $why"
        exit 77
    fi
    if ! inside env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}" \
        >"$home/install.log" 2>&1; then
        tail -n 25 "$home/install.log"
        exit 1
    fi
    "$root/scripts/debian-root.sh" --save bookworm-cross
fi

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
