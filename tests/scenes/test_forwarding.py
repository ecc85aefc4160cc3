"""What arrives upstream: the sender's bytes when nothing is refused, the kept slices of them otherwise."""

import pytest

import recorded
import wire
from upstream import distinct_series


# --- nothing refused

def test_recorded_requests_arrive_byte_identical(gate, upstream):
    bodies = recorded.bodies()
    assert len(bodies) == 16
    with gate.client() as client:
        for body in bodies:
            reply = client.write(body)
            assert (reply.status, reply.body, reply.refused) == (204, b"", None)
    assert upstream.bodies == bodies


@pytest.mark.parametrize("folder, received", [("metadata-v1", 0), ("native-histograms-v1", 2903 + 19)])
def test_metadata_and_native_histograms_arrive_byte_identical(gate, upstream, folder, received):
    bodies = recorded.bodies(folder)
    for body in bodies:
        assert gate.send(body).status == 204
    assert upstream.bodies == bodies
    assert gate.stats["samples"] == {"received": received, "accepted": received, "refused": 0,
                                     "stored": received, "failed": 0}


def test_a_request_with_all_series_admitted_by_a_limit_arrives_byte_identical(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=2000")
    body = recorded.bodies()[0]
    for _ in range(2):
        assert gate.send(body).refused is None
    assert upstream.bodies == [body, body]


def test_an_empty_message_is_forwarded_unchanged(gate, upstream):
    assert gate.send(b"\x00").status == 204
    assert upstream.bodies == [b"\x00"]


def test_a_body_that_another_encoder_wrote_arrives_byte_identical(gate, upstream):
    raw = wire.sampled("up", job="a")
    literal_only = wire.varint(len(raw)) + bytes([(len(raw) - 1) << 2]) + raw
    assert gate.send(literal_only).status == 204
    assert upstream.bodies == [literal_only]


# --- some refused

def limited(start_gate, upstream, count):
    return start_gate(f"--upstream.url={upstream.url}", f"--maxHourlySeries={count}")


def test_a_partly_refused_request_is_the_original_minus_the_refused_series(start_gate, upstream, pb):
    gate = limited(start_gate, upstream, 700)
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


def test_partly_refused_native_histograms_keep_their_bytes(start_gate, upstream):
    gate = limited(start_gate, upstream, 500)
    bodies = recorded.bodies("native-histograms-v1")
    for body in bodies:
        gate.send(body)
    kept = distinct_series(upstream.bodies)
    assert len(kept) == 500
    expected = [wire.without(wire.unpack(body), lambda series: series not in kept) for body in bodies]
    assert [request.raw for request in upstream.requests] == [raw for raw in expected if raw]


def test_unknown_fields_metadata_and_nan_bits_survive_a_splice(start_gate, upstream):
    gate = limited(start_gate, upstream, 3)
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


def test_series_refused_at_either_end_and_in_runs_leave_the_rest_in_order(start_gate, upstream):
    gate = limited(start_gate, upstream, 3)
    known = [wire.sampled(f"known_{i}") for i in range(3)]
    gate.send(wire.pack(b"".join(known)))
    upstream.clear()
    new = [wire.sampled(f"new_{i}", value=float(i)) for i in range(6)]
    again = [wire.sampled(f"known_{i}", value=7.0, timestamp=1_700_000_001_000) for i in range(3)]

    reply = gate.send(wire.pack(new[0] + again[2] + new[1] + new[2] + again[0] + again[1] + new[3] + new[4] + new[5]))

    assert reply.refused == (6, 6)
    assert upstream.requests[0].raw == again[2] + again[0] + again[1]


def test_a_series_that_occurs_twice_is_charged_once_and_kept_or_refused_as_a_whole(start_gate, upstream):
    gate = limited(start_gate, upstream, 1)
    first = wire.sampled("up", job="a") + wire.sampled("up", job="a", timestamp=1_700_000_001_000)
    second = wire.sampled("up", job="b") + wire.sampled("up", job="b", timestamp=1_700_000_001_000)
    reply = gate.send(wire.pack(first + second))
    assert reply.refused == (1, 2)
    assert upstream.requests[0].raw == first
    assert gate.current() == 1


def test_label_order_and_empty_labels_do_not_make_another_series(start_gate, upstream):
    gate = limited(start_gate, upstream, 1)
    sample = wire.field(wire.SAMPLES, wire.sample(1.0, 1))
    same = [wire.series([("__name__", "up"), ("job", "a"), ("zone", "b")], sample),
            wire.series([("zone", "b"), ("job", "a"), ("__name__", "up")], sample),
            wire.series([("__name__", "up"), ("empty", ""), ("job", "a"), ("zone", "b")], sample)]
    assert gate.send(wire.pack(b"".join(same))).refused is None
    assert gate.send(wire.pack(same[1])).refused is None
    other = [wire.series([("__name__", "up"), ("job", "ab"), ("zone", "")], sample),
             wire.series([("__name__", "up"), ("job", "az"), ("one", "b")], sample)]
    assert gate.send(wire.pack(b"".join(other))).refused == (2, 2)
    assert gate.current() == 1


def test_a_histogram_admits_a_series_but_a_stale_marker_and_an_exemplar_do_not(start_gate, upstream):
    gate = limited(start_gate, upstream, 2)
    histogram = wire.series({"__name__": "h"}, wire.field(wire.HISTOGRAMS, wire.number_field(1, 3)))
    marker = wire.series({"__name__": "m"}, wire.field(wire.SAMPLES, wire.sample(wire.STALE, 1)))
    exemplar = wire.series({"__name__": "e"}, wire.field(wire.EXEMPLARS, wire.exemplar(1.0, 1, trace_id="1")))
    assert gate.send(wire.pack(histogram + marker + exemplar)).status == 204
    assert upstream.requests[0].raw == histogram
    assert gate.current() == 1

    known = wire.sampled("m") + wire.sampled("h")
    gate.send(wire.pack(known + marker))
    assert upstream.requests[1].raw == known + marker


def test_without_a_limit_stale_markers_and_exemplars_of_new_series_pass(gate, upstream):
    body = wire.pack(
        wire.series({"__name__": "m"}, wire.field(wire.SAMPLES, wire.sample(wire.STALE, 1))) +
        wire.series({"__name__": "e"}, wire.field(wire.EXEMPLARS, wire.exemplar(1.0, 1))))
    assert gate.send(body).refused is None
    assert upstream.bodies == [body]
    assert gate.current() == 0


@pytest.mark.parametrize("header", ["Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "X-Amz-Content-Sha256"])
def test_a_digest_of_the_body_passes_with_the_body_and_not_with_another(start_gate, upstream, header):
    gate = limited(start_gate, upstream, 1)
    whole = wire.pack(wire.sampled("up", job="a"))
    gate.send(whole, [(header, "of-the-body")])
    gate.send(wire.pack(wire.sampled("up", job="a") + wire.sampled("up", job="b")), [(header, "of-the-body")])
    assert [request.get(header) for request in upstream.requests] == ["of-the-body", None]


# --- all refused

def test_a_request_with_every_series_refused_never_reaches_the_upstream(start_gate, upstream):
    gate = limited(start_gate, upstream, 1)
    gate.send(wire.pack(wire.sampled("up", job="a")))
    upstream.clear()
    new = wire.sampled("up", job="b") + wire.sampled("up", job="c") + wire.sampled("up", job="c", timestamp=5)
    reply = gate.send(wire.pack(new))
    assert (reply.status, reply.body, reply.refused) == (204, b"", (2, 3))
    assert upstream.requests == []


def test_only_the_metadata_is_left_of_a_request_with_every_series_refused(start_gate, upstream):
    gate = limited(start_gate, upstream, 1)
    gate.send(wire.pack(wire.sampled("up", job="a")))
    upstream.clear()
    upstream.default.status = 200
    families = wire.metadata("up") + wire.metadata("down", kind=2)
    reply = gate.send(wire.pack(wire.sampled("up", job="b") + families + wire.sampled("up", job="c")))
    assert (reply.status, reply.refused) == (200, (2, 2))
    assert [request.raw for request in upstream.requests] == [families]


def test_metadata_is_never_limited(start_gate, upstream):
    gate = limited(start_gate, upstream, 1)
    body = recorded.bodies("metadata-v1")[0]
    gate.send(wire.pack(wire.sampled("up", job="a")))
    assert gate.send(body).refused is None
    assert upstream.bodies[1] == body


# --- discard:

def test_discard_counts_and_limits_without_an_upstream(start_gate):
    gate = start_gate("--upstream.url=discard:", "--maxHourlySeries=1500")
    replies = [gate.send(body) for body in recorded.bodies()[:2]]
    assert [reply.status for reply in replies] == [204, 204]
    assert replies[0].refused == (len(recorded.distinct(recorded.bodies()[:1])) - 1500, 500)
    assert gate.current() == 1500
