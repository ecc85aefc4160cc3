#!/usr/bin/env bash
# The whole chain on loopback: Prometheus, scraping itself and the gate, writes through the gate into VictoriaMetrics.
#
#   scripts/demo.sh [--limit N] [--seconds N]
#
# Builds what is missing, starts the three, prints their addresses and a line of figures every few seconds. The gate
# admits N series an hour (--limit, 400), fewer than Prometheus offers, so that refusals are seen. Ctrl-C, or the end
# of --seconds, stops everything it started. With --seconds the exit status says whether samples reached the store.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

usage() { echo "usage: scripts/demo.sh [--limit N] [--seconds N]" >&2; }
limit=400 seconds=0 # 0: until Ctrl-C
while [ $# -gt 0 ]; do
    case $1 in
        --limit=* | --seconds=*) flag=${1%%=*} value=${1#*=} ;;
        --limit | --seconds) flag=$1 value=${2:-}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage; exit 1 ;;
    esac
    if ! [[ $value =~ ^[1-9][0-9]{0,8}$ ]]; then
        echo "demo: $flag needs a number above 0" >&2
        exit 1
    fi
    declare "${flag#--}=$value"
    shift || true
done

"$root/scripts/install-deps.sh"
"$root/scripts/fetch-servers.sh" prometheus victoria-metrics
build_release
servers=$root/build/servers/usr/bin

mkdir -p "$root/build/demo"
data=$(mktemp -d "$root/build/demo/run.XXXXXX")
children=() # in the order of their start
failed=no

clean_up() {
    trap '' INT TERM HUP # a second Ctrl-C must not leave half of them running
    local at
    for ((at = ${#children[@]} - 1; at >= 0; at--)); do stop_child "${children[at]}" 10; done
    if [ "$failed" = yes ]; then
        echo "demo: the logs are in ${data#"$root"/}" >&2
    else
        rm -rf "$data"
    fi
}
trap clean_up EXIT
trap 'echo "demo: stopping"; exit 0' INT TERM HUP

give_up() { # REASON [LOG]
    failed=yes
    echo "demo: $1" >&2
    if [ -n "${2:-}" ]; then tail -n 15 "$2" >&2; fi
    exit 1
}

is_free() { ! (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
ports_taken=' '
free_port() { # PREFERRED: sets `port`, to the preferred one if nobody listens there
    port=$1
    while [[ $ports_taken == *" $port "* ]] || ! is_free "$port"; do
        port=$((20000 + RANDOM % 12000)) # below the range that outgoing connections take theirs from
    done
    ports_taken+="$port "
}
free_port 8428; store=127.0.0.1:$port
free_port 9201; gate=127.0.0.1:$port
free_port 9090; prometheus=127.0.0.1:$port

# Each in a process group of its own: Ctrl-C reaches this script alone, which stops them sender first.
start() { # NAME COMMAND...
    local name=$1
    shift
    set -m
    "$@" >"$data/$name.log" 2>&1 </dev/null &
    set +m
    children+=($!)
}
started() { # NAME URL
    wait_ready "$2" "${children[-1]}" 60 || give_up "$1 did not start" "$data/$1.log"
}

start victoria-metrics "$servers/victoria-metrics" -storageDataPath="$data/store" -httpListenAddr="$store" \
    -retentionPeriod=1 -memory.allowedPercent=10
started victoria-metrics "http://$store/health"

start seriesgate "$(gate_binary release)" --listen="$gate" --upstream.url="http://$store/api/v1/write" \
    --maxHourlySeries="$limit"
started seriesgate "http://$gate/-/ready"

cat >"$data/prometheus.yml" <<EOF
global:
  scrape_interval: 1s
  scrape_timeout: 1s
  external_labels: {cluster: demo}
scrape_configs:
  - job_name: prometheus
    static_configs: [{targets: ['$prometheus']}]
  - job_name: seriesgate
    static_configs: [{targets: ['$gate']}]
remote_write:
  - url: http://$gate/api/v1/write
    queue_config: {batch_send_deadline: 1s}
EOF
start prometheus "$servers/prometheus" --config.file="$data/prometheus.yml" --storage.tsdb.path="$data/prometheus" \
    --web.listen-address="$prometheus" --log.level=warn
started prometheus "http://$prometheus/-/ready"

echo
show() { printf '  %-16s %-46s %s\n' "$@"; }
show Prometheus "http://$prometheus/targets" "scrapes itself and the gate, writes to the gate"
show seriesgate "http://$gate/" "admits $limit series an hour, forwards to VictoriaMetrics"
show VictoriaMetrics "http://$store/vmui" "what arrived; it stores no NaN, so series of nothing else are not counted"
echo
if [ "$seconds" = 0 ]; then echo "Ctrl-C stops all three."; fi

ask() { curl -fsS -m 2 "$1" 2>/dev/null || true; }
stored=0 accepted=0
summary() {
    local stats
    stats=$(ask "http://$gate/stats")
    stored=$(ask "http://$store/api/v1/series/count" | tr -dc '0-9,[]' | sed -n 's/.*\[\([0-9]*\)\].*/\1/p')
    accepted=$(json_number samples accepted <<<"$stats")
    printf '%s  samples %s received, %s accepted, %s refused | hour %s of %s series, about %s refused | store %s series\n' \
        "$(date +%T)" "$(json_number samples received <<<"$stats")" "$accepted" \
        "$(json_number samples refused <<<"$stats")" "$(json_number hourly currentSeries <<<"$stats")" "$limit" \
        "$(json_number hourly refusedSeries <<<"$stats")" "$stored"
}

SECONDS=0 next=3
while [ "$seconds" = 0 ] || [ $SECONDS -lt "$seconds" ]; do
    for child in "${children[@]}"; do
        kill -0 "$child" 2>/dev/null || give_up "one of the three ended by itself" "$data/seriesgate.log"
    done
    if [ $SECONDS -ge $next ]; then
        summary
        next=$((SECONDS + 3))
    fi
    sleep 0.2
done

summary
if [ "${accepted:-0}" = 0 ] || [ "${stored:-0}" = 0 ]; then give_up "no sample reached the store"; fi
echo "demo: stopping"
