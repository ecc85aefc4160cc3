"""What a request holds besides samples of series, and what counts once for many: none of it is a way around a limit.
Exemplars and stale markers: test_traps.py. Room in an hour's first minutes: test_clock.py. Histograms, exempt names:
test_whole_histograms.py, test_exempt.py. What stays uncounted is in docs/security.md."""

import pytest

import wire
import wire_v2
from test_traps import A, B, CASES, NAME, Request, gate_of_one, send  # noqa: F401
from traffic import identity, numbered, offer

HISTOGRAMS_V1 = 4  # of TimeSeries


def histogram(version, timestamp=1_700_000_000_000):
    of = wire_v2.histogram(timestamp)
    return of if version == "v2" else wire.field(HISTOGRAMS_V1, next(payload for _, _, payload, _, _ in wire.fields(of)))


def series_that_came(upstream, version):
    read = wire_v2.series_of if version == "v2" else wire.series_of
    return [each for request in upstream.requests for each in read(request.raw)]


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
    assert identity(dict([NAME, B])) not in series_that_came(upstream, version)
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
