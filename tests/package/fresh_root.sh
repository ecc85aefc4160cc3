#!/usr/bin/env bash
# The life of the package in a Debian that has never seen it: tests/package/fresh_root.sh PACKAGE.deb
#
# Run as root in a system of its own (scripts/debian-root.sh --fresh), by scripts/test-package.sh. Gets what the package needs,
# makes a later version of it, starts systemd as the first process of a container without a network, and has booted.sh go on in
# there. Exit status 77: it cannot be started here, and the last line says why.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
first=$(realpath "$1")
export DEBIAN_FRONTEND=noninteractive

quietly() { # COMMAND...: its output only if it fails
    "$@" >/tmp/quietly.log 2>&1 || { cat /tmp/quietly.log; exit 1; }
}

quietly apt-get update
quietly apt-get install -y --no-install-recommends systemd dbus curl man-db procps
quietly apt-get install -y --no-install-recommends --download-only "$first"

# The later version has another default configuration, about which dpkg has to decide.
later=/var/tmp/later
second=$later.deb
dpkg-deb --raw-extract "$first" "$later"
sed -i 's/^Version: \(.*\)/Version: \1+later/' "$later/DEBIAN/control"
echo '# Of a later version.' >>"$later/etc/seriesgate/seriesgate.yaml"
quietly dpkg-deb --root-owner-group --build "$later" "$second"
rm -r "$later"

# systemd in namespaces of its own, and in a control group that is the root of what it sees. It must not reach the machine's
# settings, so /proc/sys and /sys are read-only. basic.target: journal and bus, and no logins.
cgroups=/run/cgroups
group=$cgroups/seriesgate-package-$$
mkdir -p "$cgroups"
if ! why=$(mount -t cgroup2 cgroup2 "$cgroups" 2>&1 && mkdir "$group" 2>&1); then
    echo "fresh_root: no control groups: $why"
    exit 77
fi
cat >/tmp/boot.sh <<'END'
set -e
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
mount -t sysfs -o ro sysfs /sys
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec env -i container=seriesgate-test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    /lib/systemd/systemd --log-target=null --unit=basic.target
END
(
    echo 0 >"$group/cgroup.procs"
    exec unshare --pid --mount --uts --ipc --net --cgroup --fork --kill-child sh /tmp/boot.sh
) >/tmp/boot.log 2>&1 </dev/null &
unshare=$!
end() {
    kill -KILL "$unshare" 2>/dev/null || true
    wait "$unshare" 2>/dev/null || true
    local deadline=$((SECONDS + 10))
    until find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || [ $SECONDS -ge $deadline ]; do sleep 0.1; done
}
trap end EXIT

booted() { # COMMAND...: in there
    nsenter --target "$systemd" --all --root --wd=/ env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}

systemd=''
deadline=$((SECONDS + 60))
until [ -n "$systemd" ] && booted systemctl is-active --quiet basic.target dbus.socket 2>/dev/null; do
    if ! kill -0 "$unshare" 2>/dev/null || [ $SECONDS -ge $deadline ]; then
        echo "fresh_root: systemd does not start here: $(tail -n 1 /tmp/boot.log)"
        exit 77
    fi
    sleep 0.2
    systemd=$(pgrep --parent "$unshare" || true)
done
booted "$here/booted.sh" "$first" "$second" /src/tests/data/prometheus-3.5-v1
