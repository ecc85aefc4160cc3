"""What real senders do that a gate gets wrong easily, in both versions of remote write; beside test_bad_input.py
(bombs, cut and padded fields), test_compression.py (zstd, the handshake), test_protocol_v2.py and test_on_limit.py."""

import pytest

import recorded
import wire
import wire_v2
from traffic import identity, numbered, offer
from upstream import Answer
from wire_v2 import counts

CASES = pytest.mark.parametrize("version", ["v1", "v2"])


class Request:
    """Series after series, in either version."""

    def __init__(self, version):
        self.version = version
        self.symbols = wire_v2.Symbols()
        self.parts = []

    def series(self, labels, *entries):
        pairs = sorted(labels.items()) if isinstance(labels, dict) else labels
        of = wire.series(pairs, *entries) if self.version == "v1" else wire_v2.series(self.symbols, pairs, *entries)
        self.parts.append(of)
        return self

    def sampled(self, *pairs, value=1.0):
        return self.series(list(pairs), wire.field(2, wire.sample(value, 1_700_000_000_000)))

    def exemplar(self):
        if self.version == "v2":
            return wire_v2.exemplar(self.symbols, trace_id="x")
        return wire.field(wire.EXEMPLARS, wire.exemplar(1.0, 1_700_000_000_000, trace_id="x"))

    def raw(self, symbols_last=False):
        parts = [] if self.version == "v1" else [self.symbols.encode()]
        return b"".join([*self.parts, *parts] if symbols_last else [*parts, *self.parts])


def send(gate, request, headers=(), raw=None):
    body = wire.pack(request.raw() if raw is None else raw)
    return gate.send(body, [*(wire_v2.HEADERS if request.version == "v2" else recorded.HEADERS), *headers])


@pytest.fixture
def gate_of_one(limited, upstream):
    upstream.default = Answer(headers=counts(1))
    return limited("maxHourlySeries: 1\n")


NAME, A, B = ("__name__", "m"), ("a", "1"), ("b", "2")


@CASES
@pytest.mark.parametrize("kind", ["exemplar", "stale marker"])
def test_neither_an_exemplar_nor_a_stale_marker_admits(gate_of_one, upstream, version, kind):
    def only(of):
        request = Request(version)
        if kind == "exemplar":
            return request.series(of, request.exemplar())
        return request.sampled(*of, value=wire.STALE)

    assert send(gate_of_one, only([NAME])).refused == (1, int(kind != "exemplar"))
    assert (gate_of_one.current(), upstream.requests) == (0, [])
    assert send(gate_of_one, Request(version).sampled(NAME)).refused is None
    known = only([NAME])
    assert send(gate_of_one, known).refused is None
    assert upstream.bodies[-1] == wire.pack(known.raw())


def test_symbols_behind_the_series_and_fields_in_the_order_of_prometheus(gate_of_one, upstream):
    request = Request("v2")
    histogram, exemplar = wire_v2.histogram(), request.exemplar()
    metadata = wire.field(wire_v2.METADATA, wire.number_field(1, 3) + wire.number_field(3, request.symbols.ref("help")))
    request.series([NAME], wire_v2.sample(), exemplar, histogram, metadata)  # 1, 2, 4, 3, 5
    raw = request.raw(symbols_last=True)
    assert send(gate_of_one, request, raw=raw).refused is None
    assert upstream.bodies == [wire.pack(raw)]
    assert gate_of_one.metric("seriesgate_histograms_received_total") == 1
    assert gate_of_one.metric("seriesgate_exemplars_received_total") == 1


# --- what counts for nothing (docs/security.md), or once for many, is no way around a limit

HISTOGRAMS_V1 = 4  # of TimeSeries


def histogram(version, timestamp=1_700_000_000_000):
    of = wire_v2.histogram(timestamp)
    return of if version == "v2" else wire.field(HISTOGRAMS_V1, next(payload for _, _, payload, _, _ in wire.fields(of)))


@CASES
def test_a_native_histogram_needs_room_as_a_sample_does(gate_of_one, version):
    request = Request(version)
    for label in (A, B):
        request.series([NAME, label], histogram(version), histogram(version, 2))
    assert send(gate_of_one, request).refused == (1, 2)
    assert gate_of_one.current() == 1


@CASES
def test_an_entry_without_samples_makes_no_series_known(gate_of_one, version):
    assert send(gate_of_one, Request(version).series([NAME, A])).refused is None
    assert gate_of_one.current() == 0
    assert send(gate_of_one, Request(version).sampled(NAME, A, value=wire.STALE)).refused == (1, 1)
    assert send(gate_of_one, Request(version).sampled(NAME, B)).refused is None
    assert send(gate_of_one, Request(version).sampled(NAME, A)).refused == (1, 1)


@CASES
def test_metadata_makes_no_series_known_and_takes_no_series_with_it(gate_of_one, upstream, version):
    request = Request(version).sampled(NAME, A).sampled(NAME, B)
    if version == "v2":
        for name in ("m", "made_up"):
            described = wire.number_field(1, 3) + wire.number_field(3, request.symbols.ref("help"))
            request.series([("__name__", name)], wire.field(wire_v2.METADATA, described))
    else:
        request.parts += [wire.metadata(name) for name in ("m", "made_up")]
    assert send(gate_of_one, request).refused == (1, 1)
    read = wire_v2.series_of if version == "v2" else wire.series_of
    assert identity(dict([NAME, B])) not in [each for came in upstream.requests for each in read(came.raw)]
    assert gate_of_one.current() == 1
    assert send(gate_of_one, Request(version).sampled(("__name__", "made_up"), value=wire.STALE)).refused == (1, 1)


@pytest.mark.parametrize("names", [["__overflow__", "b", "c"], ["b", "__overflow__", "c"]])
def test_the_name_of_what_is_shared_has_nothing_of_its_own(limited, upstream, names):
    gate = limited("tenants: {default: {maxHourlySeries: 2}, maxTenants: 1}\n")
    assert len(offer(gate, upstream, numbered(9, job="x"), "a")) == 2
    assert sum(len(offer(gate, upstream, numbered(9, job="x"), tenant)) for tenant in names) == 2

    gate.stop()
    gate = limited("limits: [{name: ns, each: [ns], maxGroups: 1, maxHourlySeries: 3}]\n")
    assert len(offer(gate, upstream, numbered(9, ns="a"))) == 3
    assert sum(len(offer(gate, upstream, numbered(9, ns=name))) for name in names) == 3
