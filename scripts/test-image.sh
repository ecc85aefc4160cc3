#!/usr/bin/env bash
# Builds the image and tries it: scripts/test-image.sh
#
# Without an engine: buildah builds it, on a Debian 12 that debootstrap has made, and keeps all under build/image. The image runs
# in namespaces of its own: as its user, with a root file system that nobody can write to, on a loopback network
# (tests/image). The last line says how large it is. With `--built` it is not built, only tried again.
#
# Exit status: 0, 1, or 77 where this machine cannot do it, and the last line says why.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ${1-} in
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
# shellcheck source=scripts/own-buildah.sh
. "$root/scripts/own-buildah.sh"
image=localhost/seriesgate:test

# A package that package.sh or test-package.sh has made of this commit, or at least after it.
ready_package() {
    { find build/packages build/debian12/build/packages -name 'seriesgate_*~deb12u1_*.deb' \
        -newermt "@$(git log -1 --format=%ct)" -printf '%T@ %p\n' 2>/dev/null || true; } | # a folder may not be there
        sort -n | sed -n '$s/[^ ]* //p'
}

cd "$root"
package=$(ready_package)
log=$home/build.log
if [ "${1-}" != --built ] && ! build_image "$image" ${package:+--package "$package"} >"$log" 2>&1; then
    tail -n 25 "$log"
    echo "test-image: the image could not be built, see ${log#"$root"/}" >&2
    exit 1
fi

container=$("$builder" from --pull-never "$image")
trap '"$builder" rm "$container" >/dev/null' EXIT
mounted=$("$builder" mount "$container")
"$builder" inspect --type image "$image" >"$home/image.json"
size=$(du --summarize --apparent-size --block-size=1000000 "$mounted" | cut -f 1)
SERIESGATE_BIN=$mounted/usr/bin/seriesgate SERIESGATE_IMAGE_ROOT=$mounted \
    SERIESGATE_IMAGE_SAID=$home/image.json unshare --net -- \
    /usr/bin/python3 -m pytest tests/image -q --timeout=100 --junitxml="$home/pytest.xml"
echo "test-image: the image has $size MB"
