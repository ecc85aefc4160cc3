#!/usr/bin/env bash
# The whole chain on loopback, and an explosion: Prometheus, scraping itself and the gate, writes through the gate into VictoriaMetrics,
# and so does an invented platform of 10,740 series (scripts/example-traffic.py).
#
#   scripts/demo.sh [--limit N] [--explode-after N] [--explode N] [--seconds N]
#
#   --limit N           series that the gate admits in an hour (15000: all that is healthy, and little else)
#   --explode-after N   seconds until a label explodes: each request of one service gets a trace_id (20)
#   --explode N         values that the label comes to have, a fifth of them with every scrape (10000)
#   --seconds N         ends after so many; else Ctrl-C ends it (0: never)
#
# Builds what is missing, starts the three, prints their addresses and a line of figures every few seconds. Once the label explodes it
# prints who was refused, what the gate says of it, and the address of the page that has the rule to paste. Ctrl-C, or the end of
# --seconds, stops everything it started. With --seconds the exit status says whether samples reached the store. It needs Python 3.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}
limit=15000 explode_after=20 explode=10000 seconds=0 # 0: until Ctrl-C
while [ $# -gt 0 ]; do
    case $1 in
        --limit=* | --explode-after=* | --explode=* | --seconds=*) flag=${1%%=*} value=${1#*=} ;;
        --limit | --explode-after | --explode | --seconds) flag=$1 value=${2:-}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 1 ;;
    esac
    if ! [[ $value =~ ^[1-9][0-9]{0,8}$ ]]; then
        echo "demo: $flag needs a number above 0" >&2
        exit 1
    fi
    flag=${flag#--}
    declare "${flag//-/_}=$value"
    shift || true
done

"$root/scripts/install-deps.sh"
"$root/scripts/fetch-servers.sh" prometheus victoria-metrics
if ! command -v python3 >/dev/null; then
    echo "demo: there is no python3 here; scripts/install-deps.sh --test installs it" >&2
    exit 1
fi
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

cat >"$data/seriesgate.yaml" <<EOF
listen: $gate
upstream: {url: "http://$store/api/v1/write", protocol: v1}
maxHourlySeries: $limit
EOF
start seriesgate "$(gate_binary release)" --config.file="$data/seriesgate.yaml"
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

# One scrape of the invented platform, with so many values of the label that explodes.
platform() { # VALUES
    "$root/scripts/example-traffic.py" "http://$gate" --explode "$1" >"$data/platform" 2>&1 || give_up "$(tail -n 1 "$data/platform")" \
        "$data/seriesgate.log"
}

# What the gate has found, once it has a rule for the label.
said=''
say_finding() {
    said=$(ask "http://$gate/api/v1/findings?limit=1" |
        sed -n 's/.*"label":"trace_id".*"text":"\(\([^"\\]\|\\.\)*\)".*"relabel":"[^"].*/\1/p' | sed 's/\\"/"/g')
    if [ -n "$said" ]; then
        printf '\nthe gate says: %s\n  who it is, and the rule to paste that stops it: http://%s/\n\n' "$said" "$gate"
    fi
}

SECONDS=0 next=3 scrape=0 values=0
while [ "$seconds" = 0 ] || [ $SECONDS -lt "$seconds" ]; do
    for child in "${children[@]}"; do
        kill -0 "$child" 2>/dev/null || give_up "one of the three ended by itself" "$data/seriesgate.log"
    done
    if [ $SECONDS -ge $scrape ]; then
        scrape=$((SECONDS + 3))
        if [ $SECONDS -ge "$explode_after" ] && [ "$values" -lt "$explode" ]; then
            if [ "$values" = 0 ]; then
                printf '\na label explodes: each request of the namespace checkout gets a trace_id. Refused are new series only:\n'
            fi
            values=$((values + (explode + 4) / 5))
            if [ "$values" -gt "$explode" ]; then values=$explode; fi
            platform "$values"
            sed 's/^/  /' "$data/platform"
        else
            platform "$values"
        fi
        if [ "$values" -gt 0 ] && [ -z "$said" ]; then say_finding; fi
    fi
    if [ $SECONDS -ge $next ]; then
        summary
        next=$((SECONDS + 3))
    fi
    sleep 0.2
done

summary
if [ "${accepted:-0}" = 0 ] || [ "${stored:-0}" = 0 ]; then give_up "no sample reached the store"; fi
echo "demo: stopping"
