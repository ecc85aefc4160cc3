#!/usr/bin/env bash
# Installs what is missing, builds the release binary and runs it: scripts/run.sh [flags of seriesgate ...]
#
# Without --upstream.url and --config.file the upstream is `discard:`, which counts and forwards nothing, and the
# address is 127.0.0.1:9201 unless --listen says otherwise. With `discard:` the recorded requests of a real Prometheus
# (tests/data) are replayed once, so that there are figures to look at. Ctrl-C stops it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"

recorded=$root/tests/data/prometheus-3.5-v1

# What the caller's flags say about upstream, file and address; `--flag=VALUE` and `--flag VALUE` are both good.
upstream='' has_file=no has_listen=no only_asks=no
previous=''
for argument in "$@"; do
    case $argument in
        --upstream.url=*) upstream=${argument#*=} ;;
        --config.file | --config.file=*) has_file=yes ;;
        --listen | --listen=*) has_listen=yes ;;
        --check-config | --version | --help | -h) only_asks=yes ;;
        *) if [ "$previous" = --upstream.url ]; then upstream=$argument; fi ;;
    esac
    previous=$argument
done

flags=("$@")
if [ "$only_asks" = no ]; then
    if [ -z "$upstream" ] && [ "$has_file" = no ]; then
        upstream=discard:
        flags+=(--upstream.url=discard:)
    fi
    if [ "$has_listen" = no ] && [ "$has_file" = no ]; then flags+=(--listen=127.0.0.1:9201); fi
fi

"$root/scripts/install-deps.sh"
build_release
binary=$(gate_binary release)

if [ "$only_asks" = yes ] || [ "$upstream" != discard: ]; then
    exec "$binary" "${flags[@]}"
fi

# From here on the gate is a child: it is watched for its address, fed once, then waited for.
notes=$(mktemp -d)
trap 'rm -rf "$notes"' EXIT

# Passes the gate's log on, and keeps its address (port 0 in --listen is known only then) and why it did not start.
watch_log() {
    trap '' INT TERM HUP
    local line listens='"?listen"?[=:]"?([^[:space:]"]+)'  # logfmt or JSON
    while IFS= read -r line; do
        printf '%s\n' "$line" >&2
        if [[ $line =~ $listens ]]; then echo "${BASH_REMATCH[1]}" >"$notes/address"; fi
        if [[ $line == *"in use"* ]]; then touch "$notes/in-use"; fi
    done
}

exec {log}> >(watch_log)
log_watcher=$!
set -m # a process group of its own: Ctrl-C reaches this script only, which then asks the gate to drain, once
"$binary" "${flags[@]}" 2>&"$log" {log}>&- </dev/null &
gate=$!
set +m
exec {log}>&-
asked_to_stop=no interrupted=no
trap 'asked_to_stop=yes interrupted=yes; kill -TERM "$gate" 2>/dev/null || true' INT TERM HUP

# Its exit status. A signal interrupts the waiting with a status of its own; then ask again, bash remembers the real one.
wait_for_gate() {
    local status
    while :; do
        status=0 interrupted=no
        wait "$gate" || status=$?
        [ "$interrupted" = yes ] || break
    done
    wait "$log_watcher" || true # the last lines of the log come before our own
    return "$status"
}

# The gate's address as a client on this machine reaches it, or nothing if it ended first.
gate_address() {
    local deadline=$((SECONDS + 30)) address
    until [ -s "$notes/address" ]; do
        if ! kill -0 "$gate" 2>/dev/null || [ $SECONDS -ge $deadline ]; then return 1; fi
        sleep 0.05
    done
    address=$(cat "$notes/address")
    address=${address/#0.0.0.0:/127.0.0.1:}
    echo "${address/#\[::\]:/[::1]:}"
}

replay() { # ADDRESS
    local body status sent=0 total=0
    for body in "$recorded"/*.snappy; do
        if [ "$asked_to_stop" = yes ]; then return 0; fi
        total=$((total + 1))
        status=$(curl -sS -m 30 -o /dev/null -w '%{http_code}' --data-binary "@$body" \
            -H 'Content-Type: application/x-protobuf' -H 'Content-Encoding: snappy' \
            -H 'X-Prometheus-Remote-Write-Version: 0.1.0' "http://$1/api/v1/write") || status="no answer"
        case $status in
            2??) sent=$((sent + 1)) ;;
            *) echo "run: ${body##*/} was answered: $status" >&2 ;;
        esac
    done
    echo "run: replayed $sent of $total recorded requests. http://$1/stats now says:"
}

if ! address=$(gate_address); then
    status=0
    wait_for_gate || status=$?
    if [ -e "$notes/in-use" ]; then
        echo "run: is another one running? Choose a free port with --listen=127.0.0.1:PORT" >&2
    fi
    exit "$status"
fi

if wait_ready "http://$address/-/ready" "$gate" 30 && [ -d "$recorded" ]; then
    replay "$address"
    if [ "$asked_to_stop" = no ] && stats=$(curl -fsS -m 10 "http://$address/stats"); then
        json_indent <<<"$stats"
        echo "run: $(json_number samples received <<<"$stats") samples of" \
            "$(json_number hourly currentSeries <<<"$stats") distinct series," \
            "$(json_number samples refused <<<"$stats") samples refused"
    fi
fi
if [ "$asked_to_stop" = no ]; then
    echo "run: up. Send remote write to http://$address/api/v1/write, open http://$address/ in a browser; Ctrl-C stops."
fi
wait_for_gate
