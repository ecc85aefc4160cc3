#!/usr/bin/env bash
# Installs what building seriesgate needs; with --package also what its Debian package needs, with --site what the site of
# its documents needs, with --unit-tests what its unit tests need, with --test what all of its tests need. With --arch arm64
# the libraries are those of arm64, and the compiler is one for it.
#
# Debian 12 and 13 (and their relatives) with apt-get, through sudo when not root. What is there already is left
# alone: on a prepared machine this neither calls apt-get nor needs a network. No service is started or enabled: the
# Prometheus, VictoriaMetrics and Valkey of the tests are only unpacked under build/ (see fetch-servers.sh), and of HAProxy,
# nginx and Redis the tests use the programs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    cat <<EOF
usage: scripts/install-deps.sh [--arch ARCH] [--package] [--lint] [--emulator] [--helm] [--site] [--unit-tests | --test]
  --arch ARCH    for building for this architecture of Debian (this machine's, or arm64)
  --package      also install what scripts/package.sh needs
  --lint         also install what it needs to look at the package
  --emulator     also install what runs binaries for arm64 on other machines
  --helm         also install what renders the Helm chart in tests (Go and libraries: 600 MB; for scripts/test.sh --all)
  --site         also install what scripts/site.sh needs (46 MB)
  --unit-tests   also install what the unit tests and benchmarks need
  --test         also install what scripts/test.sh needs, and fetch the servers that the tests talk to
EOF
}

with_package=no with_lint=no with_emulator=no with_helm=no with_site=no with_unit_tests=no with_tests=no arch=''
given=("$@")
while [ $# -gt 0 ]; do
    case $1 in
        --arch) arch=${2?--arch needs an architecture}; shift ;;
        --package) with_package=yes ;;
        --lint) with_lint=yes ;;
        --emulator) with_emulator=yes ;;
        --helm) with_helm=yes ;;
        --site) with_site=yes ;;
        --unit-tests) with_unit_tests=yes ;;
        --test) with_site=yes with_unit_tests=yes with_tests=yes ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 1 ;;
    esac
    shift
done

# Tools as command:package (any way to have the command will do), libraries as package names.
tools=(g++:g++ cmake:cmake ninja:ninja-build pkg-config:pkg-config curl:curl)
libraries=(libfmt-dev libyaml-cpp-dev libcli11-dev libxxhash-dev libsnappy-dev libzstd-dev libre2-dev
    libssl-dev libcrypt-dev libhiredis-dev)
foreign='' # behind the names of packages that are for another architecture
if [ -n "$arch" ] && [ "$arch" != "$(dpkg --print-architecture)" ]; then
    case $arch in
        arm64) tools+=(aarch64-linux-gnu-g++:g++-aarch64-linux-gnu) with_emulator=yes ;;
        *) echo "install-deps: --arch $arch: only arm64 is known" >&2; exit 1 ;;
    esac
    foreign=:$arch
    libraries=("${libraries[@]/%/$foreign}")
    libraries=("${libraries[@]/libcli11-dev$foreign/libcli11-dev}") # is for all
fi
if [ "$with_package" = yes ]; then
    tools+=(ccache:ccache)
    libraries+=(build-essential debhelper python3) # dpkg-buildpackage asks for these by name
fi
if [ "$with_lint" = yes ]; then tools+=(lintian:lintian man:man-db); fi
if [ "$with_emulator" = yes ]; then tools+=(qemu-aarch64-static:qemu-user-static); fi
if [ "$with_helm" = yes ]; then
    tools+=(go:golang-go)
    libraries+=(golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev)
fi
if [ "$with_site" = yes ]; then libraries+=(mkdocs mkdocs-material python3-pymdownx); fi
if [ "$with_unit_tests" = yes ]; then
    tools+=(ccache:ccache protoc:protobuf-compiler redis-server:redis-server)
    libraries+=(catch2 libprotobuf-dev libbenchmark-dev)
fi
if [ "$with_tests" = yes ]; then
    tools+=(clang++:clang llvm-symbolizer:llvm clang-format:clang-format zstd:zstd valgrind:valgrind redis-sentinel:redis-sentinel redis-cli:redis-tools
            chromium:chromium chromedriver:chromium-driver buildah:buildah git:git
            man:man-db zsh:zsh fish:fish)
    libraries+=(libclang-rt-dev ca-certificates libnss-wrapper python3 python3-pytest python3-pytest-timeout
                python3-pytest-xdist python3-snappy python3-protobuf python3-jsonschema python3-yaml python3-kubernetes python3-selenium debootstrap haproxy nginx libnginx-mod-stream openssl)
fi

boost_packages() { # VERSION: the parts of Boost that seriesgate uses, in that version
    echo "libboost$1-dev$foreign" "libboost-json$1-dev$foreign" "libboost-system$1-dev$foreign" "libboost-url$1-dev$foreign"
}
boost_versions=(1.81 1.83) # Debian 12 carries the first beside an older default, Debian 13 the second

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "install-deps: no apt-get here, nothing installed. By their Debian names, these are needed:" >&2
    echo "  ${tools[*]#*:} ${libraries[*]} libboost (1.81 or newer, with json and url)" >&2
    exit 0 # they may well be there under other names; CMake will tell
fi

is_installed() { # PACKAGE...: whether all of them are
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || return 1
    done
}

as_root=()
if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi

# Keeps services from being started while it is there.
policy=/usr/sbin/policy-rc.d
policy_text='#!/bin/sh
# Of scripts/install-deps.sh, while it runs.
exit 101'
if [ "$(cat "$policy" 2>/dev/null)" = "$policy_text" ]; then
    "${as_root[@]}" rm -f "$policy" # of a run that was killed
fi

missing=()
for tool in "${tools[@]}"; do
    command -v "${tool%%:*}" >/dev/null || missing+=("${tool#*:}")
done
for library in "${libraries[@]}"; do
    is_installed "$library" || missing+=("$library")
done
has_boost=no
for version in "${boost_versions[@]}"; do
    # shellcheck disable=SC2046 # the words are the package names
    if is_installed $(boost_packages "$version"); then has_boost=yes; fi
done

if [ ${#missing[@]} -gt 0 ] || [ "$has_boost" = no ]; then
    if [ "${as_root[*]}" = sudo ] && ! command -v sudo >/dev/null; then
        echo "install-deps: there is no sudo here; run this as root once: scripts/install-deps.sh ${given[*]}" >&2
        exit 1
    fi
    log=$(mktemp)
    own_policy=no
    clean_up() {
        rm -f "$log"
        if [ "$own_policy" = yes ]; then "${as_root[@]}" rm -f "$policy"; fi
    }
    trap clean_up EXIT
    if [ -n "$foreign" ]; then "${as_root[@]}" dpkg --add-architecture "$arch"; fi
    echo "install-deps: reading the package lists ..."
    "${as_root[@]}" apt-get update >"$log" 2>&1 || { cat "$log" >&2; exit 1; }

    if [ "$has_boost" = no ]; then
        for version in "${boost_versions[@]}"; do
            if [ -n "$(apt-cache madison "libboost-url$version-dev" 2>/dev/null)" ]; then
                read -r -a boost <<<"$(boost_packages "$version")"
                missing+=("${boost[@]}")
                has_boost=found
                break
            fi
        done
        if [ "$has_boost" = no ]; then
            echo "install-deps: no Boost ${boost_versions[*]} packages on this system (Debian 12 and 13 have them)" >&2
            exit 1
        fi
    fi

    echo "install-deps: installing ${missing[*]}"
    services=()
    for service in haproxy nginx redis-server redis-sentinel; do
        if [[ " ${missing[*]} " == *" $service "* ]]; then services+=("$service"); fi
    done
    if [ ${#services[@]} -gt 0 ] && [ ! -e "$policy" ]; then
        own_policy=yes
        echo "$policy_text" | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
    fi
    # --no-remove: Debian 12's default Boost headers exclude the newer ones, and throwing out what somebody
    # installed is not ours to decide.
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y --no-install-recommends --no-remove "${missing[@]}" >"$log" 2>&1 </dev/null; then
        tail -n 25 "$log" >&2
        if grep -q 'remove is disabled' "$log"; then
            echo "install-deps: an installed package is in the way (often libboost1.74-dev); remove it first" >&2
        fi
        exit 1
    fi
    if [ ${#services[@]} -gt 0 ] && command -v systemctl >/dev/null; then
        "${as_root[@]}" systemctl disable --quiet "${services[@]}" >>"$log" 2>&1 || true # not at the next start either
    fi
fi

if [ "$with_tests" = yes ]; then "$here/fetch-servers.sh"; fi
