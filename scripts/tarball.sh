#!/usr/bin/env bash
# Packs a binary that needs nothing but the C library: scripts/tarball.sh
#
# Into build/packages: seriesgate-VERSION-linux-ARCHITECTURE.tar.gz, a folder of that name with the binary, a configuration with
# every key, documents, alerts, man pages, completions and licences; and beside it what the binary is made of, as .spdx.json.
# The last line says the oldest C library that will do: that of this system, or less. Installs what is missing, as
# scripts/package.sh does.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac

scripts/install-deps.sh
export_source_facts
name=seriesgate-$SERIESGATE_VERSION-linux-$(dpkg --print-architecture)
log=$root/build/static.log
mkdir -p build/packages
rm -f build/packages/seriesgate-*-linux-*
echo "tarball: building $name"
if ! { cmake --preset release -B build/static -DSERIESGATE_TESTS=OFF -DSERIESGATE_STATIC=ON \
    -DSERIESGATE_VERSION="$SERIESGATE_VERSION" -DSERIESGATE_REVISION="${SERIESGATE_REVISION-}" && cmake --build build/static --target seriesgate -j "$(nproc)"; } >"$log" 2>&1 </dev/null; then
    tail -n 40 "$log" >&2
    exit 1
fi
binary=build/static/seriesgate
libraries=$(readelf -dW "$binary" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
if grep -vE '^(libc|libm|ld-linux[-a-z0-9_]*)\.so\.[0-9]+$' <<<"$libraries" >&2; then
    echo "tarball: the binary needs more than the C library" >&2
    exit 1
fi

work=$(mktemp -d build/tarball.XXXXXX)
trap 'rm -rf "$work"' EXIT
mkdir "$work/$name"
strip --strip-unneeded -o "$work/$name/seriesgate" "$binary"
python3 -B packaging/generate.py "$work/$name/seriesgate" "$work/$name"
python3 -B packaging/notices.py --static "$binary" >"$work/$name/third-party-notices.txt"
cp -r LICENSE README.md CHANGELOG.md config/seriesgate.yaml docs monitoring "$work/$name/"
scripts/sbom.py "$work/$name/seriesgate" --version "$SERIESGATE_VERSION" --build build/static >"build/packages/$name.spdx.json"
chmod -R u=rwX,go=rX "$work/$name"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" -cf - "$name" |
    gzip -n -9 >"build/packages/$name.tar.gz"
needed=$(objdump -T "$binary" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
echo "tarball: build/packages/$name.tar.gz needs glibc ${needed#GLIBC_} or later"
