#!/usr/bin/env bash
# Builds the gate of the last release, for tests/e2e/test_upgrades.py: scripts/last-release.sh [--source]
#
# tests/e2e/last_release names its commit. The source comes from this repository's history into build/last-release/source, the
# binary is build/last-release/seriesgate. What is there already stays. --source: no binary. Exit status 77: the history is not
# here (a source archive, a shallow clone).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

binary=yes
case ${1-} in
    '') ;;
    --source) binary=no ;;
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) echo "usage: scripts/last-release.sh [--source]" >&2; exit 1 ;;
esac

commit=$(grep -v '^#' tests/e2e/last_release)
made=$root/build/last-release
if [ "$(cat "$made/commit" 2>/dev/null)" != "$commit" ]; then
    if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
        echo "last-release: the history of this source has no $commit"
        exit 77
    fi
    rm -rf "$made"
    mkdir -p "$made/source"
    # With a file VERSION: it is in a folder of a repository at another commit.
    version=$(git show "$commit:CMakeLists.txt" | sed -n 's/^project(.* VERSION \([^ ]*\) .*/\1/p')~$(git rev-list --count "$commit").g${commit:0:12}
    version=$(git describe --tags --exact-match --match 'v[0-9]*' "$commit" 2>/dev/null || echo "v$version")
    git archive --add-virtual-file="VERSION:${version#v} $commit" "$commit" | tar -x -C "$made/source"
    echo "$commit" >"$made/commit"
fi
if [ "$binary" = yes ] && [ ! -x "$made/seriesgate" ]; then
    (cd "$made/source" && cmake --preset release -B ../build -DSERIESGATE_TESTS=OFF -DSERIESGATE_BENCHES=OFF &&
        cmake --build ../build --target seriesgate -j "$(nproc)") </dev/null
    cp "$made/build/seriesgate" "$made/seriesgate"
fi
echo "last-release: $commit in build/last-release"
