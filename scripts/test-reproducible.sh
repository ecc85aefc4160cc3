#!/usr/bin/env bash
# Compares the release binary with one that is built elsewhere: scripts/test-reproducible.sh
#
# Builds build/release/seriesgate, and the same source again: in another folder, from a source archive without git, under another
# user's name, locale, time zone and umask, and by the compiler itself, not by ccache. Both must be the same bytes.
# What is compared is kept under build/reproducible when they differ. Takes five to ten minutes of two cores.
#
# Exit status: 0 or 1.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac

build_release >"$root/build/reproducible.log" || { tail -n 40 "$root/build/reproducible.log" >&2; exit 1; }
first=$(gate_binary release)
other=$root/build/reproducible
rm -rf "$other"
mkdir -p "$other/a folder"
# What is compiled is what is in the working tree, committed or not, with the version that this tree has.
tar -cf - --exclude=./build --exclude=./.git . | tar -xf - -C "$other/a folder"
"$first" --version | cut -d' ' -f2 >"$other/version"
revision=$(sed -n '/revision()/,/}/s/.*return "\(.*\)";/\1/p' "$root/build/release/config/version.cpp")
echo "$(cat "$other/version") $revision" >"$other/a folder/VERSION"

start=$SECONDS
if ! (
    umask 077
    cd "$other/a folder"
    env -i PATH="$PATH" HOME=/nonexistent USER=somebody LOGNAME=somebody LC_ALL=C TZ=Pacific/Kiritimati TMPDIR=/var/tmp \
        SOURCE_DATE_EPOCH=1 CCACHE_DISABLE=1 \
        sh -c 'cmake --preset release -B ../tree -DSERIESGATE_TESTS=OFF && cmake --build ../tree --target seriesgate -j 2'
) >"$other/build.log" 2>&1; then
    tail -n 40 "$other/build.log" >&2
    exit 1
fi
second=$other/tree/seriesgate
echo "test-reproducible: built again in $((SECONDS - start)) s"
sha256sum "$first" "$second"
if ! cmp "$first" "$second"; then
    echo "test-reproducible: they differ, see build/reproducible; sections that do:" >&2
    for section in $(readelf -SW "$first" | sed -n 's/^ *\[ *[0-9]*\] \(\.[^ ]*\).*/\1/p'); do
        cmp -s <(readelf -x "$section" "$first") <(readelf -x "$section" "$second") ||
            echo "  $section" >&2
    done
    exit 1
fi
rm -rf "$other"
