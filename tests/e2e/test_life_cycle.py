"""What a signal does to requests in flight, and what the command line says. More of the end: tests/scenes. Mistakes:
test_config_mistakes.py."""

import signal

import pytest

import wire
from client import refuses, send
from gate import REPOSITORY, run
from upstream import Answer
from waiting import eventually
from world import ThreadPoolExecutor, threading

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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_further_signals_change_nothing_about_a_good_end(gate, number):
    assert gate.send(GOOD).status == 204
    gate.signal(signal.SIGTERM)
    while gate.running:
        gate.signal(number)
    assert gate.wait() == 0


def test_the_port_is_free_again_after_the_end(start_gate, upstream):
    first = start_gate(f"--upstream.url={upstream.url}")
    assert first.send(GOOD).status == 204
    first.stop()
    second = start_gate(f"--upstream.url={upstream.url}", f"--listen=127.0.0.1:{first.address[1]}")
    assert second.address == first.address
    assert second.send(GOOD).status == 204


# --- the command line and the file

def test_version_and_help():
    version = run("--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout.startswith("seriesgate ") and len(version.stdout.splitlines()) == 1
    usage = run("--help")
    assert (usage.returncode, usage.stderr) == (0, "") and "--health-check" in usage.stdout


def test_the_example_configuration_passes(tmp_path):
    file = REPOSITORY / "config/seriesgate.yaml"
    result = run(f"--config.file={file}", "--check-config")
    assert (result.returncode, result.stdout, result.stderr) == (0, f"{file}: ok\n", "")


def test_flags_override_the_file(start_gate, upstream):
    gate = start_gate("--maxHourlySeries=7", "--maxDailySeries=0", f"--upstream.url={upstream.url}",
                      config="listen: 127.0.0.1:1\nupstream: {url: 'discard:'}\n"
                             "maxHourlySeries: 1\nmaxDailySeries: 1\n")
    assert gate.send(GOOD).status == 204
    assert upstream.bodies == [GOOD]
    windows = gate.stats["windows"]
    assert [windows[name]["maxSeries"] for name in ("hourly", "daily")] == [7, 0]
