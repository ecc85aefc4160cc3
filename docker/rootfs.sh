#!/usr/bin/env bash
# Makes the root file system of the image of a Debian in which seriesgate is installed: docker/rootfs.sh FOLDER
#
# From the package come the binary, its licence and its notices; from Debian the libraries that the binary asks for, the certificates of authorities, and what says which system this is.
# For each package of these there is its copyright file, and its entry in /var/lib/dpkg/status.d, which is where scanners look
# for packages in images without dpkg. Names are resolved by the C library itself (files and DNS), so no modules are needed.
# Files are no newer than SOURCE_DATE_EPOCH, if that is set. The binary may be for another processor: nothing of it is run. sbom.py is
# beside this script, with the python3 and readelf that it needs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    '') echo "usage: docker/rootfs.sh FOLDER" >&2; exit 1 ;;
esac
rootfs=$1
user=10001
binary=/usr/bin/seriesgate

# One file, and what leads to it: a library goes by the name of a link.
take() { # FILE
    local file=$1
    while :; do
        file=$(realpath "$(dirname "$file")")/$(basename "$file") # /lib is /usr/lib
        mkdir -p "$rootfs$(dirname "$file")"
        cp -P --preserve=mode,timestamps "$file" "$rootfs$file"
        [ -L "$file" ] || break
        file=$(realpath --no-symlinks "$(dirname "$file")/$(link_of "$file")")
    done
}

link_of() { # LINK: where it leads, for its folder
    local to
    to=$(readlink "$1")
    case $to in /*) realpath --no-symlinks --relative-to="$(dirname "$1")" "$to" ;; *) echo "$to" ;; esac
}

owner_of() { # FILE: its package. dpkg knows files by the path at which they were installed, before /lib was /usr/lib
    local file
    file=$(realpath "$1")
    { dpkg-query --search "$file" 2>/dev/null || dpkg-query --search "${file#/usr}"; } | sed 's/: .*//'
}

describe() { # PACKAGE[:ARCHITECTURE]
    local package=${1%:*}
    local licence=usr/share/doc/$package/copyright other
    dpkg-query --status "$1" >"$rootfs/var/lib/dpkg/status.d/$package"
    mkdir -p "$rootfs/usr/share/doc/$package"
    for other in "$rootfs"/usr/share/doc/*/copyright; do # Boost's are megabytes, and the same for each of its libraries
        if cmp --silent "$other" "/$licence"; then
            ln -s "../$(basename "$(dirname "$other")")/copyright" "$rootfs/$licence"
            return
        fi
    done
    cp -L --preserve=timestamps "/$licence" "$rootfs/$licence"
}

mkdir -p "$rootfs"/{dev,proc,sys,run,etc/ssl/certs,usr/lib/ssl,var/lib/dpkg/status.d}
install -d -m 1777 "$rootfs/tmp"
for link in /lib /lib64; do
    if [ -L "$link" ]; then cp -P "$link" "$rootfs$link"; fi
done

take "$binary"
mapfile -t libraries < <(python3 "$here/sbom.py" "$binary" --libraries)
for file in "${libraries[@]}"; do take "$file"; done
mapfile -t packages < <({ for file in "${libraries[@]}"; do owner_of "$file"; done; echo base-files ca-certificates seriesgate | tr ' ' '\n'; } | sort -u)
for package in "${packages[@]}"; do describe "$package"; done

# OpenSSL looks for cert.pem first.
cp -L --preserve=timestamps /etc/ssl/certs/ca-certificates.crt "$rootfs/etc/ssl/certs/"
ln -s ../../../etc/ssl/certs/ca-certificates.crt "$rootfs/usr/lib/ssl/cert.pem"
take /etc/os-release
take /etc/debian_version

cat >"$rootfs/etc/passwd" <<END
root:x:0:0:root:/:/usr/sbin/nologin
seriesgate:x:$user:$user:seriesgate:/:/usr/sbin/nologin
END
cat >"$rootfs/etc/group" <<END
root:x:0:
seriesgate:x:$user:
END
echo 'hosts: files dns' >"$rootfs/etc/nsswitch.conf"

install -D -m 0644 "$here/seriesgate.yaml" "$rootfs/etc/seriesgate/seriesgate.yaml"
install -d -m 0700 -o "$user" -g "$user" "$rootfs/var/lib/seriesgate"

cp --preserve=timestamps /usr/share/doc/seriesgate/third-party-notices* "$rootfs/usr/share/doc/seriesgate/"

if [ -n "${SOURCE_DATE_EPOCH-}" ]; then
    find "$rootfs" -newermt "@$SOURCE_DATE_EPOCH" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
fi
