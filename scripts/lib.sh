# Shared by the scripts beside it: build the binary, read its /stats, end a process, find Debian's mirror. Sourced, not
# run, by a script that has set `root` to the top of the repository.
# shellcheck shell=bash disable=SC2154

# Where the binary of a preset is.
gate_binary() { # PRESET
    echo "$root/build/$1/seriesgate"
}

# Builds the release binary alone. Tests are configured where their packages are; the binary needs none of these.
build_release() {
    local log=$root/build/configure.log
    mkdir -p "$root/build"
    if ! (cd "$root" && cmake --preset release) >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        return 1
    fi
    cmake --build "$root/build/release" --target seriesgate </dev/null
}

# One number out of the gate's /stats, read from standard input; nothing if it is not there. Finds KEY in the first
# object of that name, among the members before any nested one: enough for /stats, and a JSON parser is no build need.
json_number() { # OBJECT KEY
    tr -d ' \t\n' | awk -v pattern="\"$1\":{[^{}]*\"$2\":[0-9.]+" '
        match($0, pattern) { found = substr($0, RSTART, RLENGTH); sub(/.*:/, "", found); print found }'
}

# Indents JSON from standard input, two spaces a level.
json_indent() {
    awk '
        function newline(   i) { printf "\n"; for (i = 0; i < depth; i++) printf "  " }
        {
            count = length($0)
            for (at = 1; at <= count; at++) {
                c = substr($0, at, 1)
                if (in_string) {
                    printf "%s", c
                    if (escaped) escaped = 0
                    else if (c == "\\") escaped = 1
                    else if (c == "\"") in_string = 0
                } else if (c == "\"") { in_string = 1; printf "%s", c }
                else if (match(substr($0, at), /^(\[[ \t\r]*\]|\{[ \t\r]*\})/)) {
                    printf "%s", c == "[" ? "[]" : "{}"
                    at += RLENGTH - 1
                }
                else if (c == "{" || c == "[") { depth++; printf "%s", c; newline() }
                else if (c == "}" || c == "]") { depth--; newline(); printf "%s", c }
                else if (c == ",") { printf "%s", c; newline() }
                else if (c == ":") printf ": "
                else if (c !~ /[ \t\r]/) printf "%s", c
            }
        }
        END { printf "\n" }'
}

# Waits until URL answers 200, at most SECONDS; gives up at once when PID has ended.
wait_ready() { # URL PID SECONDS
    local deadline=$((SECONDS + $3))
    while ! curl -fsS -o /dev/null -m 2 "$1" 2>/dev/null; do
        kill -0 "$2" 2>/dev/null || return 1
        [ $SECONDS -lt $deadline ] || return 1
        sleep 0.1
    done
}

# Ends a child: SIGTERM, and SIGKILL if it is still there after SECONDS.
stop_child() { # PID SECONDS
    local deadline=$((SECONDS + $2))
    kill -TERM "$1" 2>/dev/null || return 0
    while kill -0 "$1" 2>/dev/null; do
        if [ $SECONDS -ge $deadline ]; then
            kill -KILL "$1" 2>/dev/null || true
            break
        fi
        sleep 0.1
    done
    wait "$1" 2>/dev/null || true
}

# The mirror of Debian that this machine's apt uses; nothing if there is none.
debian_mirror() {
    # shellcheck disable=SC2016 # apt's variables, not ours
    apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk '$1 == "Debian" && !found { found = 1; print $2 }' || true
}

# The version of the source, between tags with a `+` or `~` that says where it is.
source_version() {
    local line='' expected
    expected=$(sed -n 's/^project(seriesgate VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
    if [ -e "$root/cmake/source_version.cmake" ] && command -v cmake >/dev/null; then
        line=$(cmake -DSOURCE="$root" -DPROJECT_VERSION="$expected" -P "$root/cmake/source_version.cmake")
        line=${line%% *}
    fi
    echo "${line:-$expected}"
}

# What git knows about the source, for where there is no git: SERIESGATE_VERSION, SERIESGATE_REVISION and SOURCE_DATE_EPOCH,
# unless they are set.
export_source_facts() {
    local said
    if [ -e "$root/.git" ] && said=$(git -C "$root" log -1 --format='%H %ct' 2>/dev/null); then
        export SERIESGATE_REVISION=${SERIESGATE_REVISION:-${said% *}} SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-${said#* }}
    fi
    if [ -z "${SERIESGATE_VERSION-}" ]; then
        SERIESGATE_VERSION=$(source_version)
        export SERIESGATE_VERSION
    fi
}

# A folder for what is dear to make and good for every clone: systems of Debian, what compilers have compiled there. It may be
# removed at any time; where none can be made, one under build/ does.
cache_folder() {
    local folder=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/seriesgate
    if ! mkdir -p "$folder" 2>/dev/null || [ ! -w "$folder" ]; then
        folder=$root/build/cache
        mkdir -p "$folder"
    fi
    echo "$folder"
}
