"""What a signal does to requests in flight, and what the first line and the command line say. More of the end:
tests/scenes. Mistakes: test_config_mistakes.py."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import wire
from client import refuses, send
from gate import BINARY, run
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


def test_further_signals_change_nothing_about_a_good_end(start_gate):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        gate = start_gate("--upstream.url=discard:")
        assert gate.send(GOOD).status == 204
        gate.signal(signal.SIGTERM)
        while gate.running:
            gate.signal(number)
        assert gate.wait() == 0, number


NAMESPACE = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "--pid", "--fork", "--kill-child"]


@pytest.mark.skipif(subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode != 0, reason="no PID namespaces")
def test_a_signal_is_not_lost_while_a_container_starts(tmp_path):
    """The first process of a PID namespace gets no signal that it has no handler for."""
    (tmp_path / "secret").write_bytes(b"s" * 32)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # a Valkey that says nothing, which takes the gate seconds
        (tmp_path / "gate.yaml").write_text(f"upstream: {{url: 'discard:'}}\nlisten: 127.0.0.1:0\n"
                                            f"shared: {{url: 'redis://127.0.0.1:{silent.getsockname()[1]}'}}\n"
                                            f"fingerprint: {{secretFile: '{tmp_path}/secret'}}\n")
        gate = subprocess.Popen([*NAMESPACE, BINARY, f"--config.file={tmp_path}/gate.yaml"])
        try:
            silent.settimeout(20)
            silent.accept()
            os.kill(int(Path(f"/proc/{gate.pid}/task/{gate.pid}/children").read_text()), signal.SIGTERM)
            assert gate.wait(20) == 0
        finally:
            gate.kill()


# --- the command line

def test_version_and_help():
    version = run("--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout.startswith("seriesgate ") and len(version.stdout.splitlines()) == 1
    usage = run("--help")
    assert (usage.returncode, usage.stderr) == (0, "")
    assert all(f"{each}" in usage.stdout for each in ("--health-check", "seriesgate top --help", "seriesgate suggest --help"))


# --- the first line of the log

@pytest.mark.one_thread
@pytest.mark.parametrize("form", ["logfmt", "json"])
def test_the_first_line_says_what_was_started(start_gate, tmp_path, form):
    config = f"""
log: {{format: {form}, level: info}}
upstream: {{url: "http://127.0.0.1:1/write?token=sesame"}}
maxHourlySeries: 1000
mode: observe
tenants: {{default: {{maxDailySeries: 70}}, overrides: {{a: {{}}, b: {{}}}}}}
limits: [{{name: per-job, each: [job]}}, {{name: other, mode: observe}}]
state: {{dir: {tmp_path}/state}}
server: {{threads: 3}}
"""
    gate = start_gate(config=config)
    event, = gate.said("seriesgate is up")
    threads = 3 if form == "json" else "3"
    assert {key: value for key, value in event.items() if key not in ("ts", "version")} == {
        "level": "info", "msg": "seriesgate is up", "listen": f"127.0.0.1:{gate.address[1]}",
        "admin_listen": f"127.0.0.1:{gate.address[1]}", "tls": "no", "authentication": "none",
        "upstream": "http://127.0.0.1:1/write?<secret>", "protocol": "passthrough", "mode": "observe",
        "max_hourly_series": "1000", "max_daily_series": "no limit", "max_active_series": "no limit",
        "tenants": "each 70 a day; 2 overrides", "limits": "2: per-job, other (observe)",
        "state": f"{tmp_path}/state", "threads": threads, "config_file": str(gate.config_file)}
    assert event["version"] == gate.stats["version"] == run("--version").stdout.split()[1]


# --- what it tells of its process

def test_process_metrics_have_the_names_of_the_client_libraries(gate):
    metrics = {name: value for (name, labels), value in gate.metrics.items() if not labels}
    assert abs(metrics["process_start_time_seconds"] - time.time()) < 120
    assert metrics["process_cpu_seconds_total"] >= 0
    assert metrics["process_resident_memory_bytes"] > 1 << 20
    assert metrics["process_virtual_memory_bytes"] > 1 << 20
    assert 3 < metrics["process_open_fds"] <= metrics["process_max_fds"]
