"""What was not in the header when it was read does not exist: trailers are dropped, on the way up and on the way down."""

import pytest

import recorded
import wire
from client import head
from tables import check_rows
from upstream import Answer

GOOD = wire.pack(wire.sampled("up", job="a"))
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


def test_trailers_are_bounded(gate, upstream):
    for trailers in ([("a", "b")] * 2000, [("X-Long", "x" * 10_000)]):
        with gate.raw() as connection:
            connection.send_what_it_takes(in_chunks(GOOD, trailers))
            assert connection.reply().status == 400
            assert connection.closed_within(5)
    assert upstream.requests == []


def test_a_trailer_of_the_answer_is_no_header(gate, upstream):
    upstream.default = Answer(200, [("X-Header", "yes")], b"stored")
    usual = upstream.default.encode

    def with_trailers():
        upstream.default.framing = "chunked"
        lines = b"X-Trailer: yes\r\nX-Prometheus-Remote-Write-Samples-Written: 99\r\nConnection: close\r\nRetry-After: 9\r\n"
        return usual().removesuffix(b"\r\n") + lines + b"\r\n"
    upstream.default.encode = with_trailers
    for _ in range(3):
        reply = gate.send(GOOD)
        assert (reply.status, reply.body, reply.get("X-Header")) == (200, b"stored", "yes")
        for name in ("X-Trailer", "X-Prometheus-Remote-Write-Samples-Written", "Retry-After"):
            assert reply.get(name) is None
