"""What people get wrong in a configuration, and what is said of it. Keys, values and bounds one by one: tests/config."""

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from gate import BINARY, run, why_it_cannot_serve
from tables import check_rows
from world import socket

pytestmark = [pytest.mark.one_thread, pytest.mark.timeout(180)]  # a hundred starts, which take long under a sanitizer

# What, the file, and the lines that --check-config prints: without the file's name, which each begins with.
MISTAKES = [
    ('a tab as indentation', 'server:\n\tthreads: 1\n',
     [':2: not valid YAML: a tab indents this line; YAML takes only spaces for that']),
    ('a double quote that is never closed', 'listen: :9201\nstate: {dir: /x}\nmode: "observe\nmaxHourlySeries: 5\n',
     [':3: not valid YAML: a quote that opens here is never closed']),
    ('a single quote that is never closed', "exempt:\n  - 'up\n  - down\n",
     [':2: not valid YAML: a quote that opens here is never closed']),
    ('a quote that the next one closes', 'listen: "0.0.0.0:9201\nupstream:\n  url: "http://a/b"\n',
     [':3: column 9: not valid YAML: the line does not go on with the map above it: compare its indentation; a value that begins with a quote or a bracket ends where that closes']),
    ('a quote amid the value', "exempt: ['up{job='a'}']\n",
     [":1: column 21: not valid YAML: a ] or } that nothing opens, or a quote that closes too early: ' in single quotes is ''"]),
    ('an apostrophe in single quotes', "tenants:\n  header: 'it's'\n",
     [':2: column 15: not valid YAML: the line does not go on with the map above it: compare its indentation; a value that begins with a quote or a bracket ends where that closes']),
    ('a brace that is never closed', 'server: {threads: 1\nmode: observe\n',
     [':2: column 5: not valid YAML: a { is not closed before this, or a value within needs quotes, as ${NAME} does']),
    ('a bracket that is never closed, found further down', "exempt: [up\nlimits:\n  - {name: a, match: '{a=\"b\"}'}\n",
     [':2: column 7: not valid YAML: a [ is not closed before this, or a value within needs quotes, as a selector does']),
    ('a bracket too many', 'exempt: [up]]\n',
     [":1: column 13: not valid YAML: a ] or } that nothing opens, or a quote that closes too early: ' in single quotes is ''"]),
    ('no space behind the colon', 'maxHourlySeries:5\n',
     [":1: expected lines of 'key: value' at the top level, with a colon and a space behind the key"]),
    ('no colon', 'maxHourlySeries 5\n',
     [":1: expected lines of 'key: value' at the top level, with a colon and a space behind the key"]),
    ('an equals sign', 'maxHourlySeries = 5\n',
     [":1: expected lines of 'key: value' at the top level, with a colon and a space behind the key"]),
    ('no space behind the colon in a section', 'server:\n  threads:4\n',
     [":1: server: expected keys below it, got 'threads:4'; for example: server: {threads: 4}"]),
    ('a section that is not indented', 'server:\nthreads: 1\n',
     [":2: threads: unknown key, did you mean 'server.threads'?"]),
    ('a line indented too far', 'server:\n  threads: 1\n    readTimeout: 5s\n',
     [':3: column 16: not valid YAML: illegal map value: a value that holds \': \' or ends in \':\' needs quotes, such as "discard:"; or the line is indented too far']),
    ('a line indented in between', 'server:\n  threads: 1\n readTimeout: 5s\n',
     [':3: column 2: not valid YAML: the line does not go on with the map above it: compare its indentation; a value that begins with a quote or a bracket ends where that closes']),
    ('a first line that is indented', '  listen: :1\nmaxHourlySeries: 1\n',
     [':2: expected the end of the file: a line that is indented less than the first one, or begins with ---, starts a second YAML document']),
    ('an address that begins with a bracket', 'listen: [::1]:9201\n',
     [':1: column 14: not valid YAML: the line does not go on with the map above it: compare its indentation; a value that begins with a quote or a bracket ends where that closes']),
    ('a selector without quotes', 'exempt: [up{job="a"}]\n',
     [':1: column 12: not valid YAML: a [ is not closed before this, or a value within needs quotes, as a selector does']),
    ('a value that begins with an at sign', 'state:\n  dir: @state@\n',
     [':2: column 8: not valid YAML: a value that begins with @, ` or % needs quotes']),
    ('an unknown key', 'maxHourlySerie: 5\n', [":1: maxHourlySerie: unknown key, did you mean 'maxHourlySeries'?"]),
    ('a key in snake case', 'max_hourly_series: 5\n',
     [":1: max_hourly_series: unknown key, did you mean 'maxHourlySeries'?"]),
    ('a key that is set twice', 'maxHourlySeries: 5\nmaxHourlySeries: 6\n',
     [':2: maxHourlySeries: is set twice, first on line 1']),
    ('a list for a map', 'tenants:\n  overrides:\n    - team-a: {maxHourlySeries: 1}\n',
     [':2: tenants.overrides: expected keys below it, got a list; for example: overrides: {team-a: {maxHourlySeries: 500000}}']),
    ('a number for a tenant', 'tenants:\n  overrides:\n    team-a: 5000\n',
     [":3: tenants.overrides.team-a: expected keys below it, got '5000'; for example: team-a: {maxHourlySeries: 500000}"]),
    ('a list for a group', 'limits:\n  - name: a\n    each: [job]\n    overrides: [{group: [node], maxHourlySeries: 1}]\n',
     [':4: limits[0].overrides[0].group: expected keys below it, got a list; for example: group: {job: node}']),
    ("vmagent's name of the limit", 'remoteWrite.maxHourlySeries: 5\n',
     [":1: remoteWrite.maxHourlySeries: unknown key, did you mean 'maxHourlySeries'?"]),
    ("Prometheus' name of the store", 'remote_write:\n  - url: http://127.0.0.1:8428/api/v1/write\n',
     [':1: remote_write: unknown key']),
    ("Prometheus' name of the timeout", 'upstream: {remote_timeout: 5s}\n',
     [':1: upstream.remote_timeout: unknown key']),
    ("vmagent's name of the address", 'httpListenAddr: :9201\n', [':1: httpListenAddr: unknown key']),
    ("Mimir's name of the limit", 'max_global_series_per_user: 5000\n',
     [':1: max_global_series_per_user: unknown key']),
    ("Mimir's overrides", 'overrides:\n  team-a: {maxHourlySeries: 1}\n',
     [":1: overrides: unknown key, did you mean 'tenants.overrides'?"]),
    ('a word for no limit', 'maxHourlySeries: unlimited\n',
     [":1: maxHourlySeries: 'unlimited' is not a whole number such as 5000 or 500k; 0 is no limit"]),
    ('a number with commas in braces', 'tenants: {default: {maxHourlySeries: 1,000}}\n',
     [':1: tenants.default.000: unknown key']),
    ('another answer', 'onLimit: deny\n', [":1: onLimit: 'deny' is neither drop nor reject"]),
    ('another status', 'rejectStatus: 503\n', [":1: rejectStatus: '503' is none of 400, 409 and 429"]),
    ('a fleet without a secret', 'shared:\n  url: redis://valkey\n',
     [":2: shared.url: needs fingerprint.secretFile: gates of a fleet need the same secret"]),
    ('a header that is none', 'tenants: {header: X Scope}\n',
     [":1: tenants.header: 'X Scope' is not the name of an HTTP header"]),
    ('a selector that ends too early', 'exempt: [\'{namespace="a"\']\n',
     [":1: exempt[0]: expected ',' or '}', found the end at byte 14"]),
    ('a group of another label', 'limits:\n  - name: a\n    each: [job]\n    overrides: [{group: {jobs: x}, maxHourlySeries: 1}]\n',
     [":4: limits[0].overrides[0].group.jobs: is not one of the limit's labels, did you mean 'job'?",
      ":4: limits[0].overrides[0].group.job: is required: a group has a value for every label of 'each'"]),
    ('a label twice, and a group of another', 'limits:\n  - name: a\n    each: [job, job]\n    overrides: [{group: {jobs: x}}]\n',
     [':3: limits[0].each[1]: is there already, as limits[0].each[0]']),
    ('a variable without a name', 'maxHourlySeries: ${}\n',
     [":1: maxHourlySeries: '${}' names no variable, as ${NAME} does; for a ${ as it is write $${"]),
    ('a variable with a default', 'maxHourlySeries: ${LIMIT:-5}\n',
     [":1: maxHourlySeries: '${LIMIT:-5}' names no variable, as ${NAME} does; for a ${ as it is write $${"]),
    ('a variable in braces', 'tenants: {default: {maxHourlySeries: ${LIMIT}}}\n',
     [':1: column 39: not valid YAML: a { is not closed before this, or a value within needs quotes, as ${NAME} does']),
    ('a null byte', '\x00', [': not valid YAML: the file holds null bytes and is no text']),
]

# The same where the file has to say where samples go.
MISTAKES_WITH_THE_UPSTREAM = [
    ('no upstream', 'maxHourlySeries: 5\n',
     [': upstream.url: is required, in the file or as --upstream.url=URL: http://host:port/path, or discard: to only count']),
    ('an upstream without a path', 'upstream: {url: http://127.0.0.1:8428}\n',
     [':1: upstream.url: has no path; expected a URL such as http://127.0.0.1:8428/api/v1/write']),
    ('an upstream with a password', 'upstream: {url: http://me:secret@store/api/v1/write}\n',
     [":1: upstream.url: must not hold credentials; basicAuth has them, or else the sender's Authorization header is passed on"]),
    ('a header that the gate makes', 'upstream:\n  url: https://store/w\n  headers: {Content-Type: x}\n',
     [":3: upstream.headers.Content-Type: is made by the gate or by the sender, and cannot be set"]),
    ('an upstream in the wrong section', 'url: http://store/api/v1/write\n',
     [":1: url: unknown key, did you mean 'upstream.url'?",
      ': upstream.url: is required, in the file or as --upstream.url=URL: http://host:port/path, or discard: to only count']),
    ('an upstream that is the gate', 'upstream:\n  url: http://localhost:9201/api/v1/write\n',
     [":2: upstream.url: is the address of 'listen': the gate would send to itself; the store listens elsewhere"]),
]


# What is allowed and surely not meant.
DOUBTS = [
    ("a day below the hour", "maxHourlySeries: 1000\nmaxDailySeries: 900\n",
     [":2: warning: maxDailySeries: is below maxHourlySeries, so the limit of the hour never refuses anything"]),
    ("a variable in a key", "tenants: {overrides: {'${TEAM}': {maxHourlySeries: 5}}}\n",
     [":1: warning: tenants.overrides.${TEAM}: is taken as it stands: variables are filled in in values, not in keys"]),
]

FLAGS = [
    ("--maxHourlySeries=many", "--maxHourlySeries: 'many' is not a whole number such as 5000 or 500k; 0 is no limit"),
    ("--lisen=:9201", "seriesgate: --lisen: unknown flag, did you mean --listen?"),
    ("--upstream.timeout=5s", "seriesgate: --upstream.timeout: unknown flag, 'upstream.timeout' is a key of the file only"),
    ("--config=gate.yaml", "seriesgate: --config: unknown flag, did you mean --config.file?"),
    ("--maxHourlySeries", "seriesgate: --maxHourlySeries: has no value"),
    ("gate.yaml", "seriesgate: 'gate.yaml': unexpected argument, see --help"),
]

DISCARD = "--upstream.url=discard:"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "gate.yaml"


@pytest.fixture
def open_folder():
    """One that everybody may look into, unlike tmp_path."""
    with tempfile.TemporaryDirectory(prefix="seriesgate-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def outcome(result):
    return result.returncode, result.stdout, result.stderr.splitlines()


def by_name(rows):
    named = {name: tuple(values) for name, *values in rows}
    assert len(named) == len(rows)
    return named


# --- the file

def explained(file, *flags):
    def is_explained(text, lines):
        file.write_text(text)
        for further in ([], ["--check-config"]):
            assert outcome(run(f"--config.file={file}", *flags, *further)) == (1, "", [f"{file}{line}" for line in lines])

    return is_explained


def test_a_mistake_is_explained(file):
    check_rows(by_name(MISTAKES), explained(file, DISCARD))


def test_a_mistake_about_the_upstream_is_explained(file):
    check_rows(by_name(MISTAKES_WITH_THE_UPSTREAM), explained(file))


def test_what_an_upstream_mistake_says_holds_no_password(file):
    for url in ("http://me:hunter2@store/api/v1/write", "ftp://me:hunter2@store/w", "me:hunter2@store", "http://me:hunter2@"):
        for text in (f"upstream: {{url: '{url}'}}\n", f"upstream: '{url}'\n"):
            file.write_text(text)
            result = run(f"--config.file={file}", "--check-config")
            assert result.returncode == 1
            assert "hunter2" not in result.stderr or "://" not in url, result.stderr


def test_a_file_that_cannot_be_read(tmp_path, file):
    def said(path):
        return outcome(run(f"--config.file={path}", DISCARD))

    assert said(file) == (1, "", [f"{file}: cannot be read: No such file or directory"])
    assert said(tmp_path) == (1, "", [f"{tmp_path}: cannot be read: Is a directory"])
    assert said(file / "x") == (1, "", [f"{file / 'x'}: cannot be read: No such file or directory"])
    file.write_text("#" * ((1 << 20) + 1))
    assert said(file) == (1, "", [f"{file}: is larger than 1MiB"])
    assert said(file / "x") == (1, "", [f"{file / 'x'}: cannot be read: Not a directory"])


def test_what_is_doubtful_is_warned_of(file):
    def is_warned_of(text, lines):
        file.write_text(text)
        status, said, warnings = outcome(run(f"--config.file={file}", DISCARD, "--check-config"))
        assert (status, said.splitlines()[0]) == (0, f"{file}: ok")
        assert warnings == [f"{file}{line}" for line in lines]

    check_rows(by_name(DOUBTS), is_warned_of)


# --- the command line

def test_a_mistake_in_a_flag_is_explained():
    def is_explained(flag, line):
        assert outcome(run(DISCARD, *flag.split())) == (1, "", [line])
        assert outcome(run(DISCARD, *flag.split(), "--check-config")) == (1, "", [line])

    check_rows({flag: (flag, line) for flag, line in FLAGS}, is_explained)


# --- variables

def test_a_mistake_that_cannot_be_written_down_is_an_exit_status():
    with open("/dev/full", "w") as full:
        assert subprocess.run([BINARY, "--maxHourlySeries=many"], stderr=full, timeout=60).returncode == 1


def test_the_value_of_a_variable_is_not_said(file):
    file.write_text("upstream:\n  url: ${STORE}\nmaxHourlySeries: ${LIMIT}\nmode: ${MODE}\n")
    environment = {**os.environ, "STORE": "http://me:hunter2@store/w", "LIMIT": "hunter2", "MODE": "hunter2"}
    result = subprocess.run([BINARY, f"--config.file={file}"], capture_output=True, text=True, env=environment, timeout=30)
    assert outcome(result) == (1, "", [
        f"{file}:2: upstream.url: with ${{STORE}} filled in: must not hold credentials; basicAuth has them, or else the "
        "sender's Authorization header is passed on",
        f"{file}:3: maxHourlySeries: with ${{LIMIT}} filled in: is not a whole number such as 5000 or 500k; 0 is no limit",
        f"{file}:4: mode: with ${{MODE}} filled in: is neither enforce nor observe"])


# --- what could not serve: status 2, and a line of the log

def start_with(file, text, **how):
    file.write_text(text)
    return subprocess.run([BINARY, f"--config.file={file}", DISCARD, "--listen=127.0.0.1:0"], capture_output=True, text=True,
                          timeout=30, **how)


def test_a_state_directory_that_cannot_be_made_is_named(tmp_path, file):
    def why(folder):
        said, = {why_it_cannot_serve(start_with(file, f"log: {{format: {form}}}\nstate: {{dir: '{folder}'}}\n"))
                 for form in ("logfmt", "json")}
        return said

    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    assert why(in_the_way) == f"state.dir: cannot open {in_the_way}: Not a directory"
    assert why(in_the_way / "a" / "b") == f"state.dir: cannot make {in_the_way / 'a' / 'b'}: {in_the_way}: Not a directory"
    long = tmp_path / ("x" * 300)
    assert why(long) == f"state.dir: cannot make {long}: File name too long"
    assert why("/proc/seriesgate/state") == (
        "state.dir: cannot make /proc/seriesgate/state: /proc/seriesgate: No such file or directory")
    locked = tmp_path / "locked"
    (locked / "lock").mkdir(parents=True)
    assert why(locked) == f"state.dir: cannot open {locked / 'lock'}: Is a directory"


@pytest.mark.skipif(os.geteuid() != 0, reason="has to become somebody else")
def test_a_state_directory_without_permission_is_named(open_folder):
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    if subprocess.run(["test", "-x", BINARY], **nobody).returncode != 0:
        pytest.skip("the binary is not for everybody")
    closed = open_folder / "closed"
    closed.mkdir(mode=0o755)
    file = open_folder / "gate.yaml"

    def why(state):
        return why_it_cannot_serve(start_with(file, f"state: {{dir: '{state}'}}\n", **nobody))

    assert why(closed / "a" / "b") == f"state.dir: cannot make {closed / 'a' / 'b'}: {closed / 'a'}: Permission denied"
    assert why(closed) == f"state.dir: cannot open {closed / 'lock'}: Permission denied"
    file.write_text("mode: observe\n")
    file.chmod(0o600)
    result = subprocess.run([BINARY, f"--config.file={file}", DISCARD], capture_output=True, text=True, timeout=30, **nobody)
    assert outcome(result) == (1, "", [f"{file}: cannot be read: Permission denied"])


def test_parents_of_the_state_directory_are_made(start_gate, tmp_path):
    state = tmp_path / "a" / "b" / "state"
    start_gate(DISCARD, config=f"state: {{dir: '{state}/'}}\n").stop()
    assert (state / "state").is_file()
    assert state.stat().st_mode & 0o777 == 0o700


def test_a_secret_that_cannot_be_read_is_named(tmp_path, file):
    secret = tmp_path / "secret"
    text = f"fingerprint: {{secretFile: '{secret}'}}\n"
    assert why_it_cannot_serve(start_with(file, text)) == (
        f"fingerprint.secretFile: cannot read {secret}: No such file or directory")
    secret.touch(0o600)
    secret.write_bytes(b"short")
    assert why_it_cannot_serve(start_with(file, text)) == (
        f"fingerprint.secretFile: {secret}: a secret of 5 bytes, at least 32 are needed")


def test_an_address_that_cannot_be_listened_on_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        why = why_it_cannot_serve(run(DISCARD, f"--listen={address}"))
        assert why == f"cannot listen on {address}: Address already in use"
    assert why_it_cannot_serve(run(DISCARD, "--listen=192.0.2.1:9201")) == (
        "cannot listen on 192.0.2.1:9201: Cannot assign requested address")


def test_checking_does_not_serve(tmp_path, file):
    """What only the machine can tell is no matter of the configuration."""
    file.write_text(f"state: {{dir: '{tmp_path / 'state'}'}}\nfingerprint: {{secretFile: /nowhere}}\nseriesSet: exact\n")
    memory = "memory for known series: 20 to 32 bytes each, no enforced global limit bounds their number"
    assert outcome(run(f"--config.file={file}", DISCARD, "--check-config")) == (0, f"{file}: ok\n{memory}\n", [])
    assert not (tmp_path / "state").exists()
