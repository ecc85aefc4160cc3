#!/usr/bin/env bash
# Builds the image of seriesgate: scripts/image.sh [--tag NAME] [--arch ARCH] [--package FILE] [--engine PROGRAM] [ARGUMENTS OF ITS build...]
#
#   --tag NAME         seriesgate:VERSION without it
#   --arch ARCH        this machine's without it, or arm64
#   --package FILE     a package for Debian 12 that scripts/package.sh has made of this commit; without it the image's build makes one,
#                      in minutes
#   --engine PROGRAM   the first of podman, buildah and docker that is there, without it
#
# The image says which version and commit it is, and when that was made; its files are no newer. Further arguments go to the engine,
# such as --pull-never or --build-arg DEBIAN=debian:bookworm.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

tag='' arch='' package='' engine=''
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        --tag) tag=${2:?--tag: has no value}; shift 2 ;;
        --arch) arch=${2:?--arch: has no value}; shift 2 ;;
        --package) package=$(realpath "${2:?--package: has no value}"); shift 2 ;;
        --engine) engine=${2:?--engine: has no value}; shift 2 ;;
        *) break ;;
    esac
done
for program in podman buildah docker; do
    if [ -z "$engine" ] && command -v "$program" >/dev/null; then engine=$program; fi
done
if [ -z "$engine" ]; then
    echo "image: neither podman nor buildah nor docker is here" >&2
    exit 1
fi

cd "$root"
version=$(source_version)
place=''
if [ -n "$package" ]; then
    version=$(dpkg-deb --field "$package" Version)
    version=${version%-*}
    place=build/packages/${package##*/} # what builders see of build/
    mkdir -p build/packages
    if ! [ "$package" -ef "$place" ]; then cp "$package" "$place"; fi
fi
revision=$(git rev-parse HEAD 2>/dev/null || true)
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
# Where the source is, if everybody can go there; without what a login may have left in it.
source=$(git remote get-url origin 2>/dev/null | sed -n 's|^https://\([^@/]*@\)\{0,1\}|https://|p' || true)
here=$(dpkg --print-architecture 2>/dev/null || uname -m)
here=linux/${here/x86_64/amd64}
arguments=(--file docker/Dockerfile --platform "${arch:+linux/}${arch:-$here}" --tag "${tag:-seriesgate:${version//[+~]/-}}"
    --build-arg "PACKAGE=$place" --build-arg "VERSION=$version" --build-arg "REVISION=$revision" --build-arg "SOURCE=$source"
    --build-arg "SOURCE_DATE_EPOCH=$epoch" --build-arg "CREATED=$(date --utc --date="@$epoch" +%Y-%m-%dT%H:%M:%SZ)")
# Health checks are no part of OCI's format, and Docker's is understood by all.
if [ "${engine##*/}" != docker ]; then
    arguments+=(--format docker --timestamp "$epoch" --build-arg "BUILDPLATFORM=$here") # buildah 1.28 does not know it itself
fi
"$engine" build "${arguments[@]}" "$@" .
