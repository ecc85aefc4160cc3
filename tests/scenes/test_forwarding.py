"""What arrives upstream: the sender's bytes when nothing is refused, the kept slices of them otherwise."""

import pytest

import recorded
import wire
from recorded import SAMPLES, SERIES, leaks_allowed
from upstream import distinct_series
from waiting import eventually


@pytest.mark.parametrize("folder, received", [("metadata-v1", 0), ("native-histograms-v1", 2903 + 19)])
def test_metadata_and_native_histograms_arrive_byte_identical(gate, upstream, folder, received):
    bodies = recorded.bodies(folder)
    for body in bodies:
        assert gate.send(body).status == 204
    assert upstream.bodies == bodies
    assert gate.stats["samples"] == {"received": received, "accepted": received, "refused": 0,
                                     "stored": received, "failed": 0, "leftOut": 0}


def test_a_body_that_another_encoder_wrote_arrives_byte_identical(gate, upstream):
    raw = wire.sampled("up", job="a")
    literal_only = wire.varint(len(raw)) + bytes([(len(raw) - 1) << 2]) + raw
    assert gate.send(literal_only).status == 204
    assert upstream.bodies == [literal_only]


def test_a_partly_refused_request_is_the_original_minus_the_refused_series(limited, upstream, pb):
    gate = limited("maxHourlySeries: 700\n")
    body = recorded.bodies()[0]
    original = pb.WriteRequest.FromString(wire.unpack(body))
    distinct = recorded.distinct([body])

    reply = gate.send(body)

    assert len(upstream.requests) == 1
    kept = distinct_series(upstream.bodies)
    assert len(kept) == 700
    expected = pb.WriteRequest()
    expected.CopyFrom(original)
    del expected.timeseries[:]
    expected.timeseries.extend(t for t in original.timeseries if wire.identity(t.SerializeToString()) in kept)
    arrived = pb.WriteRequest.FromString(upstream.requests[0].raw)
    assert arrived == expected
    assert upstream.requests[0].raw == wire.without(wire.unpack(body), lambda series: series not in kept)
    assert reply.status == 204
    assert reply.refused == (len(distinct) - 700, len(original.timeseries) - len(arrived.timeseries))


def test_unknown_fields_metadata_and_nan_bits_survive_a_splice(limited, upstream):
    gate = limited("maxHourlySeries: 3\n")
    gate.send(wire.pack(wire.sampled("kept_stale") + wire.sampled("kept_nan") + wire.sampled("kept_plain")))
    upstream.clear()
    unknown_inside = wire.number_field(6, 1234) + wire.field(1000, b"\x00\xff extension")
    stale = wire.series({"__name__": "kept_stale"}, wire.field(wire.SAMPLES, wire.sample(wire.STALE, 2_000)))
    odd_nan = wire.series({"__name__": "kept_nan"},
                          wire.field(wire.SAMPLES, wire.sample(wire.ODD_NAN, 2_000) + wire.number_field(3, 1)),
                          unknown_inside)
    # Samples before labels, and value before name: legal, and no encoder would write it again like that.
    turned = wire.field(wire.TIMESERIES,
                        wire.field(wire.SAMPLES, wire.sample(-0.0, -5)) +
                        wire.field(wire.LABELS, wire.field(2, b"kept_plain") + wire.field(1, b"__name__")))
    cortex_source = wire.number_field(2, 1)
    unknown_number = wire.number_field(1000, 1) + wire.tag(1001, wire.FIXED32) + b"abcd" + wire.double_field(1002, 1.5)
    help_text = wire.metadata("kept_plain") + wire.metadata("refused_1", help_text="\u00e9" * 200)

    reply = gate.send(wire.pack(cortex_source + stale + wire.sampled("refused_1") + help_text + odd_nan +
                                wire.sampled("refused_2") + unknown_number + turned))

    assert reply.refused == (2, 2)
    assert upstream.requests[0].raw == cortex_source + stale + help_text + odd_nan + unknown_number + turned


def test_without_a_limit_stale_markers_and_exemplars_of_new_series_pass(gate, upstream):
    body = wire.pack(
        wire.series({"__name__": "m"}, wire.field(wire.SAMPLES, wire.sample(wire.STALE, 1))) +
        wire.series({"__name__": "e"}, wire.field(wire.EXEMPLARS, wire.exemplar(1.0, 1))))
    assert gate.send(body).refused is None
    assert upstream.bodies == [body]
    assert gate.current() == 0


def test_only_the_metadata_is_left_of_a_request_with_every_series_refused(limited, upstream):
    gate = limited("maxHourlySeries: 1\n")
    gate.send(wire.pack(wire.sampled("up", job="a")))
    upstream.clear()
    upstream.default.status = 200
    families = wire.metadata("up") + wire.metadata("down", kind=2)
    reply = gate.send(wire.pack(wire.sampled("up", job="b") + families + wire.sampled("up", job="c")))
    assert (reply.status, reply.refused) == (200, (2, 2))
    assert [request.raw for request in upstream.requests] == [families]


def test_discard_counts_and_limits_without_an_upstream(start_gate):
    gate = start_gate("--upstream.url=discard:", "--maxHourlySeries=1500")
    replies = [gate.send(body) for body in recorded.bodies()[:2]]
    assert [reply.status for reply in replies] == [204, 204]
    assert replies[0].refused == (len(recorded.distinct(recorded.bodies()[:1])) - 1500, 500)
    assert gate.current() == 1500


# --- the recorded requests of a real Prometheus: 16 requests, 32,000 samples, 31,817 distinct series

LIMIT = 10_000


def replay(gate, upstream):
    """Sends all recorded requests once. @return the distinct series that arrived and the (series, samples) refused"""
    upstream.clear()
    series = samples = 0
    with gate.client() as client:
        for body in recorded.bodies():
            reply = client.write(body)
            assert reply.status == 204
            if reply.refused:
                series += reply.refused[0]
                samples += reply.refused[1]
    return distinct_series(upstream.bodies), (series, samples)


def test_without_a_limit_all_arrive_and_are_counted(gate, upstream):
    arrived, refused = replay(gate, upstream)
    assert len(arrived) == SERIES
    assert upstream.bodies == recorded.bodies(), "byte for byte"
    assert refused == (0, 0)
    eventually(lambda: gate.stats["requests"]["total"] == 16, "the last one is counted, too")
    stats = gate.stats
    requests = stats["requests"]
    assert (requests["total"], requests["rejected"], requests["upstreamErrors"]) == (16, 0, 0)
    assert stats["samples"] == {"received": SAMPLES, "accepted": SAMPLES, "refused": 0, "stored": SAMPLES, "failed": 0, "leftOut": 0}
    for window in stats["windows"].values():
        assert (window["maxSeries"], window["currentSeries"], window["refusedSeries"]) == (0, SERIES, 0)


@pytest.mark.parametrize("flag, window", [("maxHourlySeries", "hourly"), ("maxDailySeries", "daily")])
def test_a_limit_admits_exactly_its_number_of_series_and_the_same_ones_again(start_gate, upstream, flag, window):
    gate = start_gate(f"--upstream.url={upstream.url}", f"--{flag}={LIMIT}")
    first, (_, refused_samples) = replay(gate, upstream)
    arrived_samples = recorded.sample_count(upstream.bodies)

    assert LIMIT <= len(first) <= LIMIT + leaks_allowed(SERIES - LIMIT)
    stats = gate.stats
    other = "daily" if window == "hourly" else "hourly"
    assert stats["windows"][window]["maxSeries"] == LIMIT
    assert stats["windows"][other]["maxSeries"] == 0
    assert stats["windows"][window]["currentSeries"] == LIMIT
    assert stats["windows"][other]["currentSeries"] == LIMIT
    assert arrived_samples + refused_samples == SAMPLES
    assert stats["samples"] == {"received": SAMPLES, "accepted": arrived_samples, "refused": refused_samples,
                                "stored": arrived_samples, "failed": 0, "leftOut": 0}
    assert stats["windows"][window]["refusedSamples"] == refused_samples
    assert stats["windows"][window]["refusedSeries"] == pytest.approx(SERIES - LIMIT, rel=0.05)
    assert stats["windows"][other]["refusedSeries"] == stats["windows"][other]["refusedSamples"] == 0

    for _ in range(2):
        again, _ = replay(gate, upstream)
        assert again == first
    stats = gate.stats
    assert stats["windows"][window]["currentSeries"] == LIMIT
    assert stats["windows"][window]["refusedSeries"] == pytest.approx(SERIES - LIMIT, rel=0.05)
    assert stats["windows"][window]["refusedSamples"] == 3 * refused_samples


def test_the_first_series_offered_are_the_ones_admitted(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", f"--maxHourlySeries={LIMIT}")
    replay(gate, upstream)
    assert upstream.bodies[:5] == recorded.bodies()[:5]


def test_native_histograms_and_samples_share_one_count_of_series(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=2000")
    for body in recorded.bodies("native-histograms-v1") * 2:
        assert gate.send(body).refused is None
    assert gate.current() == 1096
