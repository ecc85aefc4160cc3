#!/usr/bin/env bash
# Makes what a release consists of: scripts/release.sh --sign KEY [--source-only] [--suite SUITE]...
#                               or: scripts/release.sh --snapshot [--sign KEY] ...
#
# From a clean tree at a tag like v0.1.0, of which CHANGELOG.md has a dated section and packaging/project.env says who makes it,
# into build/release-artifacts/:
#   seriesgate-0.1.0.tar.gz            the source, the same bytes from the same commit, with a file VERSION
#   seriesgate_0.1.0-....deb           a package for each release of Debian, built from that archive (see package.sh)
#   seriesgate-0.1.0-linux-....tar.gz  a binary that needs nothing but the C library, of bookworm if that is built (see tarball.sh)
#   *.spdx.json                        what these binaries are made of (see sbom.py)
#   release-notes.md                   the section of CHANGELOG.md
#   SHA256SUMS                         of all of these
#   SHA256SUMS.sig                     its signature (docs/install.md says how to verify it)
# --sign: with this private key, a PEM file (RSA or EC) outside the source tree.
# --suite: build the package in a root of Debian's bookworm or trixie (see debian-root.sh); may be given twice. Without it, here.
# --snapshot: any commit will do, with the first section of CHANGELOG.md; the version tells how far it is from the last tag.
# --source-only: without packages; takes a second.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

snapshot=no source_only=no key='' suites=()
while [ $# -gt 0 ]; do
    case $1 in
        --snapshot) snapshot=yes ;;
        --source-only) source_only=yes ;;
        --sign) key=${2?--sign needs a private key}; shift ;;
        --suite) suites+=("${2?--suite needs bookworm or trixie}"); shift ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "usage: scripts/release.sh [--snapshot] [--sign KEY] [--source-only] [--suite SUITE]..." >&2; exit 1 ;;
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

if [ "$source_only" = no ]; then
    SERIESGATE_REVISION=${line#* } # the roots have no git
    export SERIESGATE_REVISION
    work=$(mktemp -d "$root/build/release-work.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    tar -C "$work" -xzf "$made/$name.tar.gz"
    if [ ${#suites[@]} = 0 ]; then
        "$work/$name/scripts/package.sh"
        "$work/$name/scripts/tarball.sh"
        take_packages "$work/$name/build/packages" /
    fi
    for suite in ${suites[@]+"${suites[@]}"}; do
        "$work/$name/scripts/debian-root.sh" "$suite" scripts/package.sh
        if [ "$suite" = bookworm ]; then "$work/$name/scripts/debian-root.sh" "$suite" scripts/tarball.sh; fi
        system=("$work/$name"/build/debian*/root)
        take_packages "${system[0]%/root}/build/packages" "${system[0]}"
        rm -rf --one-file-system "${system[0]%/root}"
    done
fi
(cd "$made" && sha256sum -- * >../SHA256SUMS && mv ../SHA256SUMS .)
if [ -n "$key" ]; then openssl dgst -sha256 -sign "$key" -out "$made/SHA256SUMS.sig" "$made/SHA256SUMS"; fi
echo "release: $version in build/release-artifacts"
