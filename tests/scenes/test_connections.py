"""More connections than there is room for: idle ones, slow ones, aborted ones, and no descriptors left."""

import contextlib
import struct

import pytest

import client
import recorded
from bounds import within
from client import head, post
from crowding import connections, given_up, is_open, turned_away
from upstream import holding
from waiting import eventually
from world import socket

GOOD = recorded.bodies("metadata-v1")[0]


def bounded(start_gate, upstream, total, per_peer=0, more="", **how):
    return start_gate(f"--upstream.url={upstream.url}", **how,
                      config=f"server: {{maxConnections: {total}, maxConnectionsPerPeer: {per_peer}{more}}}\n")


def test_the_longest_idle_connections_make_room_for_new_ones(start_gate, upstream):
    gate = bounded(start_gate, upstream, total=20)
    with connections(gate, 1) as (used,), connections(gate, 60) as idle:
        with within(gate, memory_mib=8, cpu=1, seconds=5):
            for _ in range(10):
                assert gate.send(GOOD).status == 204
                assert gate.get("/health").status == 200
        eventually(lambda: not is_open(used) and not any(is_open(each) for each in idle[:30]), "the oldest are closed")
        assert all(is_open(each) for each in idle[-5:])
        idle[-1].send(post(GOOD))
        assert idle[-1].reply().status == 204
        assert given_up(gate, "max_connections") >= 41
        eventually(lambda: gate.metric("seriesgate_connections") <= 20, "those that were given up are closed")
    eventually(lambda: gate.said("too many connections: some are closed or turned away"), "the log tells it")
    assert len(gate.said("too many connections: some are closed or turned away")) == 1, gate.log
    assert turned_away(gate, "max_connections") == 0


def test_a_peer_with_too_many_connections_closes_its_own(start_gate, upstream):
    gate = bounded(start_gate, upstream, total=100, per_peer=10)
    with connections(gate, 5, source="127.0.0.2") as others, connections(gate, 50) as greedy:
        assert gate.send(GOOD).status == 204
        eventually(lambda: not any(is_open(each) for each in greedy[:30]), "those of the greedy one are closed")
        assert all(is_open(each) for each in others)
        for each in others:
            each.send(post(GOOD))
            assert each.reply().status == 204
        assert given_up(gate, "max_connections_per_peer") >= 40
        assert given_up(gate, "max_connections") == 0


def test_who_finds_only_work_in_progress_is_told_to_come_again_and_health_is_answered(start_gate, upstream):
    gate = bounded(start_gate, upstream, total=10)
    with holding(upstream) as release, connections(gate, 10, post(GOOD)) as working:
        eventually(lambda: len(upstream.requests) == 10, "all are being worked on")
        with within(gate, memory_mib=8, cpu=0.5, seconds=3):
            for _ in range(5):
                reply = gate.send(GOOD)
                assert reply.status == 503 and int(reply.get("Retry-After")) >= 1, reply
                assert reply.get("Connection") == "close"
                assert gate.get("/health").status == 200
                assert gate.get("/-/ready").status == 200
        assert turned_away(gate, "max_connections") == 5
        assert given_up(gate, "max_connections") == 0
        release.set()
        assert [each.reply().status for each in working] == [204] * 10
    assert len(upstream.requests) == 10
    assert gate.send(GOOD).status == 204


def test_a_flood_that_leaves_no_room_even_for_guests_is_counted_and_survived(start_gate, upstream):
    gate = bounded(start_gate, upstream, total=10)
    with holding(upstream) as release, connections(gate, 10, post(GOOD)) as working:
        eventually(lambda: len(upstream.requests) == 10, "all are being worked on")
        with connections(gate, 300) as flood:
            assert gate.get("/health").status == 200
            assert eventually(lambda: turned_away(gate, "max_connections") >= 200, "they are counted")
            assert gate.metric("seriesgate_connections") <= 10 + 9 + 64 + 16
            assert sum(is_open(each) for each in flood) <= 64
        release.set()
        assert [each.reply().status for each in working] == [204] * 10
    assert gate.send(GOOD).status == 204


@pytest.mark.parametrize("part", [b"P", post(GOOD)[:30], post(GOOD)[:-5]], ids=["a byte", "a header", "a body"])
def test_requests_that_dribble_in_make_room_for_others(start_gate, upstream, part):
    gate = bounded(start_gate, upstream, total=20)
    with connections(gate, 20, part) as slow:
        eventually(lambda: gate.send(GOOD).status == 204, "one that takes longer than a second is closed", seconds=5)
        assert gate.get("/health").status == 200
        assert sum(is_open(each) for each in slow) >= 10
        assert given_up(gate, "max_connections") >= 1


def test_silent_and_halting_connections_keep_nobody_waiting_and_are_closed_in_time(start_gate, upstream):
    gate = bounded(start_gate, upstream, total=1000, more=", idleTimeout: 1s, readTimeout: 1s")
    with within(gate, memory_mib=32, cpu=1.5, seconds=10), contextlib.ExitStack() as open_ones:
        groups = [open_ones.enter_context(connections(gate, 100, start)) for start in (b"", b"P", b"G", b"\r")]
        for _ in range(20):
            assert gate.send(GOOD).status == 204
            assert gate.get("/health").status == 200
        eventually(lambda: gate.metric("seriesgate_connections") == 1, "they are closed", every=0.1)
        eventually(lambda: not any(is_open(each) for each in groups[0]), "their senders see it")


def test_connections_that_are_aborted_at_once_never_stop_the_others(gate, upstream):
    with within(gate, memory_mib=8, cpu=1.5, seconds=10):
        for at in range(600):
            with socket.socket() as aborted:
                aborted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                aborted.connect(gate.address)
                if at % 3:
                    aborted.send(b"GET /health HTTP/1.1\r\n\r\n" if at % 3 == 1 else post(GOOD))
            if at % 50 == 0:
                assert gate.send(GOOD).status == 204
    eventually(lambda: gate.metric("seriesgate_connections") == 1, "only the asking one is left")


def test_requests_for_both_threads_take_turns_on_one_connection(gate, upstream):
    asked = [head("GET", "/health"), post(GOOD), head("HEAD", "/-/ready"), head("GET", "/-/healthy"), post(GOOD)]
    methods = ["GET", "POST", "HEAD", "GET", "POST"]
    for begin in range(3):
        for pieces in (1, 7, 600):
            whole = b"".join(asked[begin:])
            with gate.raw() as connection:
                size = -(-len(whole) // pieces)
                for at in range(0, len(whole), size):
                    connection.send(whole[at:at + size])
                for method in methods[begin:]:
                    assert connection.reply(method).status == (204 if method == "POST" else 200), (begin, pieces)
    assert upstream.bodies == [GOOD] * 15


# --- one address for all or two, and what is answered where (unix sockets: tests/e2e/test_listeners.py)

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
