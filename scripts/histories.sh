#!/usr/bin/env bash
# Runs random histories of a gate, its senders and its stores: scripts/histories.sh [--preset release] [--first SEED]
# [--count N | --seconds N]
#
# A process for each core; each has seeds of its own. With --seconds the seeds go on where the last such run ended:
# build/next-history says where. A seed that went wrong has a line that names it, and runs alone by
# build/release/histories --first SEED --count 1. Exit status: 0, or 1 if something did not hold.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

preset=release first='' count=1000 seconds=0
while [ $# -gt 0 ]; do
    case $1 in
        --preset) preset=$2; shift 2 ;;
        --first) first=$2; shift 2 ;;
        --count) count=$2; shift 2 ;;
        --seconds) seconds=$2; shift 2 ;;
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "histories: what is $1? See --help" >&2; exit 1 ;;
    esac
done
next=$root/build/next-history
if [ -z "$first" ] && [ "$seconds" != 0 ] && [ -e "$next" ]; then first=$(cat "$next"); fi
first=${first:-1}

jobs=$(nproc) apart=100000000 # seeds between those of two processes
running=()
for ((job = 0; job < jobs; job++)); do
    "$root/build/$preset/histories" --first $((first + job * apart)) --count $(((count + jobs - 1) / jobs)) \
        --seconds "$seconds" &
    running+=($!)
done
status=0
for process in "${running[@]}"; do wait "$process" || status=1; done
if [ "$seconds" != 0 ]; then echo $((first + 1000000)) >"$next"; fi
exit "$status"
