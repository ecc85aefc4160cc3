#!/usr/bin/env bash
# Tries artefacts of a release as somebody who has only these: scripts/test-release.sh FILE...
#
# A package is installed, and the archive with a binary unpacked, in a Debian 12 or 13 that debootstrap has just made; an image runs as its
# user. Then the traffic of docs/limits.md comes from out here, and within a minute of the first command the gate has to
# name the culprit. What is for arm64 runs by emulation on another machine. The last lines are a table:
# way, seconds, size. Exit status: 0, 1, or 77 where this machine cannot do it, and the last line says why.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case ${1-} in
    -h | --help) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    '') echo "usage: scripts/test-release.sh FILE..." >&2; exit 1 ;;
esac
# shellcheck source=scripts/own-buildah.sh
. "$root/scripts/own-buildah.sh"

native=$(dpkg --print-architecture) port=19201 table=()
config=$(printf '%s\n' 'upstream: {url: "discard:"}' 'maxHourlySeries: 15000')

# Where the gate runs, $shared is /src/build. What prepares the emulation is not counted.
shared='' # build/debian12/build or build/debian13/build
in_debian() { # SUITE ARCHITECTURE FILE
    rm -f "$shared"/seriesgate*
    cp "$3" "$shared/"
    # shellcheck disable=SC2016 # for the shell in there
    env -u SERIESGATE_OWN_MOUNTS scripts/debian-root.sh --fresh "$1" sh -euc '
        file=$1 architecture=$2 config=$3 port=$4 emulator=
        if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
            dpkg --add-architecture "$architecture"
            apt-get update -qq
            apt-get install -qq --no-install-recommends qemu-user-static "libc6:$architecture" >/dev/null
            emulator=qemu-aarch64-static
        fi
        cd /tmp
        touch /src/build/begun
        case $file in
            *.deb)
                apt-get update -qq
                DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends "$file" >/dev/null
                gate=/usr/bin/seriesgate
                ;;
            *)
                tar -xzf "$file"
                cd seriesgate-*
                gate=./seriesgate
                ;;
        esac
        printf "%s\n" "$config" >first.yaml
        $emulator $gate --config.file=first.yaml --listen="127.0.0.1:$port" &
        until [ -e /src/build/end ]; do sleep 0.1; done
        kill $!
        wait' sh "/src/build/${3##*/}" "$2" "$config" "$port"
}

# The image of one architecture, out of the archive with both, in a store that has nothing else.
fresh_buildah() { buildah --root "$home/fresh" --runroot "$home/fresh-run" "$@"; }
in_image() { # - ARCHITECTURE FILE
    local container mounted emulator=()
    container=$(fresh_buildah from --arch "$2" "oci-archive:$3")
    mounted=$(fresh_buildah mount "$container")
    printf '%s\n' "$config" >"$mounted/etc/seriesgate/first.yaml"
    if [ "$2" != "$native" ]; then
        cp "$(command -v qemu-aarch64-static)" "$mounted/tmp/emulator"
        emulator=(/tmp/emulator)
    fi
    touch "$shared/begun"
    chroot --userspec=10001:10001 "$mounted" "${emulator[@]}" /usr/bin/seriesgate \
        --config.file=/etc/seriesgate/first.yaml --listen="127.0.0.1:$port" &
    until [ -e "$shared/end" ]; do sleep 0.1; done
    kill $!
    wait $!
    fresh_buildah rm "$container" >/dev/null
    fresh_buildah rmi --all --force >/dev/null
}

culprit_named() {
    curl -fsS "http://127.0.0.1:$port/api/v1/findings" | grep -q '"label":"trace_id"'
}

name_the_culprit() { # TITLE FILE START ARGUMENTS...: START runs the gate until $shared/end is there
    local title=$1 file=$2 inside began log
    log=$root/build/release-$((${#table[@]} + 1)).log
    mkdir -p "$shared"
    rm -f "$shared"/{begun,end}
    "${@:3}" >"$log" 2>&1 &
    inside=$!
    until [ -e "$shared/begun" ]; do
        if ! kill -0 "$inside" 2>/dev/null; then
            tail -n 5 "$log"
            wait "$inside"
        fi
        sleep 0.1
    done
    began=$SECONDS
    if ! wait_ready "http://127.0.0.1:$port/-/ready" "$inside" 50; then
        tail -n 5 "$log" >&2
        return 1
    fi
    scripts/example-traffic.py "http://127.0.0.1:$port" >/dev/null
    scripts/example-traffic.py "http://127.0.0.1:$port" --explode 20000 >/dev/null
    until culprit_named; do
        if [ $((SECONDS - began)) -ge 60 ]; then
            echo "test-release: no culprit: $title" >&2
            return 1
        fi
        sleep 0.5
    done
    table+=("$(printf '%-40s %3d s  %5.1f MB' "$title" $((SECONDS - began)) "$(stat -c %s "$file")e-6")")
    echo "test-release: ${table[-1]}"
    touch "$shared/end"
    wait "$inside"
}

cd "$root"
for file in "$@"; do
    file=$(realpath "$file")
    case $file in
        *_arm64.deb | *-linux-arm64.tar.gz) architecture=arm64 ;;
        *_amd64.deb | *-linux-amd64.tar.gz) architecture=amd64 ;;
    esac
    case $file in
        *-dbgsym_*) continue ;;
        *~deb12u*.deb) suites=(bookworm) ;;
        *~deb13u*.deb) suites=(trixie) ;;
        *-linux-*.tar.gz) suites=(bookworm trixie) ;;
        *-image.tar)
            shared=$home/shared
            for architecture in amd64 arm64; do
                if [ "$architecture" != "$native" ]; then scripts/install-deps.sh --emulator; fi
                name_the_culprit "image, $architecture" "$file" in_image - "$architecture" "$file"
            done
            continue
            ;;
        *) echo "test-release: what is $file?" >&2; exit 1 ;;
    esac
    case $file in *.deb) kind=package ;; *) kind=archive ;; esac
    for suite in "${suites[@]}"; do
        case $suite in bookworm) number=12 ;; trixie) number=13 ;; esac
        shared=build/debian$number/build
        name_the_culprit "$kind, $architecture, Debian $number" "$file" in_debian "$suite" "$architecture" "$file"
    done
done
printf '%s\n' "${table[@]}"
