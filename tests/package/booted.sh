#!/usr/bin/env bash
# Installs, starts, uses, reloads, upgrades, removes and purges the package where systemd runs:
# tests/package/booted.sh FIRST.deb SECOND.deb REQUESTS
#
# REQUESTS is a folder with recorded requests of 31,817 series. Prints what holds, a line each, and ends with 1 at what does not.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=scripts/lib.sh
. "$root/scripts/lib.sh"
first=$1 second=$2 requests=$3
gate=http://127.0.0.1:9201
configuration=/etc/seriesgate/seriesgate.yaml
installed=/tmp/installed.log
elsewhere=/run/systemd/system/seriesgate.socket.d

fail() { # WHAT
    echo "FAILED: $1"
    systemctl status --no-pager --lines=20 seriesgate.service 2>/dev/null || true
    tail -n 20 "$installed" 2>/dev/null || true
    exit 1
}

holds() { # WHAT COMMAND...
    local what=$1
    shift
    "$@" || fail "$what"
    echo "ok $what"
}

equal() { # ACTUAL EXPECTED
    [ "$1" = "$2" ] || { echo "$1, not $2"; return 1; }
}

fails() { # COMMAND...
    ! "$@"
}

apt() {
    apt-get -o Dpkg::Use-Pty=0 -y --no-install-recommends "$@" >"$installed" 2>&1 </dev/null
}

ready() {
    local deadline=$((SECONDS + 30))
    until [ "$(curl -s -o /dev/null -w '%{http_code}' -m 2 "$gate/-/ready")" = 200 ]; do
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.1
    done
}

send_all() { # each request, once
    local body
    for body in "$requests"/*.snappy; do
        curl -sf -m 20 -o /dev/null --data-binary "@$body" -H 'Content-Type: application/x-protobuf' \
            -H 'Content-Encoding: snappy' "$gate/api/v1/write" || return 1
    done
}

hourly() { # KEY: of /stats
    curl -sf -m 10 "$gate/stats" | json_number hourly "$1"
}

set_key() { # KEY VALUE: at the top of the configuration
    sed -i "s|^$1: .*|$1: $2|" "$configuration"
}

runs() {
    systemctl is-active --quiet seriesgate.service
}

unnoticed() { # COMMAND...: meanwhile every connection is accepted and answered
    local asking=/tmp/asking refused=/tmp/refused
    touch "$asking"
    (while [ -e "$asking" ]; do
        curl -s -o /dev/null -m 30 "$gate/-/healthy" || echo "curl: $?" >>"$refused"
    done) &
    "$@" || return 1
    ready || return 1
    rm "$asking"
    wait $!
    [ ! -e "$refused" ] || { sort "$refused" | uniq -c; return 1; }
}

commands_for_the_socket() { # of docs/upgrades.md
    sed -n '/^## Without losing a request/,/^## /{/^systemctl /p}' "$root/docs/upgrades.md"
}

owner_and_mode() { # PATH
    stat -c '%U:%G %a' "$1"
}

# What is counted in an hour must not end in another one.
left=$((3600 - $(date +%s) % 3600))
if [ "$left" -lt 120 ]; then sleep "$left"; fi

holds "it installs" apt install "$first"
holds "the service runs" runs
holds "it is started with the machine" systemctl is-enabled --quiet seriesgate.service
holds "it becomes ready" ready
holds "it runs as a user of its own" equal "$(ps -o user= -C seriesgate)" seriesgate
holds "the state is that user's alone" equal "$(owner_and_mode /var/lib/seriesgate)" "seriesgate:seriesgate 700"
holds "the configuration is the administrator's" equal "$(owner_and_mode "$configuration")" "root:root 644"
holds "the configuration is good, for root too" \
    equal "$(seriesgate --config.file="$configuration" --check-config 2>&1 | head -n 1)" "$configuration: ok"
holds "the configuration is a conffile" grep -qx "$configuration" /var/lib/dpkg/info/seriesgate.conffiles
holds "the unit is as systemd wants it" systemd-analyze verify --man=no seriesgate.service
for page in seriesgate.1 seriesgate.yaml.5; do
    holds "there is $page" man -w "${page##*.}" "${page%.*}"
done
for file in bash-completion/completions/seriesgate zsh/vendor-completions/_seriesgate \
    fish/vendor_completions.d/seriesgate.fish doc/seriesgate/{copyright,third-party-notices.txt.gz,README.md,docs/configuration.md} \
    doc/seriesgate/examples/{seriesgate.yaml,monitoring/alerts.yaml}; do
    holds "there is $file" test -s "/usr/share/$file"
done

set_key '  url' '"discard:"'
set_key '  dir' "\${STATE_DIRECTORY}" # which systemd says to the gate alone
set_key maxHourlySeries 10000
holds "it restarts" systemctl restart seriesgate.service
holds "it becomes ready with a new configuration" ready
holds "it takes requests" send_all
holds "it counts to the limit" equal "$(hourly currentSeries)" 10000
process=$(systemctl show --property MainPID --value seriesgate.service)
set_key maxHourlySeries 20000
holds "it reloads" systemctl reload seriesgate.service
deadline=$((SECONDS + 20))
until [ "$(hourly maxSeries)" = 20000 ] || [ $SECONDS -ge $deadline ]; do sleep 0.1; done
holds "the new limit is in force" equal "$(hourly maxSeries)" 20000
holds "a reload is no restart" equal "$(systemctl show --property MainPID --value seriesgate.service)" "$process"
holds "it takes requests again" send_all
holds "it counts on to the new limit" equal "$(hourly currentSeries)" 20000

set_key listen unix:/run/seriesgate/gate.sock
holds "it starts at a unix socket" systemctl restart seriesgate.service
holds "the socket's folder is its group's" equal "$(owner_and_mode /run/seriesgate)" "seriesgate:seriesgate 750"
holds "it is asked there" seriesgate --health-check=unix:/run/seriesgate/gate.sock
set_key listen 127.0.0.1:9201
holds "it listens at a port again" systemctl restart seriesgate.service
holds "it becomes ready there" ready

holds "it upgrades" apt -o Dpkg::Options::=--force-confold install "$second"
holds "the second package is there" equal "$(dpkg-query -W -f '${Version}' seriesgate)" "$(dpkg-deb -f "$second" Version)"
holds "the service runs after the upgrade" runs
holds "it is another process" test "$(systemctl show --property MainPID --value seriesgate.service)" != "$process"
holds "it becomes ready after the upgrade" ready
holds "counts continue" equal "$(hourly currentSeries)" 20000
holds "the configuration is kept" grep -qx 'maxHourlySeries: 20000' "$configuration"
holds "the new one is beside it" grep -qx '# Of a later version.' "$configuration.dpkg-dist"

process=$(systemctl show --property MainPID --value seriesgate.service)
echo 'mistake: 1' >>"$configuration"
holds "it does not upgrade to a gate that rejects the configuration" fails apt install --reinstall "$second"
holds "it says why" grep -q 'mistake: unknown key' "$installed"
holds "the old gate goes on" equal "$(systemctl show --property MainPID --value seriesgate.service)" "$process"
holds "the old gate answers" ready
sed -i '/^mistake:/d' "$configuration"
holds "without the mistake it upgrades" dpkg --configure seriesgate
holds "the new gate runs" test "$(systemctl show --property MainPID --value seriesgate.service)" != "$process"
holds "the new gate becomes ready" ready

# With the socket systemd listens, and the gate serves what it is given.
holds "the socket is for who asks for it" equal "$(systemctl is-enabled seriesgate.socket || true)" disabled
holds "the socket can be had as the page says" sh -e <<<"$(commands_for_the_socket)"
holds "it is there" systemctl is-active --quiet seriesgate.socket
holds "it becomes ready behind the socket" ready
systemctl stop seriesgate.service
holds "a first connection starts the service" ready
holds "a restart refuses no connection" unnoticed systemctl restart seriesgate.service
holds "nor does an upgrade" unnoticed apt install --reinstall "$second"
holds "counts continue behind the socket" equal "$(hourly currentSeries)" 20000

# A mistake in the configuration ends the socket, too. What starts the service again has to bring it.
gate=http://127.0.0.1:9301
mkdir -p "$elsewhere"
printf '[Socket]\nListenStream=\nListenStream=%s\n' "${gate#http://}" >"$elsewhere/address.conf"
systemctl daemon-reload
systemctl stop seriesgate.socket seriesgate.service
systemctl start seriesgate.service
holds "the socket is elsewhere than listen" ready
echo 'mistake: 1' >>"$configuration"
systemctl restart seriesgate.service 2>/dev/null || true
curl -s -o /dev/null -m 30 "$gate/-/healthy" || true # has the service started until that is given up
holds "it ends the socket" systemctl is-failed --quiet seriesgate.socket
sed -i '/^mistake:/d' "$configuration"
systemctl reset-failed seriesgate.service # or ten seconds
holds "the service starts without the mistake" systemctl start seriesgate.service
holds "where the socket is" ready
rm -r "$elsewhere"
gate=http://127.0.0.1:9201
systemctl daemon-reload
systemctl stop seriesgate.socket seriesgate.service
systemctl start seriesgate.service

touch /tmp/asking
(while [ -e /tmp/asking ]; do curl -s -o /dev/null -m 5 "$gate/-/healthy" || true; done) & # senders go on
holds "it can be removed" apt remove seriesgate
rm /tmp/asking
wait $!
holds "the service has ended" test "$(systemctl is-active seriesgate.service || true)" != active
holds "so has its socket" test "$(systemctl is-active seriesgate.socket || true)" != active
holds "no gate is left" fails pgrep -x seriesgate
holds "the binary is gone" test ! -e /usr/bin/seriesgate
holds "removal keeps the configuration" test -e "$configuration"
holds "removal keeps the state" test -s /var/lib/seriesgate/state

holds "it comes back" apt install "$second"
holds "it becomes ready once more" ready
holds "it has forgotten nothing" equal "$(hourly currentSeries)" 20000

touch /etc/seriesgate/secret # what the administrator has put there goes, too
holds "it can be purged" apt purge seriesgate
holds "purging ends the service" test "$(systemctl is-active seriesgate.service || true)" != active
holds "purging takes the configuration" test ! -e /etc/seriesgate
holds "purging takes the state" test ! -e /var/lib/seriesgate

holds "it comes back after that" apt install "$second"
mount --bind /var/lib/seriesgate /var/lib/seriesgate
holds "it can be purged with a volume for its state" apt purge seriesgate
umount /var/lib/seriesgate
holds "purging empties the volume" rmdir /var/lib/seriesgate
left=$(find / -xdev \( -path /src -o -path /proc -o -path /sys -o -path /run -o -path /tmp -o -path /dev -o -path /var/tmp \
    -o -path /var/log -o -path /var/cache \) -prune -o -name '*seriesgate*' -print | sort | tr '\n' ' ')
holds "nothing else is left" equal "$left" ""
