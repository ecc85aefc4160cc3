#!/usr/bin/env bash
# Builds the release preset and runs the unit tests on Debian 13, in a root of its own: scripts/test-debian13.sh
#
# The root is made with debootstrap under build/debian13 at the first run and kept, as are its ccache and build tree
# (`rm -rf build/debian13` begins anew). The working tree is mounted into it, read-only but for build/, in a mount
# namespace that goes with this script. With arguments they are run in there instead: scripts/test-debian13.sh COMMAND...
#
# Exit status: 0, 1, or that of the command; 77 where this machine cannot do it, and the last line says why.
# The result of the tests is in build/debian13/build/ctest.xml.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
home=$root/build/debian13
system=$home/root
suite=trixie
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

cannot() { # WHY
    echo "test-debian13: NOT TESTED on Debian 13: $1"
    exit 77
}

case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
export PATH=$PATH:/usr/sbin:/sbin # debootstrap and chroot, also where these are not in a user's

[ "$(id -u)" = 0 ] || cannot "this needs root, for chroot"
command -v debootstrap >/dev/null || cannot "no debootstrap; scripts/install-deps.sh --test installs it"
if [ "${SERIESGATE_OWN_MOUNTS-}" != yes ]; then
    # Everything that is mounted goes with the namespace, however this ends.
    if ! why=$(unshare --mount --propagation private true 2>&1); then cannot "no mounts: $why"; fi
    SERIESGATE_OWN_MOUNTS=yes exec unshare --mount --propagation private -- "${BASH_SOURCE[0]}" "$@"
fi

make_system() {
    local log=$home/debootstrap.log proxy='' uri
    echo "test-debian13: making a Debian 13 under ${system#"$root"/}"
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

mount_all() {
    mkdir -p "$system/src" "$home/build"
    mount --bind "$root" "$system/src"
    mount -o remount,bind,ro "$system/src"
    mount --bind "$home/build" "$system/src/build"
    mount --rbind /dev "$system/dev"
    mount -t proc proc "$system/proc" 2>/dev/null || mount --rbind /proc "$system/proc"
}

inside() { # COMMAND...
    local variable kept=()
    for variable in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY TERM; do
        if [ -n "${!variable-}" ]; then kept+=("$variable=${!variable}"); fi
    done
    chroot "$system" /usr/bin/env -i HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        CCACHE_DIR=/src/build/ccache PYTHONDONTWRITEBYTECODE=1 "${kept[@]}" \
        /bin/sh -c 'cd /src && exec "$@"' sh "$@" </dev/null
}

mkdir -p "$home"
exec {lock}>"$home/lock"
flock -n "$lock" || cannot "another run has build/debian13"
if [ ! -e "$home/complete" ]; then
    make_system
    touch "$home/complete"
fi
take_network_settings
if ! why=$(mount_all 2>&1); then cannot "no mounts: $why"; fi

if [ $# -gt 0 ]; then
    inside "$@"
    exit
fi
rm -f "$home/build/ctest.xml"
if [ ! -e "$home/reached" ]; then # the first run needs a network, and having none is no fault of ours
    if ! why=$(inside apt-get update -qq -o APT::Update::Error-Mode=any 2>&1); then cannot "no packages: $why"; fi
    touch "$home/reached"
fi
inside scripts/install-deps.sh --unit-tests
if ! inside cmake --preset release -DSERIESGATE_TESTS=ON >"$home/configure.log" 2>&1; then
    tail -n 40 "$home/configure.log"
    exit 1
fi
inside cmake --build build/release --target all -j "$(nproc)"
inside ctest --preset release -j "$(nproc)" --no-tests=error --output-on-failure --output-junit /src/build/ctest.xml
