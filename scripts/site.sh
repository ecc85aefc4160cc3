#!/usr/bin/env bash
# Makes the documents a site: scripts/site.sh [--into FOLDER]
#
# Into build/site, which is emptied before; or with --into into a site of earlier versions, which stay:
#   VERSION/         a page for each of README.md, docs/ and what they link to; the same page's Markdown beside it, and the
#                    other files that pages link to, each in the folder where the repository has it
#   VERSION/llms.txt what there is to read, a sentence each (https://llmstxt.org)
#   versions.json    the versions, newest first, as the menu in the pages' head reads them
#   index.html, llms.txt   lead to the newest version
# Nothing in it comes from another host. Serve it by any web server: (cd build/site && python3 -m http.server).
# Needs mkdocs-material of Debian 12 or 13: scripts/install-deps.sh --site. The last line says where the site is.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

into=''
while [ $# -gt 0 ]; do
    case $1 in
        --into) into=${2?--into needs a folder}; shift ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "usage: scripts/site.sh [--into FOLDER]" >&2; exit 1 ;;
    esac
    shift
done

if ! /usr/bin/python3 -c 'import mkdocs.utils, pymdownx; assert "material" in mkdocs.utils.get_theme_names()' 2>/dev/null; then
    echo "site: mkdocs-material is missing: run scripts/install-deps.sh --site" >&2
    exit 1
fi
export_source_facts
if [ -z "$into" ]; then
    into=build/site
    rm -rf "$into"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -B scripts/site_pages.py "$into" --version "$SERIESGATE_VERSION" --work "$work"
echo "site: $SERIESGATE_VERSION in $into/$SERIESGATE_VERSION"
