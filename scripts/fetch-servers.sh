#!/usr/bin/env bash
# Fetches the servers that the tests and the demos talk to as Debian packages, and unpacks them under build/servers:
#
#   scripts/fetch-servers.sh [prometheus] [victoria-metrics] [valkey-server] [newest]     (without arguments: the first three)
#
# They are not installed: no service, no user, nothing outside build/. Needs no root. What is there already is kept, so a
# second call neither downloads anything nor needs a network.
#
# Valkey is that of Debian 13, on Debian 12 too, which has none: with Debian 13's libraries beside it, and started by
# their loader (build/servers/valkey/valkey-server).
#
# newest: Prometheus, VictoriaMetrics and kustomize of Debian unstable, under build/servers/newest. They are Go programs and need
# nothing of unstable's but themselves.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

servers=$root/build/servers
binaries=$servers/usr/bin
known=(prometheus victoria-metrics valkey-server newest)

is_there() { # SERVER
    if [ "$1" = newest ]; then
        [ -x "$servers/newest/usr/bin/vmagent" ] && [ -x "$servers/newest/usr/bin/kustomize" ]
        return
    fi
    [ -x "$binaries/$1" ] && { [ "$1" != prometheus ] || { [ -x "$binaries/promtool" ] && [ -x "$binaries/amtool" ]; }; }
}

wanted=("$@")
if [ $# = 0 ]; then wanted=("${known[@]:0:3}"); fi
missing=()
for server in "${wanted[@]}"; do
    if [[ " ${known[*]} " != *" $server "* ]]; then
        echo "usage: scripts/fetch-servers.sh [${known[0]}] [${known[1]}] [${known[2]}] [${known[3]}]" >&2
        exit 1
    fi
    is_there "$server" || missing+=("$server")
done
if [ ${#missing[@]} = 0 ]; then exit 0; fi
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    echo "fetch-servers: needs a Debian system; elsewhere put ${missing[*]} into build/servers/usr/bin" >&2
    exit 1
fi

echo "fetch-servers: unpacking ${missing[*]} under build/servers"
mkdir -p "$binaries"
downloads=$(mktemp -d "$servers/download.XXXXXX")
log=$downloads/log
trap 'rm -rf "$downloads"' EXIT

apt() { # OPTION... COMMAND ARGUMENT...
    # No change of user: the folder is ours, and we may not be root.
    (cd "$downloads" && apt-get -o APT::Sandbox::User= -o Acquire::Retries=3 -o Acquire::http::Timeout=30 "$@") >>"$log" 2>&1
}

# Options of an apt that has lists and a cache of its own.
own_lists() { # NAME
    mkdir -p "$downloads/$1/lists/partial" "$downloads/$1/cache/archives/partial"
    options=(-o "Dir::State::lists=$downloads/$1/lists" -o "Dir::Cache=$downloads/$1/cache")
}

unpack() { # FOLDER PACKAGE...
    local folder=$1 package
    shift
    rm -f "$downloads"/*.deb
    mkdir -p "$folder"
    apt "${options[@]}" download "$@" || return 1
    for package in "$downloads"/*.deb; do dpkg -x "$package" "$folder" || return 1; done
}

unpack_here() { # SERVER
    unpack "$servers" "$1" || return 1
    [ "$1" = prometheus ] || return 0
    unpack "$servers" prometheus-alertmanager || return 1 # it has amtool
    # Debian 13 has promtool in a package of its own, Debian 12 beside prometheus.
    [ -x "$binaries/promtool" ] || unpack "$servers" promtool
}

# The server, and each library that it is linked to.
valkey_packages=(valkey-server valkey-tools libc6 libgcc-s1 libstdc++6 libatomic1 libjemalloc2 liblzf1 libssl3t64
    libsystemd0 libcap2 libzstd1 zlib1g)

# Of another release of Debian, whatever this system is.
unpack_of_release() { # RELEASE FOLDER PACKAGE...
    local release=$1 uri
    uri=$(debian_mirror)
    own_lists "$release"
    : >"$downloads/status"
    cat >"$downloads/$release.sources" <<EOF
Types: deb
URIs: ${uri:-http://deb.debian.org/debian/}
Suites: $release
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOF
    options+=(-o "Dir::State::status=$downloads/status" -o "Dir::Etc::sourcelist=$downloads/$release.sources"
        -o Dir::Etc::sourceparts=/dev/null)
    rm -rf "$2"
    apt "${options[@]}" update -o APT::Update::Error-Mode=any && unpack "${@:2}"
}

unpack_newest() {
    unpack_of_release unstable "$servers/newest" prometheus victoria-metrics kustomize
}

unpack_valkey() {
    local home=$servers/valkey loader loaders
    unpack_of_release trixie "$home/root" "${valkey_packages[@]}" || return 1

    loaders=("$home/root/usr/lib/"*/ld-linux*.so.*)
    loader=${loaders[0]#"$home/"}
    cat >"$home/valkey-server" <<EOF
#!/bin/sh
# Debian 13's Valkey with Debian 13's libraries, whatever this system's are. It runs what it is called as.
home=\$(dirname "\$(readlink -f "\$0")")
exec "\$home/$loader" --library-path "\$home/${loader%/*}" "\$home/root/usr/bin/\$(basename "\$0")" "\$@"
EOF
    chmod +x "$home/valkey-server"
    ln -sf valkey-server "$home/valkey-cli"
    "$home/valkey-server" --version >>"$log" 2>&1 || return 1
    ln -sf ../../valkey/valkey-server ../../valkey/valkey-cli "$binaries"
}

renewed=no
unpack_one() { # SERVER
    case $1 in
        valkey-server) unpack_valkey; return ;;
        newest) unpack_newest; return ;;
    esac
    options=()
    if [ "$renewed" = no ] && unpack_here "$1"; then return; fi
    # The system's package lists may be old or absent and only root could renew them: then with lists of our own.
    own_lists system
    if [ "$renewed" = no ]; then apt "${options[@]}" update || return 1; fi
    renewed=yes
    unpack_here "$1"
}

for server in "${missing[@]}"; do
    if ! unpack_one "$server" || ! is_there "$server"; then
        tail -n 20 "$log" >&2
        echo "fetch-servers: could not get $server" >&2
        exit 1
    fi
done
