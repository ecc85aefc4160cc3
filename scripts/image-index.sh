#!/usr/bin/env bash
# Packs images for several processors as one file, without an engine: scripts/image-index.sh PACKAGE...
#
# PACKAGE is one for Debian 12 that scripts/package.sh has made, for each processor. Into build/packages:
# seriesgate-VERSION-image.tar, an OCI archive with an index. `skopeo copy --all oci-archive:FILE docker://...` brings it to
# a registry, `podman pull oci-archive:FILE` to a machine. OCI's format has no health check: docker/compose.yaml and
# the objects for Kubernetes have one.
#
# Exit status: 0, 1, or 77 where this machine cannot do it, and the last line says why.
# Source of the format: https://github.com/opencontainers/image-spec/blob/v1.0.2/image-layout.md
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ${1-} in
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    '') echo "usage: scripts/image-index.sh PACKAGE..." >&2; exit 1 ;;
esac
# shellcheck source=scripts/own-buildah.sh
. "$root/scripts/own-buildah.sh"

index=localhost/seriesgate-index
log=$home/index.log
: >"$log"
try() { # COMMAND...
    if ! "$@" >>"$log" 2>&1; then
        tail -n 25 "$log" >&2
        exit 1
    fi
}

"$builder" manifest rm "$index" >/dev/null 2>&1 || true
try "$builder" manifest create "$index"
for package in "$@"; do
    package=$(realpath "$package")
    architecture=$(dpkg-deb --field "$package" Architecture)
    version=$(dpkg-deb --field "$package" Version)
    echo "image-index: building for $architecture"
    try build_image "localhost/seriesgate-$architecture" --arch "$architecture" --package "$package" --format oci
    try "$builder" manifest add "$index" "containers-storage:localhost/seriesgate-$architecture"
done
made=build/packages/seriesgate-${version%-*}-image.tar
mkdir -p "$root/build/packages"
rm -f "$root"/build/packages/seriesgate-*-image.tar
try "$builder" manifest push --quiet --all --format oci "$index" "oci-archive:$root/$made"
ls -l "$root/$made"
