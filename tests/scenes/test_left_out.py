"""A series that breaks a rule or a bound is left out alone: the rest of its request is stored, bit for bit."""

import pytest

import malformed
import wire
import wire_v2
from tables import check_rows
from upstream import Answer
from wire_v2 import counts, written

HEALTHY = [wire.sampled("up", job=f"j{i}") for i in range(3)]
COUNT = "X-Seriesgate-Left-Out-Series"


def with_broken(broken):
    return wire.pack(HEALTHY[0] + broken + HEALTHY[1] + broken + HEALTHY[2])


def test_version_1_the_healthy_series_are_stored_and_the_sender_goes_on(limited, upstream):
    gate = limited("maxHourlySeries: 3\n")
    sums = {}

    def check(reason, broken):
        upstream.clear()
        reply = gate.send(with_broken(broken))
        assert (reply.status, reply.get(COUNT)) == (204, "2"), reply
        assert [wire.unpack(body) for body in upstream.bodies] == [b"".join(HEALTHY)]
        sums[reason] = sums.get(reason, 0) + 2
        assert gate.stats["dropped"]["leftOutSeries"][reason] == sums[reason]
        assert gate.metric("seriesgate_series_left_out_total", reason=reason) == sums[reason]
        assert gate.current() == 3

    rows = {what: (reason, broken) for what, reason, broken in malformed.broken_series()}
    check_rows(rows, check, gate)
    samples = gate.stats["samples"]
    assert samples["received"] == samples["accepted"] + samples["refused"] + samples["leftOut"]
    assert (samples["refused"], samples["stored"]) == (0, samples["accepted"])
    assert gate.stats["requests"]["rejected"] == 0


def test_what_is_left_out_gets_no_place_and_is_not_remembered_as_refused(limited, upstream):
    gate = limited("maxHourlySeries: 1\n")
    nameless = wire.series([("__name__", "up"), ("", "x")], wire.field(2, wire.sample(1.0, 1)))
    assert gate.send(wire.pack(nameless)).status == 204
    assert upstream.bodies == []
    assert (gate.current(), gate.stats["windows"]["hourly"]["refusedSeries"]) == (0, 0)
    assert gate.send(wire.pack(HEALTHY[0] + nameless)).status == 204
    assert [wire.unpack(body) for body in upstream.bodies] == [HEALTHY[0]]


def test_the_log_names_metric_and_label(limited, upstream):
    gate = limited("")
    value = wire.field(2, wire.sample(1.0, 1))
    large = wire.series({"__name__": "kube_pod_annotations", "annotation": "v" * 300_000}, value)
    gate.send(with_broken(large), [("X-Scope-OrgID", "shop")])
    (line,) = gate.said("series left out")
    assert {key: line[key] for key in ("level", "series", "reason", "metric", "label", "tenant")} == {
        "level": "warn", "series": "2", "reason": "label_too_long", "metric": "kube_pod_annotations", "label": "annotation",
        "tenant": "shop"}
    assert line["example"].startswith("kube_pod_annotations{annotation=") and len(line["example"]) < 300


def test_a_label_as_large_as_kubernetes_allows_is_stored(limited, upstream):
    gate = limited("")
    body = wire.pack(wire.sampled("kube_pod_annotations", annotation="v" * (256 << 10)))
    assert gate.send(body).status == 204
    assert upstream.bodies == [body]


def broken_v2():
    """Requests of version 2 with a healthy series, a broken one, and another healthy one."""
    symbols = wire_v2.Symbols()
    healthy = [wire_v2.series(symbols, {"__name__": "up", "job": job}, wire_v2.sample()) for job in "ab"]
    name, up = symbols.ref("__name__"), symbols.ref("up")
    wrong = {
        "label_without_name": [name, up, 0, up],
        "unknown_symbol": [name, up, 99, up],
        "odd_symbol_refs": [name, up, symbols.ref("job")],
        "label_too_long": [name, up, symbols.ref("a"), symbols.ref("v" * (256 << 10) + "v")],
        "labels_too_long": [name, up, *[symbols.ref("b"), symbols.ref("w" * (200 << 10))] * 6],
        "too_many_labels": [name, up] * 1025,
    }
    for reason, refs in wrong.items():
        packed = b"".join(map(wire.varint, refs))
        broken = wire.field(wire_v2.TIMESERIES, wire.field(wire_v2.LABELS_REFS, packed) + wire_v2.sample())
        yield reason, symbols.encode() + healthy[0] + broken + healthy[1], symbols.encode() + b"".join(healthy)


@pytest.mark.parametrize("protocol", ["v2", "v1"])
def test_version_2_is_told_with_an_error_and_what_was_written(limited, upstream, protocol):
    gate = limited(f"upstream: {{protocol: {'passthrough' if protocol == 'v2' else 'v1'}}}\n")
    upstream.default = Answer(headers=counts(2))

    def check(raw, kept):
        upstream.clear()
        reply = wire_v2.write(gate, wire.pack(raw))
        assert (reply.status, written(reply), reply.get(COUNT)) == (400, (2, 0, 0), "1"), reply
        assert reply.first_line.startswith("left out 1 series (1 sample): 1 with ")
        (stored,) = map(wire.unpack, upstream.bodies)
        assert stored == (kept if protocol == "v2" else wire.sampled("up", job="a") + wire.sampled("up", job="b"))

    check_rows({reason: (raw, kept) for reason, raw, kept in broken_v2()}, check, gate)
    assert gate.stats["dropped"]["untranslatedSeries"] == 0
