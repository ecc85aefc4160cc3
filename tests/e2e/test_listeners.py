"""Unix sockets. What is answered where: tests/scenes/test_connections.py; the file: tests/net/socket_file_test.cpp."""

import os
import signal
import subprocess

import pytest

import client
import recorded
from gate import run
from upstream import Answer
from waiting import eventually
from world import threading

GOOD = recorded.bodies("metadata-v1")[0]
APART = "--admin.listen=127.0.0.1:0"


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "s")


@pytest.fixture
def at_path(start_gate, upstream, path):
    """at_path(*flags, **how): a gate that listens there."""
    return lambda *flags, **how: start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{path}", *flags, **how)


@pytest.fixture
def at_paths(at_path, path):
    """A gate with a unix socket for senders and one for people."""
    return at_path(f"--admin.listen=unix:{path}-admin")


def test_both_addresses_may_be_unix_sockets(at_paths, upstream):
    gate = at_paths
    assert gate.send(GOOD).status == 204
    assert upstream.bodies == [GOOD]
    assert gate.get("/-/healthy").status == 200
    assert client.get(gate.address, "/stats").status == 404
    assert gate.metric("seriesgate_connections_accepted_total") == 4
    gate.send(b"\xff no snappy")
    eventually(lambda: gate.said("requests rejected", sender="unix", reason="malformed"), "the log says whose")


def test_no_bound_of_a_peer_holds_at_a_unix_socket(at_path, path):
    gate = at_path(config="server: {maxConnections: 20, maxConnectionsPerPeer: 1}\n")
    several = [client.Client(path) for _ in range(10)]
    for _ in range(2):
        assert [each.write(GOOD).status for each in several] == [204] * 10
    assert gate.metric("seriesgate_connections_accepted_total") == 11
    assert gate.metric("seriesgate_connections_given_up_total", reason="max_connections_per_peer") == 0


def test_curl_reaches_a_unix_socket(at_paths, upstream):
    told = subprocess.run(["curl", "-s", "--unix-socket", at_paths.admin_address, "http://gate/-/healthy"],
                          capture_output=True, text=True, check=True)
    assert told.stdout == "OK\n"
    sent = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket", at_paths.address,
                           "--data-binary", "@-", "-H", "Content-Encoding: snappy",
                           "-H", "Content-Type: application/x-protobuf", "http://gate/api/v1/write"],
                          input=GOOD, capture_output=True, check=True)
    assert sent.stdout == b"204"
    assert upstream.bodies == [GOOD]


def test_a_file_that_a_killed_gate_left_behind_is_replaced_and_one_in_use_stays(at_path, path):
    at_path().crash()
    assert os.path.exists(path)
    gate = at_path()
    ended = run("--upstream.url=discard:", f"--listen=unix:{path}")
    assert ended.returncode == 2
    assert f"cannot listen on unix:{path}: Address already in use" in ended.stderr
    assert gate.send(GOOD).status == 204


def test_draining_takes_the_file_away_at_once(at_path, upstream, path):
    held = threading.Event()
    upstream.default = Answer(hold=held)
    gate = at_path(APART)
    working = gate.raw()
    working.send(client.post(GOOD))
    eventually(lambda: upstream.requests, "it is being worked on")
    gate.signal(signal.SIGTERM)
    eventually(lambda: not os.path.exists(path), "another gate may listen there")
    next_one = at_path(APART)
    held.set()
    assert working.reply().status == 204
    assert gate.wait() == 0
    assert os.path.exists(path)
    assert next_one.send(GOOD).status == 204
