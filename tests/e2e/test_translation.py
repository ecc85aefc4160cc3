"""upstream.protocol: v1: remote write 2 in real stores that know version 1, or both."""

import time

import pytest

import recorded
import tee
import wire
import wire_v2
from recorded import SAMPLES, SERIES
from servers import Prometheus
from test_real_servers import assert_found
from wire_v2 import write, written

TRANSLATING = "upstream: {protocol: v1}\n"


def moved(pb_v2, bodies, newest):
    messages = [pb_v2.Request.FromString(wire.unpack(body)) for body in bodies]
    return [message.SerializeToString() for message in recorded.moved_to(messages, newest)]


def samples_of(pb_v2, raw_bodies):
    """As tee.samples."""
    found = {}
    for message in map(pb_v2.Request.FromString, raw_bodies):
        for series in message.timeseries:
            refs = [message.symbols[ref] for ref in series.labels_refs]
            values = found.setdefault(tuple(sorted(zip(refs[::2], refs[1::2], strict=True))), {})
            values.update((sample.timestamp, sample.value) for sample in series.samples)
    return found


@pytest.mark.slow
def test_the_recording_in_version_2_is_found_in_victoria_metrics(start_gate, victoria_metrics, pb_v2):
    gate = start_gate(f"--upstream.url={victoria_metrics.write_url}", config=TRANSLATING)
    sent = moved(pb_v2, recorded.bodies("prometheus-3.5-v2"), int(time.time() * 1000) - 60_000)
    for raw in sent:
        reply = write(gate, wire.pack(raw))
        assert (reply.status, written(reply)) == (204, (len(wire_v2.series_of(raw)), 0, 0))
    expected, stored = samples_of(pb_v2, sent), victoria_metrics.samples()
    assert (len(expected), tee.sample_count(expected)) == (SERIES, SAMPLES)
    assert_found(expected, stored)
    assert gate.current() == SERIES


@pytest.mark.slow
def test_native_histograms_in_version_2_are_found_in_a_prometheus_that_knows_version_1(start_gate, tmp_path):
    store = Prometheus(tmp_path, "global: {}\n", "--web.enable-remote-write-receiver",
                       "--enable-feature=native-histograms")
    try:
        gate = start_gate(f"--upstream.url={store.url}/api/v1/write", config=TRANSLATING)
        bodies = recorded.bodies("native-histograms-v2")
        for body in bodies:
            assert write(gate, body).status == 204
        series = {each for body in bodies for each in wire_v2.series_of(wire.unpack(body))}
        assert store.metric("prometheus_tsdb_head_series_created_total") == len(series)
        assert gate.current() == len(series)
        assert gate.metric("seriesgate_untranslated_histograms_total") == 0
    finally:
        store.stop()
