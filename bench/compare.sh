#!/usr/bin/env bash
# What seriesgate costs beside vmagent and a plain nginx, on this machine: bench/compare.sh [options]
#
# Starts the three in turn on loopback before the same store, loads them with wrk and the recorded requests, and prints
# one table. Installs nothing and builds nothing: what is missing is named. bench/README.md tells what the columns mean.
#
#   --rounds N      how often everything is measured; the table shows medians (5)
#   --seconds N     how long each load lasts, at saturation and at the fixed rate (5)
#   --connections N how many wrk opens (16)
#   --rate N        the fixed rate, requests a second (200)
#   --cases A,B     of accepted, half, refused, new, tls (all)
#   --protocols A,B of v1, v2 (both)
#   --peers A,B     of vmagent, nginx, gate, and fleet: a gate whose limits a Redis on loopback counts, which needs redis-server
#                   (vmagent,nginx,gate)
#   --quick         one round of one second: whether it works, no figures to quote
#   --output FILE   the raw results as JSON (build/bench/compare.json); bench/chart.py draws them
#
# From the environment:
#   SERIESGATE_BIN      the gate (build/release/seriesgate)
#   VMAGENT             the vmagent to compare with, if it is to be another than Debian's
#   SERIESGATE_SERVERS  the folder with Debian's (build/servers/usr/bin, then the PATH)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

for argument in "$@"; do
    case $argument in
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    esac
done

missing=()
find_tool() { # WHAT HINT CANDIDATE...: sets `tool` to the first candidate that can be run
    local what=$1 hint=$2 candidate
    shift 2
    for candidate in "$@"; do
        if tool=$(command -v "$candidate"); then return 0; fi
    done
    missing+=("$what: $hint")
}
find_tool seriesgate 'cmake --preset release && cmake --build build/release --target seriesgate' \
    "${SERIESGATE_BIN:-$root/build/release/seriesgate}"
gate=$tool
if [ -n "${VMAGENT:-}" ]; then
    find_tool vmagent "VMAGENT=$VMAGENT is not a program" "$VMAGENT"
else
    find_tool vmagent 'scripts/fetch-servers.sh, or the Debian package victoria-metrics' \
        "${SERIESGATE_SERVERS:-$root/build/servers/usr/bin}/vmagent" vmagent
fi
vmagent=$tool
find_tool nginx 'the Debian package nginx-light' nginx /usr/sbin/nginx
nginx=$tool
find_tool wrk 'the Debian package wrk' wrk
wrk=$tool
find_tool openssl 'the Debian package openssl' openssl

# Debian's own Python has Debian's python3-snappy; another one in the PATH may not.
python=''
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import snappy; snappy.compress' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then missing+=('snappy for Python: the Debian package python3-snappy'); fi

if [ ${#missing[@]} -gt 0 ]; then
    printf 'compare: missing %s\n' "${missing[@]}" >&2
    exit 1
fi
exec "$python" -B "$root/bench/compare" --gate="$gate" --vmagent="$vmagent" --nginx="$nginx" --wrk="$wrk" "$@"
