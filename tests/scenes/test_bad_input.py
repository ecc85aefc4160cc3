"""Bad input: a status, a readable first line, nothing upstream, nothing counted, and the process as well as before.

Bad HTTP, other methods and paths: test_smuggling.py.
"""

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

    def request(self, *what):
        self.upstream.clear()
        with self.gate.client() as client:
            return client.request(*what)

    def exchange(self, data, read_reply=lambda connection: connection.reply()):
        """As many of the bytes as the gate takes. @return what is read then"""
        self.upstream.clear()
        with self.gate.raw() as connection:
            connection.send_what_it_takes(data)
            return read_reply(connection)

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


@pytest.mark.parametrize("before", [b"", wire.sampled("never_counted")], ids=["alone", "after good series"])
def test_a_malformed_message_is_400_and_counts_nothing(served, before):
    served.check_rows(rows_of(malformed.messages()),
                      lambda raw: served.refuses(400, lambda: served.gate.send(wire.pack(before + raw))))


# --- the size of the body

CHUNKED = head(headers=[*recorded.HEADERS, ("Transfer-Encoding", "chunked")])


def announced(size, *more):
    return head(headers=[*recorded.HEADERS, ("Content-Length", size), *more])


TOO_LARGE = {
    "its length is announced": announced(3 * MEBIBYTE),
    "it is asked for with 100-continue": announced(3 * MEBIBYTE, ("Expect", "100-continue")),
    "all of it is written": post(b"x" * (16 * MEBIBYTE)),
    "in chunks": CHUNKED + (b"10000\r\n" + b"x" * 65_536 + b"\r\n") * 40 + b"0\r\n\r\n",
}


def test_a_body_over_the_bound_is_400_as_soon_as_that_is_known(served):
    served.check_rows(TOO_LARGE, lambda data: served.refuses(400, lambda: served.exchange(data)))


# --- what the body is said to be

BODIES = {"good body": GOOD, "bad body": b"not even snappy"}
TYPES = ["text/plain", "application/json", "application/octet-stream", "application/x-protobufs",
         "application/x-protobuf;proto=io.prometheus.write.v3.Request", "application/x-www-form-urlencoded",
         "application/x-protobuf;proto=prometheus.Unheard"]
ENCODINGS = ["gzip", "br", "identity", "deflate", "snappy, gzip", "x-snappy-framed"]
TWO_STATEMENTS = [
    [("Content-Encoding", "snappy"), ("Content-Encoding", "zstd")],
    [("Content-Type", "application/x-protobuf"),
     ("Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request")],
]


def test_a_body_that_is_said_to_be_something_else_is_415(served):
    said = [[("Content-Type", each)] for each in TYPES] + [[("Content-Encoding", each)] for each in ENCODINGS]
    said += TWO_STATEMENTS + [each[::-1] for each in TWO_STATEMENTS]
    served.check_rows(crossed(said, BODIES),
                      lambda fields, body: served.refuses(415, lambda: served.gate.send(body, fields)))


def test_without_content_type_or_encoding_it_is_remote_write_1_in_snappy(served):
    def is_taken(left_out):
        headers = [(name, value) for name, value in recorded.HEADERS if name not in left_out]
        assert served.request("POST", WRITE, GOOD, headers).status == 204
        assert served.upstream.bodies == [GOOD]
        assert all(served.upstream.requests[0].get(name) is None for name in left_out)

    served.check_rows(named([{"Content-Type"}, {"Content-Encoding"}, {"Content-Type", "Content-Encoding"}]), is_taken)


# --- near misses that are fine

SAMPLE = wire.field(wire.SAMPLES, wire.sample(1.0, 1))
FINE = {
    "unknown fields": malformed.rich_request()[0],
    "1024 labels": malformed.many_labels(1024),
    "invalid UTF-8": wire.series([(b"__name__", b"up"), (b"a", b"\xff\xfe\x80")], SAMPLE),
    "labels in two parts": wire.series([("__name__", "up")], SAMPLE, wire.field(wire.LABELS, wire.label("a", "b"))),
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


def test_the_handshake_query_does_not_let_a_body_pass_undecoded(served):
    served.refuses(400, lambda: served.gate.send(b"\xff not snappy", path=f"{WRITE}?get_vm_proto_version=1"))
