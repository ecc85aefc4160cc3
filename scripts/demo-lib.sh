# Shared by demo.sh and demo-fleet.sh: a folder for this run, servers on free ports, and an end that takes all of them along.
# Sourced after lib.sh, by a script that has set `demo` to its name.
# shellcheck shell=bash disable=SC2154

mkdir -p "$root/build/demo"
data=$(mktemp -d "$root/build/demo/run.XXXXXX")
children=() # in the order of their start
failed=no

clean_up() {
    trap '' INT TERM HUP # a second Ctrl-C must not leave half of them running
    local at
    for ((at = ${#children[@]} - 1; at >= 0; at--)); do stop_child "${children[at]}" 10; done
    if [ "$failed" = yes ]; then
        echo "$demo: the logs are in ${data#"$root"/}" >&2
    else
        rm -rf "$data"
    fi
}
trap clean_up EXIT
trap 'echo "$demo: stopping"; exit 0' INT TERM HUP

give_up() { # REASON [LOG]
    failed=yes
    echo "$demo: $1" >&2
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

# Each in a process group of its own: Ctrl-C reaches this script alone, which stops them sender first.
start() { # NAME COMMAND...
    local name=$1
    shift
    set -m
    "$@" >>"$data/$name.log" 2>&1 </dev/null &
    set +m
    children+=($!)
}
started() { # NAME URL
    wait_ready "$2" "${children[-1]}" 60 || give_up "$1 did not start" "$data/$1.log"
}

show() { # NAME URL WHAT
    printf '  %-16s %-46s %s\n' "$@"
}

ask() { curl -fsS -m 2 "$1" 2>/dev/null || true; } # URL

# How many series a VictoriaMetrics has; nothing if it does not answer.
series_stored() { # ADDRESS
    ask "http://$1/api/v1/series/count" | tr -dc '0-9,[]' | sed -n 's/.*\[\([0-9]*\)\].*/\1/p'
}
