"""Where the gate listens: one address for all or two, TCP or unix sockets, and what is answered where."""

import os
import shutil
import signal
import stat
import subprocess

import pytest

import client
import recorded
from gate import run
from upstream import Answer
from waiting import eventually
from world import socket, threading

GOOD = recorded.bodies("metadata-v1")[0]
INGESTION = ["/api/v1/write", "/api/v1/push", "/api/prom/push", "/api/v1/receive"]
READ = ["/", "/health", "/-/healthy", "/-/ready", "/stats", "/metrics", "/config"]
APART = "--admin.listen=127.0.0.1:0"


@pytest.fixture
def directory(tmp_path_factory):
    """A short one: the path of a unix socket has at most 107 bytes."""
    made = tmp_path_factory.mktemp("s")
    yield made
    shutil.rmtree(made)


def ask(address, method, path, body=b""):
    with client.Client(address) as connection:
        if method == "POST" and body:
            return connection.write(body, path=path)
        return connection.request(method, path)


# --- apart

@pytest.mark.parametrize("apart", [False, True], ids=["one", "two"])
def test_every_path_is_answered_where_it_belongs_and_404_elsewhere(start_gate, upstream, apart):
    gate = start_gate(f"--upstream.url={upstream.url}", *([APART] if apart else []))
    assert (gate.address != gate.admin_address) == apart
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    elsewhere = 404 if apart else None
    table = [(method, path, at_listen, at_admin)
             for method, paths, at_listen, at_admin in [
                 ("POST", INGESTION, 204, elsewhere or 204), ("GET", INGESTION, 405, elsewhere or 405),
                 ("GET", READ, elsewhere or 200, 200), ("HEAD", READ, elsewhere or 200, 200),
                 ("POST", READ, elsewhere or 405, 405), ("POST", ["/-/reload"], elsewhere or 200, 200),
                 ("GET", ["/-/reload"], elsewhere or 405, 405), ("GET", ["/nowhere"], 404, 404),
                 ("POST", ["/nowhere"], 404, 404)]
             for path in paths]
    for method, path, at_listen, at_admin in table:
        body = GOOD if path in INGESTION and method == "POST" else b""
        assert ask(gate.address, method, path, body).status == at_listen, (method, path, "listen")
        assert ask(gate.admin_address, method, path, body).status == at_admin, (method, path, "admin.listen")


def test_who_asks_at_the_wrong_address_is_told_so(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", APART)
    paths = ", ".join(INGESTION)
    assert ask(gate.address, "GET", "/metrics").first_line == (
        f"no such path: /metrics; remote write goes to {paths}; nothing else is at this address")
    assert ask(gate.admin_address, "POST", "/api/v1/write", GOOD).first_line == (
        "no such path: /api/v1/write; remote write goes to another address; / says what there is")
    assert gate.metric("seriesgate_requests_rejected_total", reason="unknown_path") == 2
    assert upstream.requests == []


def test_the_start_says_where_it_listens(start_gate, upstream, directory):
    one = start_gate(f"--upstream.url={upstream.url}")
    assert one.said("seriesgate is up")[0]["admin_listen"] == one.said("seriesgate is up")[0]["listen"]
    path = directory / "a"
    two = start_gate(f"--upstream.url={upstream.url}", f"--admin.listen=unix:{path}")
    assert two.said("seriesgate is up", admin_listen=f"unix:{path}")


def test_a_reload_at_the_address_for_people_is_waited_for(start_gate, upstream, tmp_path):
    gate = start_gate(f"--upstream.url={upstream.url}", APART, config="maxHourlySeries: 5\n")
    reply = gate.reload("maxHourlySeries: 6\n")
    assert reply.status == 200 and b"maxHourlySeries" in reply.body


def test_senders_never_crowd_out_who_asks_at_the_address_for_people(start_gate, upstream):
    held = threading.Event()
    upstream.default = Answer(hold=held)
    gate = start_gate(f"--upstream.url={upstream.url}", APART,
                      config="server: {maxConnections: 4, maxConnectionsPerPeer: 0, threads: 1}\n")
    scraper = client.Client(gate.admin_address)
    assert scraper.get("/metrics").status == 200
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    working = [gate.raw() for _ in range(4)]
    try:
        for each in working:
            each.send(client.post(GOOD))
        eventually(lambda: len(upstream.requests) == 4, "all are being worked on")
        idle = [client.RawConnection(gate.address) for _ in range(200)]
        for _ in range(20):
            assert scraper.get("/metrics").status == 200
            assert gate.get("/-/ready").status == 200
        for each in idle:
            each.close()
    finally:
        held.set()
    assert [each.reply().status for each in working] == [204] * 4
    assert gate.metric("seriesgate_connections_given_up_total", reason="max_connections") == 0


def test_the_address_for_people_has_a_bound_of_its_own_and_senders_are_not_counted_in(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", APART, config="server: {maxConnections: 2}\n")
    sender = client.Client(gate.address)
    assert sender.write(GOOD).status == 204
    idle = [client.RawConnection(gate.admin_address) for _ in range(100)]
    assert sender.write(GOOD).status == 204
    assert gate.get("/health").status == 200
    assert gate.metric("seriesgate_connections_given_up_total", reason="max_connections") >= 37
    assert sender.write(GOOD).status == 204
    assert gate.metric("seriesgate_connections") <= 64 + 1
    for each in idle:
        each.close()


def test_while_it_drains_readiness_is_told_at_the_address_for_people(start_gate, upstream):
    held = threading.Event()
    upstream.default = Answer(hold=held)
    gate = start_gate(f"--upstream.url={upstream.url}", APART)
    working = gate.raw()
    working.send(client.post(GOOD))
    eventually(lambda: upstream.requests, "it is being worked on")
    gate.signal()
    eventually(lambda: gate.get("/-/ready").status == 503, "it drains")
    with pytest.raises(ConnectionRefusedError):
        client.connect(gate.address)
    assert gate.get("/-/healthy").status == 200
    held.set()
    assert working.reply().status == 204
    assert gate.wait() == 0


# --- unix sockets

@pytest.fixture
def at_paths(start_gate, upstream, directory):
    """A gate with a unix socket for senders and one for people."""
    senders, people = directory / "gate.sock", directory / "admin.sock"
    return start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{senders}", f"--admin.listen=unix:{people}")


def test_both_addresses_may_be_unix_sockets(at_paths, upstream):
    gate = at_paths
    assert gate.send(GOOD).status == 204
    assert upstream.bodies == [GOOD]
    assert gate.get("/-/healthy").status == 200
    assert ask(gate.address, "GET", "/stats").status == 404
    assert gate.metric("seriesgate_connections_accepted_total") == 4


def test_a_peer_at_a_unix_socket_is_called_so(at_paths, upstream):
    at_paths.send(b"\xff no snappy")
    eventually(lambda: at_paths.said("requests rejected", sender="unix", reason="malformed"), "the log says whose")


def test_no_bound_of_a_peer_holds_at_a_unix_socket(start_gate, upstream, directory):
    path = str(directory / "s")
    gate = start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{path}",
                      config="server: {maxConnections: 20, maxConnectionsPerPeer: 1}\n")
    several = [client.Client(path) for _ in range(10)]
    for _ in range(2):
        assert [each.write(GOOD).status for each in several] == [204] * 10
    assert gate.metric("seriesgate_connections_accepted_total") == 11
    assert gate.metric("seriesgate_connections_given_up_total", reason="max_connections_per_peer") == 0


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
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


def test_the_file_is_the_groups_and_goes_at_the_end(start_gate, upstream, directory):
    path = directory / "s"
    gate = start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{path}", "--admin.listen=127.0.0.1:0")
    found = os.lstat(path)
    assert stat.S_ISSOCK(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o660
    gate.stop()
    assert not path.exists()
    assert os.listdir(directory) == []


def test_a_file_that_a_killed_gate_left_behind_is_replaced(start_gate, upstream, directory):
    path = str(directory / "s")
    first = start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{path}")
    first.crash()
    assert os.path.exists(path)
    second = start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{path}")
    assert second.send(GOOD).status == 204


def cannot_listen(path):
    ended = run("--upstream.url=discard:", f"--listen=unix:{path}")
    assert ended.returncode == 2
    return ended.stderr


def test_a_file_that_is_in_use_is_an_error_and_stays(start_gate, upstream, directory):
    path = str(directory / "s")
    gate = start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{path}")
    assert f"cannot listen on unix:{path}: Address already in use" in cannot_listen(path)
    assert gate.send(GOOD).status == 204


def test_a_file_that_is_no_socket_is_an_error_and_stays(directory):
    path = directory / "s"
    path.write_text("precious")
    assert f"cannot listen on unix:{path}: Address already in use" in cannot_listen(path)
    assert path.read_text() == "precious"


def test_a_directory_that_is_not_there_is_an_error(directory):
    assert "No such file or directory" in cannot_listen(directory / "not" / "s")


def test_the_file_of_another_process_is_left_alone_at_the_end(start_gate, upstream, directory):
    path = str(directory / "s")
    gate = start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{path}", "--admin.listen=127.0.0.1:0")
    os.rename(path, path + ".old")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path)
        other.listen()
        gate.stop()
        assert os.path.exists(path)


@pytest.mark.parametrize("flags, why", [
    (["--listen=unix:gate.sock"], "--listen: 'gate.sock' is not the path of a unix socket"),
    (["--listen=unix:/" + "x" * 107], "has at most 107 bytes, this one has 108"),
    (["--admin.listen=9202"], "--admin.listen: '9202' is not an address"),
    (["--listen=unix:/run/a", "--admin.listen=unix:/run/a"], "--admin.listen: is the address of 'listen'"),
])
def test_a_wrong_address_is_a_mistake_of_the_configuration(flags, why):
    ended = run("--upstream.url=discard:", "--check-config", *flags)
    assert ended.returncode == 1
    assert why in ended.stderr and len(ended.stderr.splitlines()) == 1, ended.stderr


def test_a_reload_does_not_move_the_addresses_and_says_so(start_gate, upstream, directory):
    gate = start_gate(f"--upstream.url={upstream.url}", config="listen: 127.0.0.1:0\nadmin: {listen: 127.0.0.1:0}\n",
                      listen=None)
    reply = gate.reload(f"listen: unix:{directory / 's'}\n")
    assert reply.status == 200 and b"a restart is needed for: listen" in reply.body
    assert os.listdir(directory) == []


def test_draining_takes_the_file_away_at_once(start_gate, upstream, directory):
    held = threading.Event()
    upstream.default = Answer(hold=held)
    path = str(directory / "s")
    gate = start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{path}", APART)
    working = gate.raw()
    working.send(client.post(GOOD))
    eventually(lambda: upstream.requests, "it is being worked on")
    gate.signal(signal.SIGTERM)
    eventually(lambda: not os.path.exists(path), "another gate may listen there")
    next_one = start_gate(f"--upstream.url={upstream.url}", f"--listen=unix:{path}", APART)
    held.set()
    assert working.reply().status == 204
    assert gate.wait() == 0
    assert os.path.exists(path)
    assert next_one.send(GOOD).status == 204
