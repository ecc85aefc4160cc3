#!/usr/bin/env bash
# What senders notice of an hour's end when gates share a limit, on this machine: bench/edge.sh [options]
#
# Three gates behind nginx, which goes round them, count by one Redis on loopback. Every series is known to each of them. A load
# is measured in the middle of the hour, and once more from two seconds before its end. All clocks are ahead so that this
# is soon.
#
#   --series N    that come all the time (1000000), in requests of 2,000
#   --rate N      requests a second, to all gates together (100)
#   --seconds N   how long each of the two loads lasts (30)
#   --gates N     (3)
#   --midnight    the hour is a day's last: days are limited, too
#   --refill      no load: the store loses everything, and the gates refill hour and day. How long that takes.
#
# Needs wrk, nginx-light, redis-server, cc and python3-snappy. From the environment:
#   SERIESGATE_BIN          the gate (build/release/seriesgate)
#   SERIESGATE_REDIS_SERVER the shared store's program (redis-server)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

for argument in "$@"; do
    case $argument in
        -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    esac
done
exec /usr/bin/python3 -B "$root/bench/compare/edge.py" "$@"
