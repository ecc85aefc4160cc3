"""Every bound of docs/operation.md, reached: what is answered, and which metric shows it.

An answer to an overload tells the sender to come again, and does so before the gate has worked on the request.
"""

import base64
import contextlib
import random
import re

import pytest

import recorded
import wire
from bounds import within
from client import RawConnection, head, post
from crowding import connections
from gate import REPOSITORY
from upstream import Answer, holding
from waiting import eventually
from world import ThreadPoolExecutor, socket, time

BODY = wire.pack(wire.sampled("up", job="a"))
REJECTED, TURNED_AWAY = "seriesgate_requests_rejected_total", "seriesgate_connections_turned_away_total"
GIVEN_UP, TIMED_OUT = "seriesgate_connections_given_up_total", "seriesgate_connections_timed_out_total"
ERRORS = "seriesgate_upstream_errors_total"


def large(size):
    """A body of about so many bytes, in labels that can be no larger and that nothing compresses."""
    noise = random.Random(7)
    return wire.pack(wire.sampled("up", **{
        f"pad{at}": base64.b64encode(noise.randbytes(30_000)).decode() for at in range(0, size, 40_000)}))


# --- ways to reach one: (gate, upstream) -> (status, first line), or None if the connection ends without an answer --------

def sending(data):
    def reach(gate, _):
        with gate.raw() as connection:
            connection.send_what_it_takes(data)
            reply = connection.reply()
            return reply.status, reply.first_line, reply.get("Retry-After")
    return reach


def ending_after(data):
    """Sends this and then nothing, and does not read."""
    def reach(gate, _):
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(gate.address)
            with contextlib.suppress(ConnectionResetError, BrokenPipeError, TimeoutError):
                reader.settimeout(5)
                reader.sendall(data)
            eventually(lambda: sum(gate.metric(TIMED_OUT, waiting_for=each) for each in ("request", "reading", "ending")),
                       "it is closed", 20, every=0.1)
        return None
    return reach


def while_one_waits(reach):
    """Does it while a request waits for the store."""
    def do(gate, upstream):
        with holding(upstream), gate.raw() as waiting:
            waiting.send(post(large(300_000)))
            eventually(lambda: upstream.requests, "one waits for the store")
            return reach(gate, upstream)
    return do


def beside_idle(count):
    """So many idle connections: the one that has waited longest makes room."""
    def reach(gate, _):
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                stack.enter_context(RawConnection(gate.address)).send(head("GET", "/health"))
            return gate.send(BODY).status, "", None
    return reach


REQUEST = post(BODY)
# name: (configuration, way, status and first line or None, the metric that shows it, with its labels)
BOUNDS = {
    "server.maxRequestBytes": (
        "server: {maxRequestBytes: 64KiB}", sending(post(large(70_000))),
        (400, "body larger than server.maxRequestBytes", None), REJECTED, {"reason": "too_large"}),
    "server.maxDecodedBytes": (
        "server: {maxRequestBytes: 64KiB, maxDecodedBytes: 64KiB}", sending(post(wire.pack(bytes(70_000)))),
        (400, "decompresses to more than server.maxDecodedBytes", None), REJECTED, {"reason": "too_large"}),
    "server.maxInflightBytes": (
        "server: {maxRequestBytes: 400KiB, maxDecodedBytes: 400KiB, maxInflightBytes: 800KiB}",
        while_one_waits(sending(post(large(300_000)))),
        (503, "over server.maxInflightBytes", "1"), REJECTED, {"reason": "overloaded"}),
    "server.maxHeaderBytes": (
        "server: {maxHeaderBytes: 1KiB}", sending(post(BODY, headers=[("X-Long", "x" * 1024)])),
        (431, "header larger than server.maxHeaderBytes (1KiB)", None), REJECTED, {"reason": "invalid_http"}),
    "lines of a header": (
        "", sending(post(BODY, headers=[(f"X-{n}", "") for n in range(100)])),
        (431, "or 100 lines", None), REJECTED, {"reason": "invalid_http"}),
    "framing of a chunked body": (
        "", sending(head(headers=[*recorded.HEADERS, ("Transfer-Encoding", "chunked")]) + b"1;" + b"x" * 9000),
        (400, "malformed HTTP: bad chunk", None), REJECTED, {"reason": "invalid_http"}),
    "a tenant's name": (
        "", sending(post(BODY, headers=[("X-Scope-OrgID", "s" * 1025)])),
        (400, "tenant name of more than 1024 bytes: 1025", None), REJECTED, {"reason": "too_large"}),
    "server.maxConnections, some idle": (
        "server: {maxConnections: 2}", beside_idle(2), (204, "", None), GIVEN_UP, {"reason": "max_connections"}),
    "server.maxConnections, all at work": (
        "server: {maxConnections: 1}", while_one_waits(sending(REQUEST)),
        (503, "over server.maxConnections", "1"), TURNED_AWAY, {"reason": "max_connections"}),
    "server.maxConnectionsPerPeer": (
        "server: {maxConnectionsPerPeer: 1}", while_one_waits(sending(REQUEST)),
        (503, "over server.maxConnectionsPerPeer", "1"), TURNED_AWAY, {"reason": "max_connections_per_peer"}),
    "server.headerTimeout": (
        "server: {headerTimeout: 300ms}", sending(REQUEST[:50]),
        (503, "request not complete within server.headerTimeout (300ms)", "1"), REJECTED, {"reason": "timeout"}),
    "server.readTimeout": (
        "server: {readTimeout: 300ms}", sending(REQUEST[:-1]),
        (503, "request not complete within server.readTimeout (300ms)", "1"), REJECTED, {"reason": "timeout"}),
    "server.writeTimeout": (
        "server: {writeTimeout: 300ms}", ending_after(head("GET", "/metrics") * 1000), None,
        TIMED_OUT, {"waiting_for": "reading"}),
    "server.idleTimeout": (
        "server: {idleTimeout: 300ms}", ending_after(b""), None, TIMED_OUT, {"waiting_for": "request"}),
    "a sender that goes on after its last answer": (
        "server: {maxRequestBytes: 1KiB}", ending_after(head(headers=[*recorded.HEADERS, ("Content-Length", "2000")])),
        None, TIMED_OUT, {"waiting_for": "ending"}),
    "upstream.timeout": (
        "upstream: {timeout: 300ms}", while_one_waits(sending(REQUEST)),
        (504, "", None), ERRORS, {"reason": "timeout"}),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_is_told_and_shown(limited, upstream, name):
    text, reach, told, metric, labels = BOUNDS[name]
    gate = limited(text + "\n")
    assert gate.metric(metric, **labels) == 0
    began = time.monotonic()
    answer = reach(gate, upstream)
    if told is None:
        assert answer is None
    else:
        assert (answer[0], answer[2]) == (told[0], told[2]), answer
        assert told[1] in answer[1]
    assert time.monotonic() - began < 6, "nobody waits for more"
    eventually(lambda: gate.metric(metric, **labels) >= 1, "it is counted")
    upstream.default = Answer()
    eventually(lambda: gate.send(BODY).status == 204, "others are served")


@pytest.mark.parametrize("key", ["connectTimeout", "timeout"])
def test_an_address_that_does_not_accept_is_not_waited_for(start_gate, key):
    """A listener whose queue is full lets nobody in, and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as deaf:
        gate = start_gate(config=f"upstream: {{url: 'http://127.0.0.1:{deaf.getsockname()[1]}/w', {key}: 300ms}}\n")
        began = time.monotonic()
        reply = gate.send(BODY)
        assert (reply.status, "no answer in time" in reply.first_line) == (502, True), reply
        assert 0.3 <= time.monotonic() - began < 0.4, "not the five seconds that are the default"
        assert gate.metric(ERRORS, reason="connect_timeout") == 1


def test_who_is_turned_away_keeps_the_connection(limited, upstream):
    """Another one would cost more, with TLS above all."""
    gate = limited(BOUNDS["server.maxInflightBytes"][0] + "\n")
    with gate.raw() as waiting, gate.raw() as other:
        with holding(upstream):
            waiting.send(post(large(300_000)))
            eventually(lambda: upstream.requests, "one waits for the store")
            for _ in range(3):
                other.send(post(large(300_000)))
                assert (reply := other.reply()).status == 503 and reply.get("Connection") is None
        assert waiting.reply().status == 204
        other.send(post(large(300_000)))
        assert other.reply().status == 204
    assert len(upstream.requests) == 2


def test_the_table_of_bounds_is_whole():
    """Each key that is a bound stands in the table of docs/operation.md, and each row of it has a test here or elsewhere."""
    table = (REPOSITORY / "docs/operation.md").read_text().split("## Bounds", 1)[1].split("\n## ", 1)[0]
    keys = set(re.findall(r"(?:server|upstream)\.\w+", table))
    example = (REPOSITORY / "config/seriesgate.yaml").read_text()
    server = example.split("\nserver:\n", 1)[1].split("\n\n", 1)[0]
    bounds = {f"server.{key}" for key in re.findall(r"^  (max\w+|\w+Timeout):", server, re.MULTILINE)}
    assert bounds and bounds <= keys, bounds - keys
    metrics = set(re.findall(r"seriesgate_\w+", table))
    stats = (REPOSITORY / "docs/stats.md").read_text()
    assert metrics and all(metric in stats for metric in metrics)


# --- server.maxInflightBytes: what is counted is held, and what is read can be decoded

ROOM = "server: {maxRequestBytes: 1MiB, maxDecodedBytes: 4MiB, maxInflightBytes: 6MiB}\n"


def blown_up(decoded_bytes, name):
    """A small body that becomes large."""
    return wire.pack(wire.sampled(name, **{f"pad{i}": "x" * 50_000 for i in range(decoded_bytes // 50_000)}))


def test_decoded_bytes_that_were_given_back_keep_nobody_out(limited, upstream):
    """Two requests of 4 MiB decoded that waited for the store kept every third one out, though they held 400 KB."""
    gate = limited(ROOM)
    requests = 6
    with within(gate, seconds=20), ThreadPoolExecutor(requests) as senders:
        with holding(upstream):
            replies = []
            for i in range(requests):  # one after the other: they never are decoded at the same time
                replies.append(senders.submit(gate.send, blown_up(3_900_000, f"up{i}")))
                eventually(lambda: len(upstream.requests) == len(replies), "it has come to the store", 10)
            assert gate.metric("seriesgate_inflight_bytes") < 2_000_000
        assert [reply.result().status for reply in replies] == [204] * requests
    assert gate.metric("seriesgate_inflight_bytes") == 0


def test_bodies_leave_room_for_decoding(limited, upstream):
    """Bodies that come slowly took all there is, and then none of them could be decoded."""
    gate = limited(ROOM)
    announced = b"POST /api/v1/write HTTP/1.1\r\nHost: gate\r\nContent-Length: 1000000\r\n\r\n"
    with connections(gate, 8, announced + b"x" * 900_000):
        eventually(lambda: gate.metric("seriesgate_requests_rejected_total", reason="overloaded") >= 6,
                   "those for which there is no room are told so", 10)
        assert 900_000 <= gate.metric("seriesgate_inflight_bytes") <= 2 << 20  # 6 MiB without the 4 MiB to decode in
        eventually(lambda: gate.send(blown_up(3_900_000, "up")).status == 204, "one that is complete goes on", 10)
    eventually(lambda: gate.metric("seriesgate_inflight_bytes") == 0, "all of it is given back", 10)


def test_health_and_figures_are_answered_while_all_room_is_taken(limited, upstream):
    gate = limited(ROOM)  # 6 MiB, 4 of them for decoding
    begun = b"POST /api/v1/write HTTP/1.1\r\nHost: gate\r\nTransfer-Encoding: chunked\r\n\r\nf0000\r\n"
    with connections(gate, 2, begun + b"x" * 980_000), connections(gate, 1, begun + b"x" * ((2 << 20) - 2 * 980_000)):
        eventually(lambda: gate.metric("seriesgate_inflight_bytes") == 2 << 20, "all is taken")
        assert gate.send(blown_up(50_000, "up")).status == 503
        assert gate.get("/-/healthy").status == 200


def test_who_asks_how_much_is_in_flight_is_no_part_of_it(limited, upstream):
    with limited(ROOM).client() as client:
        metrics = client.request("GET", "/metrics", b"x" * 1000).body
    assert b"\nseriesgate_inflight_bytes 0\n" in metrics


def test_a_request_that_is_alone_is_never_turned_away(limited, upstream):
    """It is within its own bounds, and yet takes more than all may together: half of it is refused, and written anew."""
    gate = limited("maxHourlySeries: 40\nserver: {maxRequestBytes: 4MiB, maxDecodedBytes: 4MiB, maxInflightBytes: 8MiB}\n")
    noise = [wire.sampled("up", a=str(i), pad="".join(chr(33 + i * j * j % 89) for j in range(89)) * 551) for i in range(80)]
    for _ in range(3):
        eventually(lambda: gate.metric("seriesgate_inflight_bytes") == 0, "the one before has ended", 10)
        reply = gate.send(wire.pack(b"".join(noise)))
        assert (reply.status, reply.refused) == (204, (40, 40))
