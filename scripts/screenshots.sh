#!/usr/bin/env bash
# Makes the pictures of the status page anew that docs/operation.md shows: docs/page-light.png, docs/page-dark.png.
#
#   scripts/screenshots.sh
#
# Needs Chromium (scripts/install-deps.sh --test) and the release build, which it makes if there is none.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

if [ $# != 0 ]; then
    echo "usage: scripts/screenshots.sh" >&2
    exit 1
fi
if [ -z "${SERIESGATE_BIN:-}" ]; then build_release; fi
/usr/bin/python3 "$root/tests/e2e/page_pictures.py" "$root/docs"
