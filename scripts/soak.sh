#!/usr/bin/env bash
# Runs everything at once for a while: scripts/soak.sh [--minutes 30] [--seed N]
#
# Builds the release binary if it is not there (SERIESGATE_BIN: another one, such as a sanitizer's), and puts it between three
# senders and a store with three backends: remote write 1 and 2, series that come and go, a reload every ten seconds, backends that are
# killed and opened again, senders that lose their connection. Half of the time all of them speak TLS, and the gate gets a new
# certificate with each reload. After each minute every sample that was acknowledged has to be in the store as it was sent, or
# counted as refused, and nothing else; the gate's own account has to come out even, and its memory and descriptors may not grow.
# Prints a line a minute, and the seed; exit 0 only if all held.
# Needs what scripts/install-deps.sh --test installs.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

for argument in "$@"; do
    case $argument in
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    esac
done
if [ -z "${SERIESGATE_BIN:-}" ] && [ ! -x "$(gate_binary release)" ]; then build_release; fi
# Debian's own Python, for that is the one which has Debian's python3-snappy.
PYTHONPATH=$root/tests/e2e exec /usr/bin/python3 -B "$root/tests/attacks/soak.py" "$@"
