#!/usr/bin/env bash
# Makes what a release consists of: scripts/release.sh --sign KEY [--source-only | --here]
#                               or: scripts/release.sh --snapshot [--sign KEY] ...
#
# From a clean tree at a tag like v0.1.0, of which CHANGELOG.md has a dated section and packaging/project.env says who makes it,
# into build/release-artifacts/:
#   seriesgate-0.1.0.tar.gz            the source, the same bytes from the same commit, with a file VERSION
#   seriesgate_0.1.0-....deb           packages for Debian 12 and 13, amd64 and arm64, built from that archive (see package.sh)
#   seriesgate-0.1.0-linux-....tar.gz  for both, a binary that needs nothing but the C library of Debian 12 (see tarball.sh)
#   seriesgate-0.1.0-image.tar         an image for both, with an index (see image-index.sh)
#   seriesgate-0.1.0-chart.tgz         the Helm chart
#   seriesgate-0.1.0-site.tar.gz       the documents as a site (see site.sh)
#   *.spdx.json                        what these binaries are made of (see sbom.py)
#   release-notes.md                   the section of CHANGELOG.md
#   SHA256SUMS                         of all of these
#   SHA256SUMS.sig                     its signature (docs/install.md says how to verify it)
# --sign: with this private key, a PEM file (RSA or EC) outside the source tree.
# --here: only packages and archive for this system and processor. Else each is built in a Debian of its own (see debian-root.sh),
# and what is not for this processor is cross-compiled.
# --snapshot: any commit will do, with the first section of CHANGELOG.md; the version tells how far it is from the last tag.
# --source-only: without what has a binary; takes a second.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

snapshot=no built=all key=''
while [ $# -gt 0 ]; do
    case $1 in
        --snapshot) snapshot=yes ;;
        --source-only) built=source ;;
        --here) built=here ;;
        --sign) key=${2?--sign needs a private key}; shift ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "usage: scripts/release.sh [--snapshot] [--sign KEY] [--source-only | --here]" >&2; exit 1 ;;
    esac
    shift
done

refuse() { # WHY
    echo "release: $1" >&2
    exit 1
}

# The body of a section of CHANGELOG.md: that of VERSION, or the first.
section() { # VERSION
    awk -v version="$1" '
        /^## / { if (inside) exit; inside = version == "" || $2 == version; next }
        inside { if (NF || body) body = body $0 "\n" }
        END { sub(/\n+$/, "\n", body); printf "%s", body }' CHANGELOG.md
}

# Files that git does not know are in no archive, but they may be what made the tests pass.
if [ -n "$(git status --porcelain)" ]; then refuse "the tree is not clean: git status"; fi
project_version=$(sed -n 's/^project(.* VERSION \([^ ]*\) .*/\1/p' CMakeLists.txt)
line=$(cmake -DSOURCE="$root" -DPROJECT_VERSION="$project_version" -P cmake/source_version.cmake)
version=${line% *}
if [ "$snapshot" = no ]; then
    case $version in *[+~]*) refuse "no tag is at this commit, which is $version" ;; esac
    if [ "$version" != "$project_version" ]; then
        refuse "the tag is v$version, but CMakeLists.txt says $project_version"
    fi
    heading=$(awk -v version="$version" '/^## / && $2 == version' CHANGELOG.md)
    if ! [[ $heading =~ \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$ ]]; then
        refuse "CHANGELOG.md has no section \"## $version (YYYY-MM-DD)\""
    fi
    if placeholder=$(grep -m 1 '^[^#].*seriesgate\.example' packaging/project.env); then
        refuse "packaging/project.env has a placeholder: $placeholder"
    fi
    if [ -z "$key" ]; then refuse "nothing would sign it: --sign KEY"; fi
    notes=$(section "$version")
else
    notes=$(section '')
fi
if [ -n "$key" ]; then
    case $(realpath -- "$key") in "$root"/*) refuse "the key is in the source tree: $key" ;; esac
    if ! openssl dgst -sha256 -sign "$key" -out /dev/null CHANGELOG.md; then refuse "this key cannot sign: $key"; fi
fi
if [ -z "$notes" ]; then refuse "the section of CHANGELOG.md says nothing"; fi

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C
made=$root/build/release-artifacts
rm -rf "$made"
mkdir -p "$made"
printf '%s\n' "$notes" >"$made/release-notes.md"

# The modes of files and the ends of lines are no matter of who packs: nothing of that comes from git's settings.
name=seriesgate-$version
git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix="$name/" \
    --add-virtual-file="$name/VERSION:$line"$'\n' HEAD | gzip -n -9 >"$made/$name.tar.gz"

pack() { # FOLDER NAME: a name in it, as the same bytes wherever that is done
    tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --mtime="@$SOURCE_DATE_EPOCH" -cf - "$2" | gzip -n -9
}
pack deploy/helm seriesgate >"$made/$name-chart.tgz"

# A package and what its binary is made of, by the records of the system that it was built in; and the archive with a binary.
take_packages() { # FOLDER SYSTEM
    local package content
    find "$1" -name 'seriesgate-*-linux-*' -exec cp -t "$made" {} +
    for package in "$1"/*.deb; do
        cp "$package" "$made/"
        case ${package##*/} in *-dbgsym_*) continue ;; esac
        content=$(mktemp -d "$work/content.XXXXXX")
        dpkg-deb -x "$package" "$content"
        scripts/sbom.py "$content/usr/bin/seriesgate" --version "$version" --root "$2" \
            >"$made/$(basename "$package" .deb).spdx.json"
    done
}

in_debian() { # SUITE ARCHITECTURE
    local system name=$1
    if [ "$2" != "$native" ]; then name=$1-cross; fi
    "$tree/scripts/debian-root.sh" "$name" scripts/package.sh --arch "$2"
    if [ "$1" = bookworm ]; then "$tree/scripts/debian-root.sh" "$name" scripts/tarball.sh --arch "$2"; fi
    "$tree/scripts/debian-root.sh" --save "$name"
    system=("$tree"/build/debian*/root)
    take_packages "${system[0]%/root}/build/packages" "${system[0]}"
    rm -rf --one-file-system "${system[0]%/root}"
}

if [ "$built" != source ]; then
    SERIESGATE_REVISION=${line#* } # the roots have no git
    export SERIESGATE_REVISION
    work=$(mktemp -d "$root/build/release-work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    tar -C "$work" -xzf "$made/$name.tar.gz"
    tree=$work/$name
    native=$(dpkg --print-architecture)
    "$tree/scripts/install-deps.sh" --site
    "$tree/scripts/site.sh"
    pack "$tree/build" site >"$made/$name-site.tar.gz"
    if [ "$built" = here ]; then
        "$tree/scripts/package.sh"
        "$tree/scripts/tarball.sh"
        take_packages "$tree/build/packages" /
    else
        for suite in bookworm trixie; do
            for architecture in amd64 arm64; do in_debian "$suite" "$architecture"; done
        done
        "$tree/scripts/image-index.sh" "$made"/seriesgate_*~deb12u1_*.deb
        mv "$tree"/build/packages/*-image.tar "$made/"
    fi
fi
(cd "$made" && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
if [ -n "$key" ]; then openssl dgst -sha256 -sign "$key" -out "$made/SHA256SUMS.sig" "$made/SHA256SUMS"; fi
echo "release: $version in build/release-artifacts"
