#!/usr/bin/env bash
# One limit for three gates, on loopback: HAProxy goes round them, they share their counts through Redis or Valkey, and
# VictoriaMetrics behind them gets as many series as one gate would have let in.
#
#   scripts/demo-fleet.sh [--limit N] [--explode N] [--store redis-server|valkey-server]
#
# Builds what is missing, starts all of it, and sends the traffic of scripts/example-traffic.py with an explosion (--explode,
# 20000 series) into a limit of N series an hour (--limit, 5000). Then one gate is killed and started again, and as many other
# series come. Says who counted what, stops everything it started, and exits with 0 only if the limit held. It needs
# HAProxy, Python and the store's program (scripts/install-deps.sh --test; of Valkey, scripts/fetch-servers.sh).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

usage() { echo "usage: scripts/demo-fleet.sh [--limit N] [--explode N] [--store redis-server|valkey-server]" >&2; }
limit=5000 explode=20000 store=redis-server
while [ $# -gt 0 ]; do
    case $1 in
        --limit=* | --explode=* | --store=*) flag=${1%%=*} value=${1#*=} ;;
        --limit | --explode | --store) flag=$1 value=${2:-}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage; exit 1 ;;
    esac
    if [ "$flag" = --store ] && [[ $value != redis-server && $value != valkey-server ]]; then
        echo "demo-fleet: --store is redis-server or valkey-server" >&2
        exit 1
    elif [ "$flag" != --store ] && ! [[ $value =~ ^[1-9][0-9]{0,5}$ ]]; then
        echo "demo-fleet: $flag needs a number from 1 to 999999" >&2
        exit 1
    fi
    declare "${flag#--}=$value"
    shift || true
done

export PATH=$PATH:/usr/sbin # where haproxy is, also if that is not in a user's
"$root/scripts/install-deps.sh"
wanted=(victoria-metrics)
if [ "$store" = valkey-server ]; then wanted+=(valkey-server); fi
"$root/scripts/fetch-servers.sh" "${wanted[@]}"
export PATH=$PATH:$root/build/servers/usr/bin
for program in haproxy python3 "$store"; do
    if ! command -v "$program" >/dev/null; then
        echo "demo-fleet: there is no $program here; scripts/install-deps.sh --test installs it" >&2
        exit 1
    fi
done
build_release

left=$((3600 - $(date +%s) % 3600))
if [ "$left" -lt 60 ]; then
    echo "demo-fleet: the hour ends in $left s, and limits begin anew: waiting for that"
    sleep "$left"
fi

demo="demo-fleet"
# shellcheck source=scripts/demo-lib.sh
. "$root/scripts/demo-lib.sh"
free_port 8428; database=127.0.0.1:$port
free_port 6390; shared=127.0.0.1:$port
free_port 8443; balancer=127.0.0.1:$port
gates=()
for preferred in 9211 9212 9213; do free_port $preferred; gates+=("127.0.0.1:$port"); done

start victoria-metrics victoria-metrics -storageDataPath="$data/database" -httpListenAddr="$database" -retentionPeriod=1 \
    -memory.allowedPercent=10
started victoria-metrics "http://$database/health"

start "$store" "$store" --port "${shared#*:}" --bind 127.0.0.1 --dir "$data" --save '' # the gates wait until it answers

head -c 32 /dev/urandom >"$data/secret"
# Nothing is held back for gates that do not hear the store, so that the counts come to the limit, to the series.
cat >"$data/seriesgate.yaml" <<EOF
upstream: {url: "http://$database/api/v1/write", protocol: v1}
maxHourlySeries: $limit
falsePositiveRate: 0.000000001
fingerprint: {secretFile: $data/secret}
shared: {url: "redis://$shared/0", onUnavailable: refuse}
EOF
start_gate() { # NUMBER
    start "gate-$1" "$(gate_binary release)" --config.file="$data/seriesgate.yaml" --listen="${gates[$1 - 1]}"
    gate_processes[$1]=${children[-1]}
    started "gate-$1" "http://${gates[$1 - 1]}/-/ready"
}
has_joined() { # NUMBER
    local deadline=$((SECONDS + 20))
    until ask "http://${gates[$1 - 1]}/stats" | tr -d ' \n' | grep -q '"shared":{[^{}]*"state":"joined"'; do
        [ $SECONDS -lt $deadline ] || give_up "gate-$1 does not join the others" "$data/gate-$1.log"
        sleep 0.1
    done
}
gate_processes=()
for number in 1 2 3; do start_gate $number; done
for number in 1 2 3; do has_joined $number; done

# deploy/haproxy-shared.cfg with the addresses of this run, without TLS and a user of its own.
sed -e "s|bind :8443 .*|bind $balancer|" -e '/^    \(user\|group\) haproxy$/d' -e 's/maxconn 8000 /maxconn 400 /' \
    -e "s|10.0.0.11:9201|${gates[0]}|" -e "s|10.0.0.12:9201|${gates[1]}|" -e "s|10.0.0.13:9201|${gates[2]}|" \
    "$root/deploy/haproxy-shared.cfg" >"$data/haproxy.cfg"
start haproxy haproxy -db -f "$data/haproxy.cfg"
started haproxy "http://$balancer/-/ready"

echo
show HAProxy "http://$balancer/api/v1/write" "each request to the next gate"
for number in 1 2 3; do
    show "gate-$number" "http://${gates[$number - 1]}/" "admits series while all three have admitted fewer than $limit"
done
show "$store" "redis://$shared/0" "what the gates have admitted, together"
show VictoriaMetrics "http://$database/vmui" "what arrived"

send() { # RELEASE WHAT
    printf '\n%s\n' "$2"
    "$root/scripts/example-traffic.py" "http://$balancer" --explode "$explode" --release "$1" || give_up "HAProxy did not answer" \
        "$data/haproxy.log"
}

# Whether the database has exactly the limit, when it has had time to show what it got.
stored=0
holds() {
    local deadline=$((SECONDS + 10))
    while :; do
        ask "http://$database/internal/force_flush"
        stored=$(series_stored "$database")
        if [ "${stored:-0}" -ge "$limit" ] || [ $SECONDS -ge $deadline ]; then break; fi
        sleep 0.2
    done
    [ "$stored" = "$limit" ]
}

figures() {
    local number stats
    for number in 1 2 3; do
        stats=$(ask "http://${gates[$number - 1]}/stats")
        printf 'gate-%s: %s samples received, %s accepted; hour %s of %s series\n' "$number" \
            "$(json_number samples received <<<"$stats")" "$(json_number samples accepted <<<"$stats")" \
            "$(json_number hourly currentSeries <<<"$stats")" "$limit"
    done
}

send 1 "An explosion, through all three gates:"
figures
holds || give_up "VictoriaMetrics has ${stored:-no} series, the limit is $limit"
echo "VictoriaMetrics: $stored series, the limit is $limit"

kill -KILL "${gate_processes[2]}"
wait "${gate_processes[2]}" 2>/dev/null || true # or the shell would say that it was killed
start_gate 2
has_joined 2
send 2 "gate-2 has been killed and started again. Other series, as many:"
figures
holds || give_up "VictoriaMetrics has ${stored:-no} series, the limit is $limit"
echo "VictoriaMetrics: $stored series, the limit is $limit"
echo "demo-fleet: the limit held; stopping"
