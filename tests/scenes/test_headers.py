"""Headers and answers pass through both ways; what belongs to one hop does not. Query strings: test_query.py."""

import pytest

import recorded
import wire
from tables import check_rows
from upstream import Answer

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


def test_hop_by_hop_headers_stay_behind(gate, upstream):
    hop_by_hop = [("Connection", "keep-alive, X-Named"), ("Connection", "x-named-too"), ("X-Named", "1"),
                  ("X-Named-Too", "1"), ("Keep-Alive", "timeout=5"), ("Proxy-Connection", "keep-alive"),
                  ("TE", "trailers"), ("Trailer", "X-Checksum"), ("Upgrade", "h2c"),
                  ("Proxy-Authorization", "Basic eDp5"), ("Proxy-Authenticate", "Basic")]
    gate.send(BODY, [*hop_by_hop, ("X-Kept", "1")])
    request = upstream.requests[0]
    assert request.get("X-Kept") == "1"
    left = {name.lower() for name, _ in request.headers} & {name.lower() for name, _ in hop_by_hop}
    assert left <= {"connection"}
    assert (request.get("Connection") or "keep-alive").lower() == "keep-alive"


def test_a_sender_that_closes_does_not_close_the_upstream_connection(start_gate, upstream):
    gate = start_gate(config=f"upstream: {{url: '{upstream.url}'}}\nserver: {{threads: 1}}\n")
    for _ in range(3):
        gate.send(BODY, [("Connection", "close")])
    assert {request.connection for request in upstream.requests} == {1}


@pytest.mark.parametrize("configured, sent, target", [
    ("/api/v1/write", "/api/v1/write", "/api/v1/write"),
    ("/some/where", "/api/v1/push", "/some/where"),
    ("/w", "/api/prom/push?extra_label=a%3Db&x=%20", "/w"),
    ("/w?tenant=1", "/api/v1/receive", "/w?tenant=1"),
    ("/w?tenant=1", "/api/v1/write?extra_label=a=b", "/w?tenant=1"),
    ("/", "/api/v1/write", "/"),
])
def test_path_and_query_are_the_upstreams(start_gate, upstream, configured, sent, target):
    gate = start_gate(f"--upstream.url=http://{upstream.host}{configured}")
    assert gate.send(BODY, path=sent).status == 204
    assert upstream.requests[0].target == target


def test_an_upstream_given_by_name_is_resolved_and_named_in_host(start_gate, upstream):
    gate = start_gate(f"--upstream.url=http://localhost:{upstream.port}/w")
    assert gate.send(BODY).status == 204
    assert upstream.requests[0].get("Host") == f"localhost:{upstream.port}"


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
    (302, [("Location", "http://127.0.0.1:1/elsewhere")], b""),
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
    for answer in (Answer(204, forged), Answer(400, forged, b"no"), Answer(503, forged, b"later"), Answer(307, forged)):
        upstream.default = answer
        for body, refused in ((BODY, []), (both, ["1"])):
            reply = gate.send(body)
            assert reply.status == answer.status
            assert reply.all("X-Seriesgate-Refused-Series") == reply.all("X-Seriesgate-Refused-Samples") == refused
            assert reply.all("X-Seriesgate-Else") == []


def test_the_senders_host_goes_on_where_that_is_wanted(limited, upstream):
    gate = limited("upstream: {hostHeader: sender}\n")
    assert gate.send(BODY, [("Host", "metrics.example:8080")]).status == 204
    assert upstream.requests[0].all("Host") == ["metrics.example:8080"]


def test_a_long_error_body_passes_and_an_endless_one_is_cut(gate, upstream):
    line = b"one line for each bad series\n"
    upstream.default = Answer(400, [], line * 8_000)
    assert gate.send(BODY).body == upstream.default.body
    upstream.default = Answer(400, [], line * 800_000)
    reply = gate.send(BODY)
    assert reply.status == 400
    assert upstream.default.body.startswith(reply.body) and 200_000 < len(reply.body) < 1_000_000
    upstream.default = Answer(204)
    assert gate.send(BODY).status == 204
