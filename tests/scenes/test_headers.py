"""Headers, trailers, the query string and answers: what passes both ways, and what it costs. What belongs to one hop:
test_smuggling.py."""

import contextlib

import pytest

import recorded
import wire
from bounds import within
from client import WRITE, head
from tables import check_rows, named
from upstream import Answer
from waiting import eventually
from world import select

BODY = wire.pack(wire.sampled("up", job="a"))

END_TO_END = [
    ("Authorization", "Basic dXNlcjpwYXNz"),
    ("X-Scope-OrgID", "team-a"),
    ("THANOS-TENANT", "team-b"),
    ("Retry-Attempt", "3"),
    ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ("Accept-Encoding", "gzip"),
    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
    ("X-Unheard-Of", "  spaces  inside "),
    ("X-Empty", ""),
]


# --- towards the upstream

def test_end_to_end_headers_arrive_as_sent(gate, upstream):
    gate.send(BODY, END_TO_END)
    request = upstream.requests[0]
    for name, text in [*END_TO_END, *recorded.HEADERS]:
        assert request.all(name) == [text.strip()], name


def test_a_sender_that_closes_does_not_close_the_upstream_connection(start_gate, upstream):
    gate = start_gate(config=f"upstream: {{url: '{upstream.url}'}}\nserver: {{threads: 1}}\n")
    for _ in range(3):
        gate.send(BODY, [("Connection", "close")])
    assert {request.connection for request in upstream.requests} == {1}


# --- back to the sender

ANSWERS = [
    (200, [], b""),
    (202, [("X-Info", "deduplicated")], b"kept elsewhere\n"),
    (400, [("Content-Type", "text/plain; charset=utf-8")], b"out of order sample\nsecond line\n"),
    (409, [], b"conflict"),
    (429, [("Retry-After", "7")], b"slow down\n"),
    (429, [("Retry-After", "Wed, 21 Oct 2026 07:28:00 GMT")], b"slow down\n"),
    (500, [], b"it broke"),
    (503, [("Retry-After", "120")], b"storage is read-only\n"),
    (300, [("Location", "http://127.0.0.1:1/elsewhere")], b""),
]


def test_status_headers_and_body_of_the_answer_pass(gate, upstream):
    def passes(status, headers, body, framing):
        upstream.clear()
        upstream.default = Answer(status, headers, body, framing)
        reply = gate.send(BODY)
        assert (reply.status, reply.body) == (status, body)
        for name, value in headers:
            assert reply.all(name) == [value]
        assert len(upstream.requests) == 1

    rows = [(204, [("X-Info", "stored")], b"", "length")] + \
        [(*answer, framing) for answer in ANSWERS for framing in ("length", "chunked", "close")]
    check_rows({str(row): row for row in rows}, passes, gate)


def test_end_to_end_headers_of_the_answer_pass_and_hop_by_hop_ones_do_not(gate, upstream):
    upstream.default = Answer(200, [
        ("X-Prometheus-Remote-Write-Samples-Written", "2000"), ("Server-Timing", "db;dur=53"),
        ("X-Twice", "one"), ("X-Twice", "two"), ("Content-Encoding", "gzip"),
        ("Connection", "keep-alive, X-Named"), ("X-Named", "1"), ("Keep-Alive", "timeout=5"),
        ("Proxy-Connection", "keep-alive"), ("Trailer", "X-Checksum"), ("Upgrade", "h2c")], b"\x1f\x8b not really")
    reply = gate.send(BODY)
    assert reply.get("X-Prometheus-Remote-Write-Samples-Written") == "2000"
    assert reply.get("Server-Timing") == "db;dur=53"
    assert reply.all("X-Twice") == ["one", "two"]
    assert reply.get("Content-Encoding") == "gzip"
    assert reply.body == b"\x1f\x8b not really"
    for name in ("X-Named", "Keep-Alive", "Proxy-Connection", "Trailer", "Upgrade"):
        assert reply.get(name) is None, name


def test_what_the_gate_says_of_itself_no_store_says(limited, upstream):
    forged = [("X-Seriesgate-Refused-Series", "99"), ("x-seriesgate-refused-samples", "99"), ("X-Seriesgate-Else", "1")]
    gate = limited("maxHourlySeries: 1\n")
    assert gate.send(BODY).status == 204
    both = wire.pack(wire.sampled("up", job="a") + wire.sampled("up", job="b"))
    for answer in (Answer(204, forged), Answer(400, forged, b"no"), Answer(503, forged, b"later"), Answer(300, forged)):
        upstream.default = answer
        for body, refused in ((BODY, []), (both, ["1"])):
            reply = gate.send(body)
            assert reply.status == answer.status
            assert reply.all("X-Seriesgate-Refused-Series") == reply.all("X-Seriesgate-Refused-Samples") == refused
            assert reply.all("X-Seriesgate-Else") == []


# --- how large, and how many

def test_thousands_of_tiny_lines_are_refused_for_little(gate):
    with within(gate, memory_mib=32, cpu=2):
        for _ in range(100):
            with gate.raw() as connection:
                connection.send_what_it_takes(head()[:-2] + b"a:\r\n" * 16_000)
                assert connection.reply().status == 431


def test_headers_count_among_the_bytes_in_flight(start_gate, upstream):
    gate = start_gate(config=f"upstream: {{url: '{upstream.url}'}}\n"
                             "server: {maxInflightBytes: 192KiB, maxRequestBytes: 64KiB, maxDecodedBytes: 64KiB}\n")
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(gate.raw()) for _ in range(6)]
        for connection in connections:
            connection.send(head()[:-2] + b"a:" + b"x" * 40_000)

        def refused():
            sockets = {connection.socket: connection for connection in connections}
            return [sockets[each] for each in select.select(list(sockets), [], [], 0)[0]]
        eventually(lambda: len(refused()) >= 2, "there is no room for all")
        for connection in refused():
            reply = connection.reply()
            assert (reply.status, reply.get("Retry-After")) == (503, "1")
            assert connection.closed_within(5)
    eventually(lambda: gate.metric("seriesgate_inflight_bytes") < 1000, "all is given back")
    assert gate.send(BODY).status == 204


# --- trailers

TRAILERS = [("X-Scope-OrgID", "intruder"), ("Authorization", "Basic aW50cnVkZXI="), ("THANOS-TENANT", "intruder"),
            ("Content-Type", "text/plain"), ("Content-Encoding", "zstd"), ("Host", "elsewhere"), ("X-Any", "thing"),
            ("Connection", "close"), ("Expect", "100-continue"), ("traceparent", "00-0-0-00")]


def in_chunks(body, trailers, headers=()):
    lines = "".join(f"{name}: {value}\r\n" for name, value in trailers).encode()
    return (head(headers=[*recorded.HEADERS, ("Transfer-Encoding", "chunked"), *headers]) +
            b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(body), body, lines))


@pytest.mark.parametrize("headers", [[], [("X-Scope-OrgID", "honest"), ("Authorization", "Basic aG9uZXN0")]],
                         ids=["absent from the header", "beside those of the header"])
def test_a_trailer_is_no_header(limited, upstream, headers):
    gate = limited("tenants: {default: {maxHourlySeries: 10}}\n")
    tenant = dict(headers).get("X-Scope-OrgID", "")

    def is_none(trailers):
        upstream.clear()
        with gate.raw() as connection:
            for at in range(2):  # the connection stays
                connection.send(in_chunks(wire.pack(wire.sampled("up", job=f"{at}")), trailers, headers))
                assert connection.reply().status == 204
        assert [each["tenant"] for each in gate.stats["tenants"]] == [tenant]
        assert len(upstream.requests) == 2
        for request in upstream.requests:
            for name in ("X-Scope-OrgID", "Authorization"):
                assert request.all(name) == [value for key, value in headers if key == name]
            for name in ("THANOS-TENANT", "X-Any", "traceparent"):
                assert request.get(name) is None
            assert request.get("Content-Type") == "application/x-protobuf"
            assert request.get("Content-Encoding") == "snappy"
            assert request.get("Host") == upstream.host

    check_rows({"all": TRAILERS, **{each[0]: [each] for each in TRAILERS}}, is_none, gate)


# --- the sender's query string

def targets(upstream):
    return [request.target for request in upstream.requests]


def test_a_senders_query_stays_here(gate, upstream):
    def stays_here(query):
        upstream.clear()
        assert gate.send(BODY, path=f"{WRITE}?{query}").status == 204
        assert targets(upstream) == [WRITE]

    check_rows(named(["extra_label=tenant%3Dother", "=", "&&&", "?", "a=b;extra_label=c=d", "get_vm_proto_version=1"]),
               stays_here, gate)


def test_what_is_left_out_is_counted_and_told_once(gate):
    for _ in range(3):
        gate.send(BODY, path=f"{WRITE}?token=secret&x=1")
    assert gate.metric("seriesgate_query_arguments_dropped_total") == 6
    assert gate.log.count("upstream.forwardQuery") == 1
    assert "secret" not in gate.log


def test_what_is_asked_for_goes_on_byte_for_byte(limited, upstream):
    gate = limited("upstream: {forwardQuery: [extra_label, two words]}\n")
    asked = "extra%5flabel=a%3Db&extra_label=c%3dd&two+words=1&two%20words=2"
    assert gate.send(BODY, path=f"{WRITE}?x=1&{asked}&y=2&x=3").status == 204
    assert targets(upstream) == [f"{WRITE}?{asked}"]


def test_the_handshake_goes_on_and_nothing_else_goes_with_it(limited, upstream):
    gate = limited("upstream: {forwardQuery: [extra_label]}\n")
    with gate.client() as client:
        reply = client.request("POST", f"{WRITE}?a=b&get%5Fvm_proto_version=1&extra_label=c")
    assert (reply.status, upstream.bodies) == (204, [b""])  # the store's
    assert targets(upstream) == [f"{WRITE}?get_vm_proto_version=1"]


def test_a_long_query_costs_what_its_bytes_cost(limited, upstream):
    names = ", ".join(f"name-{n:03}" for n in range(64))
    gate = limited(f"upstream: {{forwardQuery: [{names}]}}\n")
    with within(gate, memory_mib=32, cpu=1, seconds=20):
        with gate.client() as client:
            for part in ("&", "a&", "%61=1&", "name-063=%20&"):
                for _ in range(20):
                    assert client.write(BODY, path=f"{WRITE}?{part * (60_000 // len(part))}").status == 204
