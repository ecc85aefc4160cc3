# Images without an engine and without a registry: buildah with a store of its own under build/image, and a Debian 12 for it that
# debootstrap has made. Sourced by scripts that have set `root`, before they do anything: they are run again in namespaces of
# their own, so that everything that is mounted or started goes with them, however they end. A machine that cannot: status 77.
# shellcheck shell=bash disable=SC2154,SC2034
home=$root/build/image
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"
export PATH=$PATH:/usr/sbin:/sbin

cannot() { # WHY
    echo "$(basename "$0" .sh): NOT DONE: $1"
    exit 77
}

[ "$(id -u)" = 0 ] || cannot "this needs root, for chroot"
command -v buildah >/dev/null || cannot "no buildah; scripts/install-deps.sh --test installs it"
if [ "${SERIESGATE_OWN_MOUNTS-}" != yes ]; then
    own=(env SERIESGATE_OWN_MOUNTS=yes unshare --mount --propagation private --pid --fork --kill-child --mount-proc)
    if ! why=$("${own[@]}" true 2>&1); then cannot "no namespaces: $why"; fi
    exec "${own[@]}" -- "$0" "$@"
fi

mkdir -p "$home/temporary"
export TMPDIR=$home/temporary # where buildah keeps what it caches
base=docker.io/library/debian:bookworm-slim
builder=$home/buildah
printf '#!/bin/sh\nexec buildah --root %q --runroot %q "$@"\n' "$home/storage" "$home/run" >"$builder"
chmod +x "$builder"

# The image that others pull is made of what debootstrap leaves: it has no other files that matter here, but more of them.
make_base() {
    local log=$home/base.log tarball container
    if "$builder" inspect --type image "$base" >/dev/null 2>&1; then return; fi
    tarball=$(cache_folder)/bookworm-$(dpkg --print-architecture)-base.tar.zst
    if ! [ -e "$tarball" ]; then env -u SERIESGATE_OWN_MOUNTS "$root/scripts/debian-root.sh" --fresh bookworm true >"$log" 2>&1 || true; fi
    if ! [ -e "$tarball" ]; then cannot "no Debian 12, see ${log#"$root"/}: $(tail -n 1 "$log")"; fi
    zstd -q -d -f -o "$home/base.tar" "$tarball"
    container=$("$builder" from scratch)
    "$builder" add --quiet "$container" "$home/base.tar" / >/dev/null
    "$builder" commit --quiet --rm "$container" "$base" >/dev/null
    rm -f "$home/base.tar"
}

build_image() { # TAG ARGUMENTS OF image.sh...
    make_base
    "$root/scripts/image.sh" --engine "$builder" --tag "$@" --isolation chroot --pull-never --layers
}
