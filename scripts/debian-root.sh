#!/usr/bin/env bash
# Runs a command in a Debian of its own: scripts/debian-root.sh [--fresh] SUITE COMMAND...
#
# SUITE is bookworm (12) or trixie (13), or bookworm-cross or trixie-cross, others for what compiles for arm64. The working tree is
# mounted at /src, read-only but for /src/build, which is build/debian12/build or build/debian13/build here. The system is
# build/debian13/root, and what is installed in it stays for the next command; `rm -rf build/debian13` begins anew. With --fresh it
# is one as debootstrap has made it, and gone afterwards. Mounts and processes end with the command in any case.
#
#   scripts/debian-root.sh --save SUITE    keeps what is installed in build/debian13/root for the first run in other clones
#
# In ${XDG_CACHE_HOME:-~/.cache}/seriesgate are kept: the systems as debootstrap has made them and as --save has found them,
# for a week, and a ccache for each suite that is not this machine's own. All of it may be removed at any time.
#
# Exit status: that of the command, or 77 where this machine cannot do it, and the last line says why.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

given=("$@")
fresh=no save=no
case ${1-} in
    -h | --help) usage; exit 0 ;;
    --fresh) fresh=yes; shift ;;
    --save) save=yes; shift ;;
esac
suite=${1-}
name=$suite # of what is kept
case $suite in
    bookworm) number=12 ;;
    bookworm-cross) number=12-cross suite=bookworm ;;
    trixie-cross) number=13-cross suite=trixie ;;
    trixie) number=13 ;;
    *) usage >&2; exit 1 ;;
esac
shift
if [ "$save" = no ] && [ $# = 0 ]; then usage >&2; exit 1; fi

home=$root/build/debian$number
system=$home/root
export PATH=$PATH:/usr/sbin:/sbin # debootstrap and chroot, also where these are not in a user's
architecture=$(dpkg --print-architecture 2>/dev/null || uname -m)

cannot() { # WHY
    echo "debian-root: NOT DONE on Debian $number: $1"
    exit 77
}

[ "$(id -u)" = 0 ] || cannot "this needs root, for chroot"
command -v debootstrap >/dev/null || cannot "no debootstrap; scripts/install-deps.sh --test installs it"
if [ "${SERIESGATE_OWN_MOUNTS-}" != yes ]; then
    export_source_facts # there is no git in there
    # Everything that is mounted or started goes with the namespaces, however this ends.
    own=(env SERIESGATE_OWN_MOUNTS=yes unshare --mount --propagation private --pid --fork --kill-child)
    if ! why=$("${own[@]}" true 2>&1); then cannot "no mounts: $why"; fi
    if [ "$fresh" = no ]; then exec "${own[@]}" -- "${BASH_SOURCE[0]}" "${given[@]}"; fi
    mkdir -p "$home"
    find "$home" -maxdepth 1 -name 'fresh.*' -mmin +1440 -exec rm -rf {} + # of runs that were killed
    own+=(env SERIESGATE_FRESH_SYSTEM="$(mktemp -d "$home/fresh.XXXXXX")")
    trap 'rm -rf "${own[-1]#*=}"' EXIT # out here nothing is mounted in it
    trap 'exit 130' INT TERM HUP
    status=0
    "${own[@]}" "${BASH_SOURCE[0]}" "${given[@]}" || status=$?
    exit "$status"
fi
cache=$(cache_folder)
base=$cache/$suite-$architecture-base.tar.zst        # as debootstrap leaves it
prepared=$cache/$name-$architecture-prepared.tar.zst # with packages, see --save

# Packs the system for other clones, under a name that is there only when all of it is. Its age is that of the system.
pack() { # FILE
    command -v zstd >/dev/null || return 0
    local part
    part=$(mktemp "$1.XXXXXX")
    if tar -C "$system" --one-file-system --numeric-owner --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' \
        --exclude='./tmp/*' --exclude='./src' -cf - . | zstd -q -1 -T0 -f -o "$part" && touch -r "$system/.made" "$part"; then
        mv -f "$part" "$1"
    else
        rm -f "$part"
        echo "debian-root: ${1##*/} could not be kept" >&2
    fi
}

# Makes the system of what pack() left, when that is not older than a week: Debian goes on.
unpack() { # FILE
    local young
    command -v zstd >/dev/null || return 1
    young=$(find "$1" -mmin -$((7 * 24 * 60)) 2>/dev/null) || return 1
    [ -n "$young" ] || return 1
    rm -rf --one-file-system "$system"
    mkdir -p "$system"
    if zstd -q -dc "$1" | tar -C "$system" -xpf - --numeric-owner && [ -e "$system/.made" ]; then return 0; fi
    echo "debian-root: ${1##*/} is damaged, and removed" >&2
    rm -f "$1"
    return 1
}

bootstrap() {
    local log=$home/debootstrap.log proxy='' uri
    echo "debian-root: making a Debian $number under ${system#"$root"/}"
    rm -rf --one-file-system "$system"
    mkdir -p "$system"
    if [ -z "${http_proxy-}" ]; then
        eval "$(apt-config shell proxy Acquire::http::Proxy)"
        if [ -n "$proxy" ] && [ "$proxy" != DIRECT ]; then export http_proxy=$proxy; fi
    fi
    uri=$(debian_mirror) # so that what serves one serves the other
    if ! debootstrap --variant=minbase "$suite" "$system" ${uri:+"$uri"} >"$log" 2>&1; then
        tail -n 5 "$log"
        cannot "debootstrap failed, see ${log#"$root"/}"
    fi
    touch --date="@$EPOCHSECONDS" "$system/.made" # without it, an earlier run has not come to this
    pack "$base"
}

# What reaches the mirror from here has to reach it from there: proxies, certificates, name resolution.
take_network_settings() {
    apt-config dump | grep -E '^Acquire::(https?|ftp|Retries|ForceIPv[46]|Check-[A-Za-z-]*)[: ]' \
        >"$system/etc/apt/apt.conf.d/90host" || true
    mkdir -p "$system/etc/ssl/certs" "$system/usr/local/share/ca-certificates"
    if [ -d /usr/local/share/ca-certificates ]; then
        cp -rL /usr/local/share/ca-certificates/. "$system/usr/local/share/ca-certificates/"
    fi
    if [ ! -e "$system/etc/ssl/certs/ca-certificates.crt" ] && [ -e /etc/ssl/certs/ca-certificates.crt ]; then
        cp -L /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/"
    fi
    local file
    for file in /etc/resolv.conf /etc/hosts; do
        if [ -e "$file" ]; then cp -L --remove-destination "$file" "$system$file"; fi
    done
}

# The ccache of the suite. Where this machine runs it, too, that is the machine's own: the compilers are the same.
compiled_folder() {
    if [ "$(. /etc/os-release && echo "${VERSION_CODENAME-}")" = "$suite" ] && command -v ccache >/dev/null; then
        ccache --get-config cache_dir
    else
        echo "$cache/ccache-$suite"
    fi
}

mount_all() {
    local compiled
    compiled=$(compiled_folder)
    mount --bind "$system" "$system" # a mount of its own, for pivot_root
    mkdir -p "$system/src" "$system/var/cache/ccache" "$home/build" "$compiled"
    mount --bind "$root" "$system/src"
    mount -o remount,bind,ro "$system/src"
    mount --bind "$home/build" "$system/src/build"
    mount --bind "$compiled" "$system/var/cache/ccache"
    mount --rbind /dev "$system/dev"
    mount -t proc proc "$system/proc" 2>/dev/null || mount --rbind /proc "$system/proc"
}

# The system becomes the root of our namespace of mounts, where it can. Behind chroot alone nobody may make a namespace of
# users, as services of systemd do.
enter() {
    cd "$system"
    mkdir -p .outside
    if pivot_root . .outside 2>/dev/null; then
        umount --lazy .outside
    fi
    rmdir .outside
}

inside() { # COMMAND...
    local variable kept=()
    for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY TERM \
        SOURCE_DATE_EPOCH SERIESGATE_VERSION SERIESGATE_REVISION; do
        if [ -n "${!variable-}" ]; then kept+=("$variable=${!variable}"); fi
    done
    chroot . /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        CCACHE_DIR=/var/cache/ccache PYTHONDONTWRITEBYTECODE=1 "${kept[@]}" \
        /bin/sh -c 'cd /src && exec "$@"' sh "$@" </dev/null
}

mkdir -p "$home"
if [ "$fresh" = yes ]; then
    system=$SERIESGATE_FRESH_SYSTEM
    unpack "$base" || bootstrap
else
    exec {lock}>"$home/lock"
    flock -n "$lock" || cannot "another run has build/debian$number"
    [ -e "$system/.made" ] || unpack "$prepared" || unpack "$base" || bootstrap
fi
if [ "$save" = yes ]; then
    # Not in place of a younger one, and not if there is nothing new.
    installed=$(sha256sum <"$system/var/lib/dpkg/status")
    if [ ! "$prepared" -nt "$system/.made" ] &&
        { [ "$system/.made" -nt "$prepared" ] || [ "$(cat "$prepared.status" 2>/dev/null)" != "$installed" ]; }; then
        pack "$prepared"
        echo "$installed" >"$prepared.status"
    fi
    exit
fi
take_network_settings
if ! why=$(mount_all 2>&1); then cannot "no mounts: $why"; fi
enter
inside "$@"
