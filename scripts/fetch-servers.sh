#!/usr/bin/env bash
# Fetches the servers that the tests and the demo talk to, Prometheus and VictoriaMetrics, as Debian packages and
# unpacks them under build/servers. They are not installed: no service, no user, nothing outside build/. Needs no
# root. What is there already is kept, so a second call neither downloads anything nor needs a network.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

servers=$root/build/servers
binaries=(prometheus promtool victoria-metrics)

all_there() {
    local binary
    for binary in "${binaries[@]}"; do
        [ -x "$servers/usr/bin/$binary" ] || return 1
    done
}

all_there && exit 0
if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
    echo "fetch-servers: needs a Debian system; elsewhere put ${binaries[*]} into build/servers/usr/bin" >&2
    exit 1
fi

echo "fetch-servers: unpacking Prometheus and VictoriaMetrics under build/servers"
mkdir -p "$servers"
downloads=$(mktemp -d "$servers/download.XXXXXX")
log=$downloads/log
trap 'rm -rf "$downloads"' EXIT

apt_options=(-o APT::Sandbox::User=) # no change of user: the folder is ours, and we may not be root
unpack() { # PACKAGE
    rm -f "$downloads"/*.deb
    (cd "$downloads" && apt-get "${apt_options[@]}" download "$1") >>"$log" 2>&1 &&
        dpkg -x "$downloads"/*.deb "$servers"
}
unpack_all() {
    unpack prometheus && unpack victoria-metrics || return 1
    # Debian 13 has promtool in a package of its own, Debian 12 beside prometheus.
    [ -x "$servers/usr/bin/promtool" ] || unpack promtool
}

# The system's package lists may be old or absent and only root could renew them: then with lists of our own.
if ! unpack_all; then
    mkdir -p "$downloads/lists/partial" "$downloads/cache/archives/partial"
    apt_options+=(-o "Dir::State::lists=$downloads/lists" -o "Dir::Cache=$downloads/cache")
    if ! apt-get "${apt_options[@]}" update >>"$log" 2>&1 || ! unpack_all; then
        tail -n 20 "$log" >&2
        echo "fetch-servers: could not download the packages" >&2
        exit 1
    fi
fi
all_there || { echo "fetch-servers: the packages lack one of: ${binaries[*]}" >&2; exit 1; }
