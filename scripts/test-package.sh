#!/usr/bin/env bash
# Builds the Debian package and tries it, on Debian 12 and 13, each in roots of its own: scripts/test-package.sh [SUITE...]
#
# It is built, looked at by lintian, and then installed, started by systemd, used, reloaded, upgraded, removed and purged in a
# system that was fresh: tests/package says what has to hold. SUITE is bookworm or trixie; without any, both. The packages are
# left in build/debian12/build/packages and build/debian13/build/packages.
#
# Exit status: 0, 1, or 77 where this machine cannot do it, and the last line says why.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ${1-} in -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;; esac
if [ $# = 0 ]; then set -- bookworm trixie; fi

in_root() { # COMMAND...
    "$root/scripts/debian-root.sh" "$@"
}

for suite in "$@"; do
    echo "test-package: $suite"
    in_root "$suite" scripts/package.sh --lint
    "$root/scripts/debian-root.sh" --save "$suite"
    # shellcheck disable=SC2016 # for the shell in there
    in_root --fresh "$suite" sh -c 'exec tests/package/fresh_root.sh "$(ls -t build/packages/seriesgate_*.deb | head -n 1)"'
done
