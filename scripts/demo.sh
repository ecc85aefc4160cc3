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

demo=demo
# shellcheck source=scripts/demo-lib.sh
. "$root/scripts/demo-lib.sh"
free_port 8428; store=127.0.0.1:$port
free_port 9201; gate=127.0.0.1:$port
free_port 9090; prometheus=127.0.0.1:$port

start victoria-metrics "$servers/victoria-metrics" -storageDataPath="$data/store" -httpListenAddr="$store" \
    -retentionPeriod=1 -memory.allowedPercent=10
started victoria-metrics "http://$store/health"

start seriesgate "$(gate_binary release)" --listen="$gate" --upstream.url="http://$store/api/v1/write" --upstream.protocol=v1 \
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
show Prometheus "http://$prometheus/targets" "scrapes itself and the gate, writes to the gate"
show seriesgate "http://$gate/" "admits $limit series an hour, forwards to VictoriaMetrics"
show VictoriaMetrics "http://$store/vmui" "what arrived; it stores no NaN, so series of nothing else are not counted"
echo
if [ "$seconds" = 0 ]; then echo "Ctrl-C stops all three."; fi

stored=0 accepted=0
summary() {
    local stats
    stats=$(ask "http://$gate/stats")
    stored=$(series_stored "$store")
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
