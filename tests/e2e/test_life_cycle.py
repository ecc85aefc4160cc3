"""Start and end: what the command line says, what a signal does to requests in flight. More of the end: tests/scenes."""

import signal

import pytest

import wire
from client import refuses, send
from gate import REPOSITORY, run, why_it_cannot_serve
from tables import check_rows, named
from upstream import Answer
from waiting import eventually
from world import ThreadPoolExecutor, socket, threading

GOOD = wire.pack(wire.sampled("up", job="a"))


# --- the end

@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_the_request_in_flight_finish(gate, upstream, number):
    held = threading.Event()
    upstream.default = Answer(200, [("X-Late", "yes")], b"stored after all", hold=held)
    with gate.client() as watcher, gate.client() as other, gate.client() as writer, ThreadPoolExecutor(1) as pool:
        eventually(lambda: watcher.get("/-/ready").status == 200, "ready")
        assert other.get("/health").status == writer.get("/health").status == 200
        late = pool.submit(send, gate.address, GOOD)
        eventually(lambda: upstream.requests, "the request is upstream")

        gate.signal(number)

        eventually(lambda: refuses(gate.address), "new connections are refused")
        assert watcher.get("/-/ready").status == 503
        assert other.get("/health").status == 200
        upstream.answers.append(Answer(204))
        assert writer.write(GOOD).status == 204
        assert gate.running
        held.set()
        reply = late.result(20)
    assert (reply.status, reply.get("X-Late"), reply.body) == (200, "yes", b"stored after all")
    assert gate.wait() == 0


def test_the_port_is_free_again_after_the_end(start_gate, upstream):
    first = start_gate(f"--upstream.url={upstream.url}")
    assert first.send(GOOD).status == 204
    first.stop()
    second = start_gate(f"--upstream.url={upstream.url}", f"--listen=127.0.0.1:{first.address[1]}")
    assert second.address == first.address
    assert second.send(GOOD).status == 204


# --- the start

def one_clear_line(result):
    """The only line on stderr of a run that failed."""
    assert result.returncode == 1, result
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert len(lines[0]) > 10 and lines[0].isprintable()
    return lines[0]


def test_a_port_in_use_is_one_clear_line():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run("--upstream.url=discard:", f"--listen={address}")
    assert why_it_cannot_serve(result) == f"cannot listen on {address}: Address already in use"


@pytest.mark.parametrize("check", [[], ["--check-config"]])
def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path, check):
    missing = tmp_path / "missing.yaml"
    assert str(missing) in one_clear_line(run(f"--config.file={missing}", *check))
    assert str(tmp_path) in one_clear_line(run(f"--config.file={tmp_path}", *check))


BAD_FLAGS = [
    (["--no-such-flag"], "--no-such-flag"),
    (["--maxHourlySeries=many", "--upstream.url=discard:"], "--maxHourlySeries"),
    (["--maxHourlySeries=-1", "--upstream.url=discard:"], "--maxHourlySeries"),
    (["--maxDailySeries=1.5", "--upstream.url=discard:"], "--maxDailySeries"),
    (["--maxDailySeries=", "--upstream.url=discard:"], "--maxDailySeries"),
    (["--maxDailySeries=99999999999999999999", "--upstream.url=discard:"], "--maxDailySeries"),
    (["--upstream.url=ftp://somewhere/"], "--upstream.url"),
    (["--upstream.url="], "--upstream.url"),
    (["--upstream.url=http://"], "--upstream.url"),
    (["--upstream.url=http://host:99999/"], "--upstream.url"),
    (["--listen=nowhere", "--upstream.url=discard:"], "--listen"),
    (["--listen=127.0.0.1:70000", "--upstream.url=discard:"], "--listen"),
    (["stray", "--upstream.url=discard:"], "stray"),
    ([], "upstream.url"),
]


def test_a_bad_flag_is_one_clear_line_that_names_it():
    def is_named(flags, name):
        assert name in one_clear_line(run(*flags))

    check_rows({" ".join(flags): (flags, name) for flags, name in BAD_FLAGS}, is_named)


def test_version_and_help():
    version = run("--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout.startswith("seriesgate ") and len(version.stdout.splitlines()) == 1
    usage = run("--help")
    assert (usage.returncode, usage.stderr) == (0, "")
    for flag in ("--config.file", "--listen", "--upstream.url", "--maxHourlySeries", "--maxDailySeries",
                 "--check-config", "--health-check", "--version", "--help"):
        assert flag in usage.stdout


# --- the configuration file

def check(tmp_path, text, *flags):
    file = tmp_path / "gate.yaml"
    file.write_text(text)
    return file, run(f"--config.file={file}", "--check-config", *flags)


def test_the_example_configuration_passes(tmp_path):
    file = REPOSITORY / "config/seriesgate.yaml"
    result = run(f"--config.file={file}", "--check-config")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{file}: ok\n", "")


def test_a_good_file_with_every_key_passes(tmp_path):
    file, result = check(tmp_path, """
listen: 127.0.0.1:9201
upstream:
  url: http://127.0.0.1:8428/api/v1/write?x=1
  timeout: 500ms
maxHourlySeries: 1000
maxDailySeries: 5000
falsePositiveRate: 0.001
incumbentGrace: 1h
server:
  maxRequestBytes: 4096
  maxDecodedBytes: 1MiB
  maxInflightBytes: 1GB
  threads: 3
  readTimeout: 10s
  idleTimeout: 1m
  drainTimeout: 2s
""")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{file}: ok\n", "")


BAD_VALUES = [
    ("upstream: {url: 'discard:'}\nmaxHourlySerie: 1\n", 2, "maxHourlySerie"),
    ("upstream: {url: 'discard:'}\ntenants: {maxTenant: 5}\n", 2, "tenants.maxTenant"),
    ("upstream:\n  url: 'discard:'\n  protocol: v3\n", 3, "upstream.protocol"),
    ("upstream:\n  url: 'discard:'\n  timeout: 25\n", 3, "upstream.timeout"),
    ("upstream:\n  url: 'discard:'\n  timeout: soon\n", 3, "upstream.timeout"),
    ("upstream:\n  url: 'discard:'\n  timeout: -1s\n", 3, "upstream.timeout"),
    ("upstream:\n  url: ftp://host/w\n", 2, "upstream.url"),
    ("upstream:\n  url: [a, b]\n", 2, "upstream.url"),
    ("upstream: {url: 'discard:'}\n\nlisten: 9201\n", 3, "listen"),
    ("upstream: {url: 'discard:'}\nmaxHourlySeries: -5\n", 2, "maxHourlySeries"),
    ("upstream: {url: 'discard:'}\nmaxDailySeries: lots\n", 2, "maxDailySeries"),
    ("upstream: {url: 'discard:'}\nfalsePositiveRate: 0\n", 2, "falsePositiveRate"),
    ("upstream: {url: 'discard:'}\nfalsePositiveRate: 1.5\n", 2, "falsePositiveRate"),
    ("upstream: {url: 'discard:'}\nfalsePositiveRate: nan\n", 2, "falsePositiveRate"),
    ("upstream: {url: 'discard:'}\nincumbentGrace: [10m]\n", 2, "incumbentGrace"),
    ("upstream: {url: 'discard:'}\nserver: 5\n", 2, "server"),
    ("upstream: {url: 'discard:'}\nserver:\n  threads: two\n", 3, "server.threads"),
    ("upstream: {url: 'discard:'}\nserver:\n  maxRequestBytes: 3 elephants\n", 3, "server.maxRequestBytes"),
    ("upstream: {url: 'discard:'}\nserver:\n  maxRequestBytes: 0\n", 3, "server.maxRequestBytes"),
    ("upstream: {url: 'discard:'}\nserver:\n  maxDecodedBytes: -1MiB\n", 3, "server.maxDecodedBytes"),
    ("upstream: {url: 'discard:'}\nserver:\n  readTimeout: 0s\n", 3, "server.readTimeout"),
    ("upstream: {url: 'discard:'}\nserver:\n  burst: 1\n", 3, "server.burst"),
    ("upstream: {url: 'discard:'}\nmaxHourlySeries: 1\nmaxHourlySeries: 2\n", 3, "maxHourlySeries"),
]


@pytest.mark.parametrize("flags", [["--check-config"], []], ids=["check", "start"])
def test_a_bad_value_names_file_line_and_key(tmp_path, flags):
    file = tmp_path / "gate.yaml"

    def is_named(text, line, key):
        file.write_text(text)
        said = one_clear_line(run(f"--config.file={file}", *flags))
        assert said.startswith(f"{file}:{line}: {key}: "), said
        assert len(said.split(f"{key}: ", 1)[1]) > 5

    check_rows({text: (text, line, key) for text, line, key in BAD_VALUES}, is_named)


def test_all_errors_are_printed_and_not_just_the_first(tmp_path):
    file, result = check(tmp_path, "listen: nowhere\n"
                                   "upstream:\n"
                                   "  url: ftp://x/\n"
                                   "  timeout: soon\n"
                                   "maxHourlySeries: -1\n"
                                   "colour: red\n"
                                   "server:\n"
                                   "  threads: x\n")
    assert result.returncode == 1
    assert result.stdout == ""
    assert [line.split(": ")[:2] for line in sorted(result.stderr.splitlines())] == [
        [f"{file}:1", "listen"], [f"{file}:3", "upstream.url"], [f"{file}:4", "upstream.timeout"],
        [f"{file}:5", "maxHourlySeries"], [f"{file}:6", "colour"], [f"{file}:8", "server.threads"]]


def test_a_file_that_is_no_mapping_is_one_clear_line(tmp_path):
    def is_said(text):
        file, result = check(tmp_path, text)
        assert one_clear_line(result).startswith(f"{file}:")

    check_rows(named(["upstream: {url: 'discard:'\n", "a: b: c\n", "\tlisten: x\n", "- a\n- b\n", "just text\n", "\x00\x01\x02"]),
               is_said)


def test_a_file_without_an_upstream_url_says_so(tmp_path):
    def is_said(text):
        _, result = check(tmp_path, text)
        assert "upstream.url" in one_clear_line(result)
        _, result = check(tmp_path, text, "--upstream.url=discard:")
        assert result.returncode == 0, result.stderr

    check_rows(named(["", "maxHourlySeries: 5\n", "upstream: {timeout: 1s}\n"]), is_said)


def test_flags_override_the_file(start_gate, upstream):
    gate = start_gate("--maxHourlySeries=7", "--maxDailySeries=0", f"--upstream.url={upstream.url}",
                      config="listen: 127.0.0.1:1\nupstream: {url: 'discard:'}\n"
                             "maxHourlySeries: 1\nmaxDailySeries: 1\n")
    assert gate.send(GOOD).status == 204
    assert upstream.bodies == [GOOD]
    windows = gate.stats["windows"]
    assert [windows[name]["maxSeries"] for name in ("hourly", "daily")] == [7, 0]
