#!/usr/bin/env bash
# Packs a binary that needs nothing but the C library: scripts/tarball.sh [--arch ARCH]
#
# Into build/packages: seriesgate-VERSION-linux-ARCHITECTURE.tar.gz, a folder of that name with the binary, a configuration with
# every key, documents, alerts, man pages, completions and licences; and beside it what the binary is made of, as .spdx.json.
# The last line says the oldest C library that will do: that of this system, or less. Installs what is missing, as
# scripts/package.sh does. ARCH is this machine's, or arm64, which is compiled here.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
native=$(dpkg --print-architecture)
case ${1-} in
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    --arch) architecture=${2?--arch needs an architecture} ;;
    '') architecture=$native ;;
    *) echo "usage: scripts/tarball.sh [--arch ARCH]" >&2; exit 1 ;;
esac

scripts/install-deps.sh --arch "$architecture"
options=() tools=''
if [ "$architecture" != "$native" ]; then
    options=(-DCMAKE_TOOLCHAIN_FILE=cmake/toolchain-aarch64.cmake)
    tools=aarch64-linux-gnu- # what knows its binaries
    export SERIESGATE_EMULATOR=qemu-aarch64-static
fi
export_source_facts
name=seriesgate-$SERIESGATE_VERSION-linux-$architecture
build=build/static-$architecture
log=$root/$build.log
mkdir -p build/packages
rm -f build/packages/seriesgate-*-linux-"$architecture".*
echo "tarball: building $name"
if ! { cmake --preset release -B "$build" "${options[@]}" -DSERIESGATE_TESTS=OFF -DSERIESGATE_STATIC=ON \
    -DSERIESGATE_VERSION="$SERIESGATE_VERSION" -DSERIESGATE_REVISION="${SERIESGATE_REVISION-}" &&
    cmake --build "$build" --target seriesgate -j "$(nproc)"; } >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    exit 1
fi
binary=$build/seriesgate
libraries=$(readelf -dW "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if grep -vE '^(libc|libm|ld-linux[-a-z0-9_]*)\.so\.[0-9]+$' <<<"$libraries" >&2; then
    echo "tarball: the binary needs more than the C library" >&2
    exit 1
fi

work=$(mktemp -d build/tarball.XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
"${tools}strip" --strip-unneeded -o "$work/$name/seriesgate" "$binary"
python3 -B packaging/generate.py "$work/$name/seriesgate" "$work/$name"
python3 -B packaging/notices.py --static "$binary" >"$work/$name/third-party-notices.txt"
cp -r LICENSE README.md CHANGELOG.md config/seriesgate.yaml docs monitoring "$work/$name/"
scripts/sbom.py "$work/$name/seriesgate" --version "$SERIESGATE_VERSION" --build "$build" >"build/packages/$name.spdx.json"
chmod -R u=rwX,go=rX "$work/$name"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -cf - "$name" |
    gzip -n -9 >"build/packages/$name.tar.gz"
needed=$("${tools}objdump" -T "$binary" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
echo "tarball: build/packages/$name.tar.gz needs glibc ${needed#GLIBC_} or later"
