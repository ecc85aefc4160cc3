"""upstream.protocol: v1: remote write 2 for a store that only knows version 1."""

import pytest

import recorded
import wire
import wire_v2
from refusals import KNOWN, send
from upstream import Answer
from wire_v2 import counts, write, written
from zstd_frame import sized, unzstd

TRANSLATING = "upstream: {protocol: v1}\n"


@pytest.fixture
def translating(limited):
    return limited(TRANSLATING)


def test_the_store_gets_version_1_and_headers_that_say_so(translating, upstream):
    upstream.default = Answer(status=200, body=b"fine")
    digests = [("Content-Digest", "sha-256=:x:"), ("X-Scope-OrgID", "t"), ("Retry-Attempt", "2")]
    reply = write(translating, wire.pack(wire_v2.request({"__name__": "up", "job": "a"}, {"__name__": "down"})), digests)
    assert (reply.status, reply.body, written(reply)) == (200, b"fine", (2, 0, 0))
    request = upstream.requests[0]
    assert wire.unpack(request.body) == wire.sampled("up", job="a") + wire.sampled("down")
    assert request.get("Content-Type") == "application/x-protobuf"
    assert request.get("X-Prometheus-Remote-Write-Version") == "0.1.0"
    assert request.get("Content-Encoding") == "snappy"
    assert request.get("Content-Digest") is None
    assert (request.get("X-Scope-OrgID"), request.get("Retry-Attempt")) == ("t", "2")
    assert translating.metric("seriesgate_unconfirmed_requests_total") == 0
    assert translating.metric("seriesgate_requests_forwarded_total", kind="translated") == 1


def test_version_1_goes_through_as_it_is(translating, upstream):
    bodies = [*recorded.bodies()[:2], b"\x00"]
    for body in bodies:
        reply = translating.send(body)
        assert (reply.status, written(reply)) == (204, (None, None, None))
    assert upstream.bodies == bodies


def test_zstd_stays_zstd(translating, upstream):
    headers = [("Content-Encoding", "zstd"), wire_v2.HEADERS[1]]
    assert translating.send(sized(wire_v2.request({"__name__": "up"})), headers).status == 204
    assert upstream.requests[0].get("Content-Encoding") == "zstd"
    assert unzstd(upstream.bodies[0]) == wire.sampled("up")


def test_an_empty_request_is_an_empty_request(translating, upstream):
    reply = write(translating, wire.pack(wire.field(wire_v2.SYMBOLS, b"")))
    assert (reply.status, written(reply), upstream.bodies) == (204, (0, 0, 0), [b"\x00"])


def test_what_version_1_has_no_words_for_is_an_error_and_the_rest_is_stored(translating, upstream):
    symbols = wire_v2.Symbols()
    custom = wire.field(wire_v2.HISTOGRAMS, wire.number_field(1, 1) + wire.number_field(4, 105))
    only, with_sample = (wire_v2.series(symbols, {"__name__": name}, custom, *rest)
                         for name, rest in (("a", ()), ("b", (wire_v2.sample(),))))
    reply = write(translating, wire.pack(only + with_sample + symbols.encode()))
    assert (reply.status, written(reply)) == (400, (1, 0, 0))
    assert reply.first_line == "left out 2 native histograms with custom buckets: remote write 1 has none"
    assert [wire.unpack(body) for body in upstream.bodies] == [wire.sampled("b")]
    reply = write(translating, wire.pack(only + symbols.encode()))
    assert (reply.status, written(reply), len(upstream.bodies)) == (400, (0, 0, 0), 1)
    assert translating.metric("seriesgate_untranslated_histograms_total") == 3


def test_a_body_that_would_become_too_large_is_refused_whole(limited, upstream):
    gate = limited(TRANSLATING + "server: {maxRequestBytes: 64KiB, maxDecodedBytes: 64KiB}\n")
    long_text = "x" * 10_000
    fitting, larger = (wire.pack(wire_v2.request(*({"__name__": "a", "b": long_text, "n": str(i)} for i in range(count))))
                       for count in (6, 7))
    assert write(gate, fitting).status == 204
    upstream.clear()
    reply = write(gate, larger)
    assert (reply.status, upstream.requests) == (400, [])
    assert reply.first_line.startswith("request too large with its symbols filled in")
    assert gate.current() == 6


def test_counts_of_a_store_that_knows_both_are_not_added(limited, upstream):
    gate = limited(f"maxHourlySeries: 2\n{TRANSLATING}")
    upstream.default = Answer(headers=counts(7, 7, 7))
    assert written(send(gate, "v2", KNOWN)) == (2, 0, 0)
