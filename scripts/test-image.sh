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
home=$root/build/image
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"
export PATH=$PATH:/usr/sbin:/sbin

cannot() { # WHY
    echo "test-image: NOT TESTED: $1"
    exit 77
}

case ${1-} in
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
esac
[ "$(id -u)" = 0 ] || cannot "this needs root, for chroot"
command -v buildah >/dev/null || cannot "no buildah"
if [ "${SERIESGATE_OWN_MOUNTS-}" != yes ]; then
    # Everything that is mounted or started goes with the namespaces, however this ends.
    own=(env SERIESGATE_OWN_MOUNTS=yes unshare --mount --propagation private --pid --fork --kill-child --mount-proc)
    if ! why=$("${own[@]}" true 2>&1); then cannot "no namespaces: $why"; fi
    exec "${own[@]}" -- "${BASH_SOURCE[0]}" "$@"
fi

mkdir -p "$home/temporary"
export TMPDIR=$home/temporary # where buildah keeps what it caches
base=docker.io/library/debian:bookworm-slim
image=localhost/seriesgate:test
builder=$home/buildah # with a store of images of its own
printf '#!/bin/sh\nexec buildah --root %q --runroot %q "$@"\n' "$home/storage" "$home/run" >"$builder"
chmod +x "$builder"

# The image that others pull is made of what debootstrap leaves: it has no other files that matter here, but more of them.
make_base() {
    local log=$home/base.log tarball container
    tarball=$(cache_folder)/bookworm-$(dpkg --print-architecture)-base.tar.zst
    if ! [ -e "$tarball" ]; then "$root/scripts/debian-root.sh" --fresh bookworm true >"$log" 2>&1 || true; fi
    if ! [ -e "$tarball" ]; then cannot "no Debian 12, see ${log#"$root"/}: $(tail -n 1 "$log")"; fi
    zstd -q -d -f -o "$home/base.tar" "$tarball"
    container=$("$builder" from scratch)
    "$builder" add --quiet "$container" "$home/base.tar" / >/dev/null
    "$builder" commit --quiet --rm "$container" "$base" >/dev/null
    rm -f "$home/base.tar"
}

# A package that package.sh or test-package.sh has made of this commit, or at least after it.
ready_package() {
    find build/packages build/debian12/build/packages -name 'seriesgate_*~deb12u1_*.deb' \
        -newermt "@$(git log -1 --format=%ct)" -printf '%T@ %p\n' 2>/dev/null | sort -n | sed -n '$s/[^ ]* //p'
}

build_image() {
    local arguments=() package
    package=$(ready_package)
    if [ -n "$package" ]; then arguments+=(--package "$package"); fi
    if ! "$builder" inspect --type image "$base" >/dev/null 2>&1; then make_base; fi
    "$root/scripts/image.sh" --engine "$builder" --tag "$image" "${arguments[@]}" --isolation chroot --pull-never --layers
}

cd "$root"
log=$home/build.log
if [ "${1-}" != --built ] && ! build_image >"$log" 2>&1; then
    tail -n 25 "$log"
    echo "test-image: the image could not be built, see ${log#"$root"/}" >&2
    exit 1
fi

container=$("$builder" from --pull-never "$image")
trap '"$builder" rm "$container" >/dev/null' EXIT
mounted=$("$builder" mount "$container")
"$builder" inspect --type image "$image" >"$home/image.json"
size=$(du --summarize --apparent-size --block-size=1000000 "$mounted" | cut -f 1)
PYTHONPATH=tests/image SERIESGATE_BIN=$mounted/usr/bin/seriesgate SERIESGATE_IMAGE_ROOT=$mounted \
    SERIESGATE_IMAGE_SAID=$home/image.json unshare --net -- \
    /usr/bin/python3 -c 'import loopback, sys, pytest; loopback.bring_up(); sys.exit(pytest.main(sys.argv[1:]))' \
    tests/image -q --timeout=100 --junitxml="$home/pytest.xml"
echo "test-image: the image has $size MB"
