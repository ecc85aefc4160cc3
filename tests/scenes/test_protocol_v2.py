"""Remote write 2: the same series, the same limits, the same bytes; and what its senders are told."""

import pytest

import recorded
import wire
import wire_v2
from recorded import SAMPLES, SERIES
from refusals import KNOWN, NEW, send
from tables import check_rows
from upstream import Answer
from waiting import eventually
from wire_v2 import counts, write, written
from zstd_frame import sized, unzstd


def body_of(*labels):
    return wire.pack(wire_v2.request(*labels))


@pytest.fixture
def storing(upstream):
    """The stub as a store of remote write 2 that writes all it is sent."""
    def answer(request):
        raw = wire.unpack(request.body)
        return Answer(headers=counts(len(wire_v2.series_of(raw))))

    upstream.handler = answer
    return upstream


def test_the_recording_goes_through_byte_for_byte_and_is_counted(gate, storing):
    bodies = recorded.bodies("prometheus-3.5-v2")
    for body in bodies:
        reply = write(gate, body)
        assert reply.status == 204
        assert written(reply) == (len(wire_v2.series_of(wire.unpack(body))), 0, 0)
    assert storing.bodies == bodies
    assert {request.get("Content-Type") for request in storing.requests} == {wire_v2.HEADERS[1][1]}
    assert gate.stats["samples"] == {"received": SAMPLES, "accepted": SAMPLES, "refused": 0,
                                     "stored": SAMPLES, "failed": 0, "leftOut": 0}
    assert gate.current() == SERIES


@pytest.mark.parametrize("first", ["v1", "v2"])
def test_the_same_series_in_the_other_version_are_known(limited, storing, first):
    gate = limited("falsePositiveRate: 0.000000001\n")
    storing.handler = None
    order = {"v1": ("v1", "v2"), "v2": ("v2", "v1")}[first]
    for version in order:
        for body in recorded.bodies(f"prometheus-3.5-{version}"):
            assert (write(gate, body) if version == "v2" else gate.send(body)).status == 204
        assert gate.current() == SERIES


def test_what_is_refused_is_cut_out_and_counts_as_written(limited, storing):
    gate = limited("maxHourlySeries: 1000\nfalsePositiveRate: 0.000000001\n")
    body = recorded.bodies("prometheus-3.5-v2")[0]
    raw = wire.unpack(body)
    sent = wire_v2.series_of(raw)
    known = set()
    for series in sent:
        if len(known) < 1000:
            known.add(series)
    for _ in range(2):
        reply = write(gate, body)
        assert (reply.status, written(reply)) == (204, (len(sent), 0, 0))
        assert wire.unpack(storing.bodies[-1]) == wire_v2.without(raw, lambda series: series not in known)
        assert reply.refused == (len(set(sent) - known), sum(series not in known for series in sent))
    assert gate.current() == 1000


def test_histograms_and_exemplars_count_apart(limited, upstream):
    gate = limited("maxHourlySeries: 1\n")
    symbols = wire_v2.Symbols()
    kept = wire_v2.series(symbols, {"__name__": "a"}, wire_v2.sample(), wire_v2.exemplar(symbols, trace="1"))
    dropped = wire_v2.series(symbols, {"__name__": "b"}, wire_v2.histogram(), wire_v2.histogram(2),
                             wire_v2.exemplar(symbols, trace="2"))
    upstream.default = Answer(status=200, headers=counts(1, 0, 1))
    reply = write(gate, wire.pack(kept + dropped + symbols.encode()))  # symbols last: as good as first
    assert (reply.status, written(reply), reply.refused) == (200, (1, 2, 2), (1, 2))
    assert wire.unpack(upstream.bodies[0]) == kept + symbols.encode()


def test_a_store_that_says_no_counts_may_know_only_version_1(limited, upstream):
    gate = limited("maxHourlySeries: 2\n")
    for labels in (KNOWN, [KNOWN[0], NEW[0]]):  # then one of them is refused
        assert written(write(gate, body_of(*labels))) == (None, None, None)
    assert gate.metric("seriesgate_unconfirmed_requests_total") == 2
    eventually(lambda: gate.log.count("it may know only remote write 1") == 1, "it is told once")
    assert "protobuf_message: prometheus.WriteRequest" in gate.log


def test_limits_see_the_labels_behind_the_symbols(limited, upstream):
    gate = limited("limits: [{name: per-namespace, match: '{namespace!=\"\"}', each: [namespace], maxHourlySeries: 2}]\n")
    labels = [{"__name__": "m", "namespace": n, "pod": f"p{i}"} for n in ("a", "b") for i in range(3)]
    assert write(gate, body_of(*labels)).refused == (2, 2)
    budgets = {entry["group"]["namespace"]: entry["hourly"]["currentSeries"] for entry in gate.stats["limits"]}
    assert budgets == {"a": 2, "b": 2}
    event, = gate.said("series refused", limit="per-namespace", group='{namespace="a"}')
    assert event["example"] == 'm{pod="p2",namespace="a"}'


SYMBOL = wire.field(4, b"")


MALFORMED = {
    "beyond the table": (SYMBOL + wire.field(5, wire.field(1, b"\x09\x00")), "reference to a symbol"),
    "a series of version 1": (SYMBOL + wire.sampled("up", job="a"), "remote write 1"),
}


def test_a_malformed_request_is_400_and_changes_nothing(gate, upstream):
    def is_400(raw, reason):
        reply = write(gate, wire.pack(raw))
        assert reply.status == 400
        assert reason in reply.first_line, reply.first_line
        assert (upstream.requests, gate.current()) == ([], 0)

    check_rows(MALFORMED, is_400, gate)


# --- upstream.protocol: v1: for a store that only knows version 1

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
