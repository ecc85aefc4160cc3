"""What people get wrong in a configuration, and what is said of it. Keys, values and bounds one by one: tests/config."""

import os
import subprocess

import pytest

from gate import BINARY, run, why_it_cannot_serve
from tables import check_rows

pytestmark = [pytest.mark.one_thread, pytest.mark.timeout(180)]  # a hundred starts, which take long under a sanitizer

BEFORE_IT = "not valid YAML: the line does not go on with the map above it: compare its indentation; a value that begins with a " \
            "quote or a bracket ends where that closes"
UNOPENED = "not valid YAML: a ] or } that nothing opens, or a quote that closes too early: ' in single quotes is ''"
NO_BRACE = "not valid YAML: a { is not closed before this, or a value within needs quotes, as ${NAME} does"
NO_BRACKET = "not valid YAML: a [ is not closed before this, or a value within needs quotes, as a selector does"
# What, the file, and the lines that --check-config prints: without the file's name, which each begins with.
MISTAKES = [
    ("a quote that the next one closes", 'listen: "0.0.0.0:9201\nupstream:\n  url: "http://a/b"\n', f":3: column 9: {BEFORE_IT}"),
    ("a quote amid the value", "exempt: ['up{job='a'}']\n", f":1: column 21: {UNOPENED}"),
    ("an apostrophe in single quotes", "tenants:\n  header: 'it's'\n", f":2: column 15: {BEFORE_IT}"),
    ("a brace that is never closed", "server: {threads: 1\nmode: observe\n", f":2: column 5: {NO_BRACE}"),
    ("a bracket that is never closed, found further down", "exempt: [up\nlimits:\n  - {name: a, match: '{a=\"b\"}'}\n",
     f":2: column 7: {NO_BRACKET}"),
    ("a bracket too many", "exempt: [up]]\n", f":1: column 13: {UNOPENED}"),
    ("no space behind the colon in a section", "server:\n  threads:4\n",
     ":1: server: expected keys below it, got 'threads:4'; for example: server: {threads: 4}"),
    ("a line indented too far", "server:\n  threads: 1\n    readTimeout: 5s\n",
     ":3: column 16: not valid YAML: illegal map value: a value that holds ': ' or ends in ':' needs quotes, such as "
     '"discard:"; or the line is indented too far'),
    ("a line indented in between", "server:\n  threads: 1\n readTimeout: 5s\n", f":3: column 2: {BEFORE_IT}"),
    ("a first line that is indented", "  listen: :1\nmaxHourlySeries: 1\n",
     ":2: expected the end of the file: a line that is indented less than the first one, or begins with ---, starts a second YAML document"),
    ("an address that begins with a bracket", "listen: [::1]:9201\n", f":1: column 14: {BEFORE_IT}"),
    ("a selector without quotes", 'exempt: [up{job="a"}]\n', f":1: column 12: {NO_BRACKET}"),
    ("a value that begins with an at sign", "state:\n  dir: @state@\n",
     ":2: column 8: not valid YAML: a value that begins with @, ` or % needs quotes"),
    ("other programs' names and forms",
     'max_global_series_per_user: 5000\nhttpListenAddr: :9201\nremote_write:\n  - url: http://127.0.0.1:8428/api/v1/write\n'
     'upstream: {remote_timeout: 5s}\noverrides:\n  team-a: {maxHourlySeries: 1}\ntenants:\n  default: {maxHourlySeries: 1,000}\n'
     '  overrides:\n    - team-a: {maxHourlySeries: 1}\nlimits:\n  - name: a\n    each: [job]\n'
     '    overrides: [{group: [node], maxHourlySeries: 1}]\n',
     ':1: max_global_series_per_user: unknown key', ':2: httpListenAddr: unknown key', ':3: remote_write: unknown key',
      ':5: upstream.remote_timeout: unknown key', ":6: overrides: unknown key, did you mean 'tenants.overrides'?",
      ':9: tenants.default.000: unknown key',
      ':10: tenants.overrides: expected keys below it, got a list; for example: overrides: {team-a: {maxHourlySeries: 500000}}',
      ':15: limits[0].overrides[0].group: expected keys below it, got a list; for example: group: {job: node}'),
    ("a number for a tenant", "tenants:\n  overrides:\n    team-a: 5000\n",
     ":3: tenants.overrides.team-a: expected keys below it, got '5000'; for example: team-a: {maxHourlySeries: 500000}"),
    ("a variable in braces", "tenants: {default: {maxHourlySeries: ${LIMIT}}}\n", f":1: column 39: {NO_BRACE}"),
    ("a null byte", "\0", ": not valid YAML: the file holds null bytes and is no text"),
]

# What is allowed and surely not meant.
DOUBTS = ("maxHourlySeries: 1000\nmaxDailySeries: 900\ntenants: {overrides: {'${TEAM}': {maxHourlySeries: 5}}}\n", [
    ":2: warning: maxDailySeries: is below maxHourlySeries, so the limit of the hour never refuses anything",
    ":3: warning: tenants.overrides.${TEAM}: is taken as it stands: variables are filled in in values, not in keys"])

FLAGS = [
    ("--maxHourlySeries=many", "--maxHourlySeries: 'many' is not a whole number such as 5000 or 500k; 0 is no limit"),
    ("--upstream.timeout=5s", "seriesgate: --upstream.timeout: unknown flag, 'upstream.timeout' is a key of the file only"),
    ("--config=gate.yaml", "seriesgate: --config: unknown flag, did you mean --config.file?"),
]

DISCARD = "--upstream.url=discard:"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "gate.yaml"


def outcome(result):
    return result.returncode, result.stdout, result.stderr.splitlines()


# --- the file

def test_a_mistake_is_explained(file):
    def is_explained(text, lines):
        file.write_text(text)
        for further in ([], ["--check-config"]):
            assert outcome(run(f"--config.file={file}", DISCARD, *further)) == (1, "", [f"{file}{line}" for line in lines])

    rows = {name: (text, lines) for name, text, *lines in MISTAKES}
    assert len(rows) == len(MISTAKES)
    check_rows(rows, is_explained)


def test_what_is_doubtful_is_warned_of(file):
    text, lines = DOUBTS
    file.write_text(text)
    status, said, warnings = outcome(run(f"--config.file={file}", DISCARD, "--check-config"))
    assert (status, said.splitlines()[0]) == (0, f"{file}: ok")
    assert warnings == [f"{file}{line}" for line in lines]


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
    assert outcome(run(f"--config.file={file}", env=environment)) == (1, "", [
        f"{file}:2: upstream.url: with ${{STORE}} filled in: must not hold credentials; basicAuth has them, or else the "
        "sender's Authorization header is passed on",
        f"{file}:3: maxHourlySeries: with ${{LIMIT}} filled in: is not a whole number such as 5000 or 500k; 0 is no limit",
        f"{file}:4: mode: with ${{MODE}} filled in: is neither enforce nor observe"])


# --- what could not serve: status 2, and a line of the log

def start_with(file, text, **how):
    file.write_text(text)
    return run(f"--config.file={file}", DISCARD, "--listen=127.0.0.1:0", **how)


def test_what_the_machine_does_not_give_is_named(tmp_path, file):
    def why(text):
        said, = {why_it_cannot_serve(start_with(file, f"log: {{format: {form}}}\n{text}")) for form in ("logfmt", "json")}
        return said

    in_the_way, locked = tmp_path / "file", tmp_path / "locked"
    in_the_way.write_text("")
    (locked / "lock").mkdir(parents=True)
    assert why(f"state: {{dir: '{in_the_way / 'a'}'}}\n") == (
        f"state.dir: cannot make {in_the_way / 'a'}: {in_the_way}: Not a directory")
    assert why(f"state: {{dir: '{locked}'}}\n") == f"state.dir: cannot open {locked / 'lock'}: Is a directory"
    assert why(f"fingerprint: {{secretFile: '{tmp_path / 'secret'}'}}\n") == (
        f"fingerprint.secretFile: cannot read {tmp_path / 'secret'}: No such file or directory")
    assert why_it_cannot_serve(run(DISCARD, "--listen=192.0.2.1:9201")) == (
        "cannot listen on 192.0.2.1:9201: Cannot assign requested address")


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
    assert outcome(run(f"--config.file={file}", DISCARD, **nobody)) == (1, "", [f"{file}: cannot be read: Permission denied"])


def test_checking_does_not_serve(tmp_path, file):
    """What only the machine can tell is no matter of the configuration."""
    file.write_text(f"state: {{dir: '{tmp_path / 'state'}'}}\nfingerprint: {{secretFile: /nowhere}}\nseriesSet: exact\n")
    memory = "memory for known series: 20 to 32 bytes each, no enforced global limit bounds their number"
    assert outcome(run(f"--config.file={file}", DISCARD, "--check-config")) == (0, f"{file}: ok\n{memory}\n", [])
    assert not (tmp_path / "state").exists()
