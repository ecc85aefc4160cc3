"""Bad input: a status, a readable first line, nothing upstream, nothing counted, and the process as well as before."""

import pytest

import malformed
import recorded
import tables
import wire
from client import WRITE, head, post
from gate import Gate
from tables import crossed, named
from upstream import Upstream

ONE_WORLD = True
GOOD = wire.pack(malformed.GOOD)
MEBIBYTE = 1 << 20


class Served:
    """One gate for many bad requests, and what must not have changed after each."""

    def __init__(self, gate, upstream):
        self.gate = gate
        self.upstream = upstream

    def counted(self):
        stats = self.gate.stats
        return stats["samples"], {name: window["currentSeries"] for name, window in stats["windows"].items()}

    def refuses(self, status, send):
        """send() returns the reply to a bad request: `status`, and all is as before."""
        before, rejected = self.counted(), self.gate.stats["requests"]["rejected"]
        self.upstream.clear()
        reply = send()
        assert reply.status == status, reply
        assert_explained(reply)
        assert self.upstream.requests == []
        assert self.counted() == before
        assert self.gate.stats["requests"]["rejected"] == rejected + 1
        self.serves()
        return reply

    def check_rows(self, rows, check):
        tables.check_rows(rows, check, self.gate)

    def serves(self):
        assert self.gate.running
        assert self.gate.get("/health").status == 200
        self.upstream.clear()
        assert self.gate.send(GOOD).status == 204
        assert self.upstream.bodies == [GOOD]


def assert_explained(reply):
    """A reason for people on the first line, and no browser takes it for anything but text."""
    assert reply.get("Content-Type") == "text/plain; charset=utf-8"
    assert reply.get("X-Content-Type-Options") == "nosniff"
    line = reply.first_line
    assert 10 <= len(line) <= 300 and line.isascii() and line.isprintable(), reply.body[:300]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A gate with bounds small enough to step over."""
    upstream = Upstream()
    config = tmp_path_factory.mktemp("config") / "gate.yaml"
    config.write_text(f"upstream: {{url: '{upstream.url}'}}\n"
                      "maxHourlySeries: 1000\n"
                      "server: {maxRequestBytes: 2MiB, maxDecodedBytes: 4MiB}\n")
    gate = Gate(f"--config.file={config}")
    gate.send(GOOD)
    yield Served(gate, upstream)
    gate.stop()
    upstream.stop()


# --- bodies

def rows_of(pairs):
    rows = dict(pairs)
    assert len(rows) == len(pairs) > 10
    return rows


def test_a_body_that_is_no_snappy_block_is_400(served):
    served.check_rows(rows_of(malformed.snappy_bodies()), lambda body: served.refuses(400, lambda: served.gate.send(body)))


def test_a_malformed_message_is_400(served):
    served.check_rows(rows_of(malformed.messages()), lambda raw: served.refuses(400, lambda: served.gate.send(wire.pack(raw))))


def test_a_malformed_message_after_good_series_is_400_and_counts_none_of_them(served):
    def is_refused(raw):
        served.refuses(400, lambda: served.gate.send(wire.pack(wire.sampled("never_counted") + raw)))

    served.check_rows(rows_of(malformed.messages()), is_refused)


def test_a_message_truncated_at_any_byte_is_400(served):
    raw, ends = malformed.rich_request()
    before = served.counted()
    served.upstream.clear()
    with served.gate.client() as client:
        for size in range(1, len(raw)):
            if size not in ends:
                reply = client.write(wire.pack(raw[:size]))
                assert reply.status == 400, f"first {size} of {len(raw)} bytes: {reply}"
                assert_explained(reply)
    assert served.upstream.requests == []
    assert served.counted() == before
    assert served.gate.send(wire.pack(raw)).status == 204


def test_a_snappy_block_truncated_at_any_byte_is_400(served):
    block = wire.pack(malformed.GOOD * 3)
    before = served.counted()
    served.upstream.clear()
    with served.gate.client() as client:
        for size in range(len(block)):
            reply = client.write(block[:size])
            assert reply.status == 400, f"first {size} of {len(block)} bytes: {reply}"
            assert_explained(reply)
    assert served.upstream.requests == []
    assert served.counted() == before
    served.serves()


def test_a_block_that_decodes_to_more_than_the_bound_is_400(served):
    raw = b"".join(wire.sampled("up", job=f"{i:06}", pad="x" * 1000) for i in range(5000))
    assert len(raw) > 4 * MEBIBYTE and len(wire.pack(raw)) < 2 * MEBIBYTE
    served.refuses(400, lambda: served.gate.send(wire.pack(raw)))


# --- the size of the body

def test_a_body_over_the_bound_is_400(served):
    reply = served.refuses(400, lambda: served.gate.send(b"x" * (2 * MEBIBYTE + 1)))
    assert "server.maxRequestBytes" in reply.first_line


def test_a_content_length_over_the_bound_is_400_before_the_body(served):
    def send():
        with served.gate.raw() as connection:
            connection.send(head(headers=[*recorded.HEADERS, ("Content-Length", 3 * MEBIBYTE)]))
            return connection.reply()
    served.refuses(400, send)


def test_a_sender_that_writes_all_of_a_much_too_large_body_still_reads_the_reason(served):
    def send():
        with served.gate.raw() as connection:
            connection.send_what_it_takes(post(b"x" * (16 * MEBIBYTE)))
            return connection.reply()
    served.refuses(400, send)


def test_a_chunked_body_over_the_bound_is_400(served):
    def send():
        with served.gate.raw() as connection:
            connection.send(head(headers=[*recorded.HEADERS, ("Transfer-Encoding", "chunked")]))
            chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
            connection.send_what_it_takes(chunk * 40 + b"0\r\n\r\n")
            return connection.reply()
    served.refuses(400, send)


# --- what the body is said to be

BODIES = {"good body": GOOD, "bad body": b"not even snappy"}


def test_another_content_type_is_415(served):
    served.check_rows(
        crossed(["text/plain", "application/json", "application/octet-stream", "application/x-protobufs",
                 "application/x-protobuf;proto=io.prometheus.write.v3.Request", "application/x-protobuf;proto=prometheus.Unheard",
                 "application/x-www-form-urlencoded"], BODIES),
        lambda content_type, body: served.refuses(415, lambda: served.gate.send(body, [("Content-Type", content_type)])))


def test_another_content_encoding_is_415(served):
    served.check_rows(
        crossed(["gzip", "br", "identity", "deflate", "snappy, gzip", "x-snappy-framed"], BODIES),
        lambda encoding, body: served.refuses(415, lambda: served.gate.send(body, [("Content-Encoding", encoding)])))


def test_two_different_statements_about_the_body_are_415(served):
    doubled = {
        "encoding": [("Content-Encoding", "snappy"), ("Content-Encoding", "zstd")],
        "type": [("Content-Type", "application/x-protobuf"),
                 ("Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request")],
    }
    rows = {**doubled, **{f"{name}, the other way round": fields[::-1] for name, fields in doubled.items()}}
    served.check_rows(rows, lambda fields: served.refuses(415, lambda: served.gate.send(GOOD, fields)))


def test_without_content_type_or_encoding_it_is_remote_write_1_in_snappy(served):
    def is_taken(left_out):
        served.upstream.clear()
        with served.gate.client() as client:
            headers = [(name, value) for name, value in recorded.HEADERS if name not in left_out]
            assert client.request("POST", WRITE, GOOD, headers).status == 204
        assert served.upstream.bodies == [GOOD]
        assert all(served.upstream.requests[0].get(name) is None for name in left_out)

    served.check_rows(named([{"Content-Type"}, {"Content-Encoding"}, {"Content-Type", "Content-Encoding"}]), is_taken)


# --- methods and paths

def test_another_method_on_an_ingestion_path_is_405(served):
    def is_405(method, path):
        served.upstream.clear()
        before = served.counted()
        with served.gate.client() as client:
            reply = client.request(method, path)
        assert reply.status == 405
        assert reply.get("Allow") == "POST"
        assert_explained(reply)
        assert (served.upstream.requests, served.counted()) == ([], before)
        served.serves()

    served.check_rows(crossed(["GET", "PUT", "DELETE", "OPTIONS", "BREW"],
                              ["/api/v1/write", "/api/v1/push", "/api/prom/push", "/api/v1/receive"]), is_405)


def test_another_method_on_an_admin_path_is_405(served):
    def is_405(method, path):
        with served.gate.client() as client:
            reply = client.request(method, path)
        assert reply.status == 405
        assert reply.get("Allow") == "GET, HEAD" and b"this path takes GET, HEAD" in reply.body
        served.serves()

    served.check_rows(crossed(["POST", "PUT", "DELETE"],
                              ["/", "/health", "/-/healthy", "/-/ready", "/stats", "/metrics"]), is_405)


def test_an_unknown_path_is_404(served):
    def is_404(method, path):
        served.upstream.clear()
        with served.gate.client() as client:
            reply = client.request(method, path, GOOD if method == "POST" else b"")
        assert reply.status == 404
        assert reply.body.startswith(b"no such path") and reply.body.endswith(b"; / says what there is\n")
        assert_explained(reply)
        assert served.upstream.requests == []
        served.serves()

    served.check_rows(crossed(["GET", "POST"],
                              ["//", "/index.html", "/api/v1/writes", "/api/v1/write/", "/api/v1", "/metricsx", "/-/reloads", "/%2e",
                               "/api/v1/query", "//api/v1/write", "/API/V1/WRITE"]), is_404)


# --- HTTP itself

BROKEN = {
    "tls hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64,
    "no http": b"hello\r\n\r\n",
    "version": b"POST /api/v1/write HTTP/9.9\r\nHost: a\r\n\r\n",
    "negative length": b"POST /api/v1/write HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    "two lengths": b"POST /api/v1/write HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "huge length": b"POST /api/v1/write HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n",
    "length and chunked": b"POST /api/v1/write HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "gzip, chunked": b"POST /api/v1/write HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "identity": b"POST /api/v1/write HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n",
    "bad chunk": b"POST /api/v1/write HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    "huge chunk": b"POST /api/v1/write HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n\r\n",
    "bad header": b"GET /health HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n",
    "long header": b"GET /health HTTP/1.1\r\nHost: a\r\nX-Long: " + b"x" * 200_000 + b"\r\n\r\n",
    "long target": b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    "many headers": b"GET /health HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
}


def test_broken_http_is_answered_4xx_or_501_and_closed(served):
    def is_answered_and_closed(request_bytes):
        served.upstream.clear()
        before = served.counted()
        with served.gate.raw() as connection:
            connection.send_what_it_takes(request_bytes)
            reply = connection.reply()
            assert 400 <= reply.status < 500 or reply.status == 501
            assert connection.closed_within(10)
        assert (served.upstream.requests, served.counted()) == ([], before)
        served.serves()

    served.check_rows(BROKEN, is_answered_and_closed)


def test_a_bad_request_leaves_the_connection_usable(served):
    served.upstream.clear()
    with served.gate.raw() as connection:
        gzip = head(headers=[("Content-Encoding", "gzip"), ("Content-Length", len(GOOD))]) + GOOD
        connection.send(post(b"bad") + gzip + post(GOOD))
        assert [connection.reply().status for _ in range(3)] == [400, 415, 204]


# --- near misses that are fine

FINE = {
    "unknown fields": malformed.rich_request()[0],
    "1024 labels": malformed.many_labels(1024),
    "label value of 64 KiB": wire.series([("__name__", "up"), ("a", "v" * 65_536)],
                                         wire.field(wire.SAMPLES, wire.sample(1.0, 1))),
    "label name of 64 KiB": wire.series([("__name__", "up"), ("n" * 65_536, "v")],
                                        wire.field(wire.SAMPLES, wire.sample(1.0, 1))),
    "invalid UTF-8": wire.series([(b"__name__", b"up"), (b"a", b"\xff\xfe\x80")],
                                 wire.field(wire.SAMPLES, wire.sample(1.0, 1))),
    "zero bytes in a value": wire.series([("__name__", "up"), ("a", "\0\0")],
                                         wire.field(wire.SAMPLES, wire.sample(1.0, 1))),
    "labels in two parts": wire.series([("__name__", "up")], wire.field(wire.SAMPLES, wire.sample(1.0, 1)),
                                       wire.field(wire.LABELS, wire.label("a", "b"))),
    "negative timestamp": wire.sampled("up", timestamp=-1),
    "metadata only": wire.metadata("up"),
    "unknown fields only": wire.number_field(2, 1),
}


def test_unusual_but_well_formed_messages_pass_unchanged(served):
    def passes(raw):
        served.upstream.clear()
        body = wire.pack(raw)
        assert served.gate.send(body).status == 204
        assert served.upstream.bodies == [body]

    served.check_rows(FINE, passes)


def test_a_chunked_body_works(served):
    served.upstream.clear()
    body = wire.pack(malformed.GOOD * 500)
    with served.gate.raw() as connection:
        chunks = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part)
                          for part in (body[:1], body[1:50], body[50:]))
        connection.send(head(headers=[*recorded.HEADERS, ("Transfer-Encoding", "chunked")]) + chunks + b"0\r\n\r\n")
        assert connection.reply().status == 204
    request, = served.upstream.requests
    assert request.body == body
    assert (request.all("Transfer-Encoding"), request.get("Content-Length")) == ([], str(len(body)))


def test_expect_100_continue_works(served):
    served.upstream.clear()
    with served.gate.raw() as connection:
        connection.send(head(headers=[*recorded.HEADERS, ("Content-Length", len(GOOD)), ("Expect", "100-continue")]))
        connection.continues()
        connection.send(GOOD)
        assert connection.reply().status == 204
    assert served.upstream.bodies == [GOOD]


def test_a_body_over_the_bound_is_not_asked_for_with_100_continue(served):
    def send():
        with served.gate.raw() as connection:
            connection.send(head(headers=[*recorded.HEADERS, ("Content-Length", 3 * MEBIBYTE),
                                          ("Expect", "100-continue")]))
            return connection.reply()
    served.refuses(400, send)


def test_pipelined_requests_are_answered_in_order(served):
    served.upstream.clear()
    with served.gate.raw() as connection:
        bodies = [wire.pack(wire.sampled("up", job="a", value=float(i))) for i in range(5)]
        connection.send(b"".join(post(body) for body in bodies) + head("GET", "/health") + head("GET", "/nowhere"))
        assert [connection.reply().status for _ in range(5)] == [204] * 5
        assert connection.reply("GET").status == 200
        assert connection.reply("GET").status == 404
    assert served.upstream.bodies == bodies


def test_http_1_0_is_answered_and_closed(served):
    with served.gate.raw() as connection:
        connection.send(b"GET /health HTTP/1.0\r\n\r\n")
        assert connection.reply("GET").status == 200
        assert connection.closed_within(10)


def test_the_handshake_query_does_not_let_a_body_pass_undecoded(served):
    served.refuses(400, lambda: served.gate.send(b"\xff not snappy", path=f"{WRITE}?get_vm_proto_version=1"))
