#!/bin/bash
# Exit 0 if the gate of this container answers /-/healthy: seriesgate-healthcheck [PORT]
#
# bash speaks enough HTTP for that, so the image needs no curl. PORT is that of `listen`, 9201 unless changed; then set
# SERIESGATE_PORT in the container's environment.
set -eu
port=${1:-${SERIESGATE_PORT:-9201}}
exec 3<>"/dev/tcp/127.0.0.1/$port"
printf 'GET /-/healthy HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' >&3
read -r -t 3 status_line <&3 || exit 1 # Docker knows no other code
[[ $status_line == "HTTP/1."?" 200 "* ]]
