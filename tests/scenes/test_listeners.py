"""One address for all or two, and what is answered where. Unix sockets: tests/e2e/test_listeners.py."""

import os

import pytest

import client
import recorded
from crowding import connections
from upstream import holding
from waiting import eventually

GOOD = recorded.bodies("metadata-v1")[0]
INGESTION = ["/api/v1/write", "/api/v1/push", "/api/prom/push", "/api/v1/receive", "/prometheus/api/v1/write",
             "/prometheus/api/v1/push"]
READ = ["/", "/health", "/-/healthy", "/-/ready", "/stats", "/metrics", "/config"]
APART = "--admin.listen=127.0.0.1:0"


@pytest.fixture
def apart(limited):
    """apart(text): a gate with an address of its own for people."""
    return lambda text="": limited(text, APART)


def ask(address, method, path, body=b""):
    with client.Client(address) as connection:
        if method == "POST" and body:
            return connection.write(body, path=path)
        return connection.request(method, path)


@pytest.mark.parametrize("two", [False, True], ids=["one", "two"])
def test_every_path_is_answered_where_it_belongs_and_404_elsewhere(limited, two):
    gate = limited("", *([APART] if two else []))
    assert (gate.address != gate.admin_address) == two
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    elsewhere = 404 if two else None
    table = [(method, path, at_listen, at_admin)
             for method, paths, at_listen, at_admin in [
                 ("POST", INGESTION, 204, elsewhere or 204), ("GET", INGESTION, 200, elsewhere or 200),
                 ("GET", READ, elsewhere or 200, 200), ("HEAD", READ, elsewhere or 200, 200),
                 ("POST", READ, elsewhere or 405, 405), ("POST", ["/-/reload"], elsewhere or 200, 200),
                 ("GET", ["/-/reload"], elsewhere or 405, 405), ("GET", ["/nowhere"], 404, 404),
                 ("POST", ["/nowhere"], 404, 404), ("OPTIONS", ["/", "*"], 204, 204)]
             for path in paths]
    for method, path, at_listen, at_admin in table:
        body = GOOD if path in INGESTION and method == "POST" else b""
        assert ask(gate.address, method, path, body).status == at_listen, (method, path, "listen")
        assert ask(gate.admin_address, method, path, body).status == at_admin, (method, path, "admin.listen")


def test_who_asks_at_the_wrong_address_is_told_so(apart, upstream):
    gate = apart()
    paths = ", ".join(INGESTION)
    assert ask(gate.address, "GET", "/metrics").first_line == (
        f"no such path: /metrics; remote write goes to {paths}; nothing else is at this address")
    assert ask(gate.admin_address, "POST", "/api/v1/write", GOOD).first_line == (
        "no such path: /api/v1/write; remote write goes to another address; / says what there is")
    assert gate.metric("seriesgate_requests_rejected_total", reason="unknown_path") == 2
    assert upstream.requests == []


def test_a_reload_at_the_address_for_people_is_waited_for(apart):
    gate = apart("maxHourlySeries: 5\n")
    reply = gate.reload("maxHourlySeries: 6\n")
    assert reply.status == 200 and b"maxHourlySeries" in reply.body


def test_senders_never_crowd_out_who_asks_at_the_address_for_people(apart, upstream):
    gate = apart("server: {maxConnections: 4, maxConnectionsPerPeer: 0, threads: 1}\n")
    scraper = client.Client(gate.admin_address)
    assert scraper.get("/metrics").status == 200
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    with holding(upstream) as release, connections(gate, 4, client.post(GOOD)) as working:
        eventually(lambda: len(upstream.requests) == 4, "all are being worked on")
        with connections(gate, 200):
            for _ in range(20):
                assert scraper.get("/metrics").status == 200
                assert gate.get("/-/ready").status == 200
        release.set()
        assert [each.reply().status for each in working] == [204] * 4
    assert gate.metric("seriesgate_connections_given_up_total", reason="max_connections") == 0


def test_the_address_for_people_has_a_bound_of_its_own_and_senders_are_not_counted_in(apart):
    gate = apart("server: {maxConnections: 2}\n")
    sender = gate.client()
    assert sender.write(GOOD).status == 204
    idle = [client.RawConnection(gate.admin_address) for _ in range(100)]
    assert sender.write(GOOD).status == 204
    assert gate.get("/health").status == 200
    assert gate.metric("seriesgate_connections_given_up_total", reason="max_connections") == 100 + 2 - 64
    assert sender.write(GOOD).status == 204
    assert gate.metric("seriesgate_connections") <= 64 + 1
    for each in idle:
        each.close()


def test_while_it_drains_readiness_is_told_at_the_address_for_people(apart, upstream):
    gate = apart()
    with gate.raw() as working:
        with holding(upstream):
            working.send(client.post(GOOD))
            eventually(lambda: upstream.requests, "it is being worked on")
            gate.signal()
            eventually(lambda: gate.get("/-/ready").status == 503, "it drains")
            assert client.refuses(gate.address)
            assert gate.get("/-/healthy").status == 200
        assert working.reply().status == 204
    assert gate.wait() == 0


def test_a_reload_does_not_move_the_addresses_and_says_so(start_gate, upstream, tmp_path):
    directory = tmp_path / "d"
    directory.mkdir()
    gate = start_gate(f"--upstream.url={upstream.url}", config="listen: 127.0.0.1:0\nadmin: {listen: 127.0.0.1:0}\n",
                      listen=None)
    reply = gate.reload(f"listen: unix:{directory / 's'}\n")
    assert reply.status == 200 and b"a restart is needed for: listen" in reply.body
    assert os.listdir(directory) == []
