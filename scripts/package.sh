#!/usr/bin/env bash
# Builds the Debian package for the release of Debian that this runs on: scripts/package.sh [flags]
#
#   --version V     of seriesgate; without it the version of the source
#   --revision N    of the package, 1 without it
#   --lint          also runs lintian; what it warns of and debian/ does not explain is an error
#   --arch ARCH     of the package: this machine's without it, or arm64, which is compiled here
#
# Installs what is missing (through sudo when not root), and leaves seriesgate_V-N~debNNu1_ARCH.deb in build/packages, with the
# debug symbols, the .buildinfo and the .changes beside it, and no earlier ones. What was compiled before is not compiled
# again. For the other release, in a root of its own: scripts/debian-root.sh trixie scripts/package.sh, which leaves it in
# build/debian13/build/packages.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

version='' revision=1 lint=no architecture=$(dpkg --print-architecture)
while [ $# -gt 0 ]; do
    case $1 in
        --version) version=${2?--version needs one}; shift ;;
        --version=*) version=${1#*=} ;;
        --revision) revision=${2?--revision needs a number}; shift ;;
        --revision=*) revision=${1#*=} ;;
        --lint) lint=yes ;;
        --arch) architecture=${2?--arch needs an architecture}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 1 ;;
    esac
    shift
done

needed=(--package --arch "$architecture") options=(--host-arch "$architecture")
if [ "$architecture" != "$(dpkg --print-architecture)" ]; then options+=(--no-check-builddeps); fi # debian/control names this machine's
if [ "$lint" = yes ]; then needed+=(--lint); fi
"$root/scripts/install-deps.sh" "${needed[@]}"

if [ -n "$version" ]; then SERIESGATE_VERSION=$version; fi
export_source_facts
version=$SERIESGATE_VERSION

# 12 and 13 have packages of their own: what the binary links differs. So a package for 13 is newer than the same for 12.
release=$(. /etc/os-release && echo "${VERSION_ID-}")
full_version=$version-$revision${release:+~deb${release}u1}

# A copy of the tree, for debian/ and what dpkg writes beside it. The folder stays, so that its build is one that goes on.
work=$root/build/package-$architecture
tree=$work/seriesgate
packages=$root/build/packages
mkdir -p "$tree" "$packages"
find "$tree" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
tar -C "$root" --exclude=./build --exclude=./.git --exclude=__pycache__ --exclude=.pytest_cache -cf - . | tar -C "$tree" -xf -
rm -f "$work"/seriesgate*_*

# Who makes the package, and where its source is, as one file says; an address that is a placeholder is left out.
set -a
# shellcheck source=packaging/project.env
. "$root/packaging/project.env"
set +a
awk '
    !/^Maintainer:/ { print; next }
    { print "Maintainer: " ENVIRON["MAINTAINER"] }
    ENVIRON["HOMEPAGE"] !~ /seriesgate\.example/ {
        print "Homepage: " ENVIRON["HOMEPAGE"] "\nVcs-Browser: " ENVIRON["VCS_BROWSER"] "\nVcs-Git: " ENVIRON["VCS_GIT"]
    }' "$root/debian/control" >"$tree/debian/control"

# Files of the package are as old as the source says, so that the same source makes the same package.
if [ -z "${SOURCE_DATE_EPOCH-}" ]; then
    SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l "$tree/debian/changelog" -STimestamp)
    export SOURCE_DATE_EPOCH
fi
{
    printf 'seriesgate (%s) unstable; urgency=medium\n\n  * Version %s, see CHANGELOG.md.\n\n' "$full_version" "$version"
    printf ' -- %s  %s\n\n' "$MAINTAINER" \
        "$(LC_ALL=C date -R -u -d "@$SOURCE_DATE_EPOCH")"
} >"$tree/debian/changelog"

echo "package: building seriesgate_${full_version}_$architecture.deb"
if ! (cd "$tree" && DEB_BUILD_OPTIONS="parallel=$(nproc) ${DEB_BUILD_OPTIONS-}" \
    dpkg-buildpackage "${options[@]}" --build=binary --no-pre-clean --unsigned-source --unsigned-changes) >"$work/build.log" 2>&1 </dev/null; then
    tail -n 60 "$work/build.log"
    exit 1
fi
rm -f "$packages"/seriesgate*_*
mv "$work"/seriesgate*"_${full_version}_"* "$packages/"

if [ "$lint" = yes ]; then
    lintian --fail-on error,warning --tag-display-limit 0 --no-cfg --allow-root \
        "$packages/seriesgate_${full_version}_$architecture.changes"
fi
(cd "$packages" && ls -l "seriesgate_${full_version}_$architecture.deb")
