"""Classic histograms that are admitted whole or not at all, in both versions of the protocol."""

import pytest

import exposition
import wire
import wire_v2
from traffic import body, figures, histogram, identity, numbered

CONFIG = "wholeHistograms: true\n"


@pytest.fixture(params=["v1", "v2"])
def offer(request, upstream):
    """Sends series in one request. @return those that arrived upstream, in the order given"""
    def send(gate, series, headers=()):
        upstream.clear()
        if request.param == "v1":
            reply, read = gate.send(body(series), headers), wire.series_of
        else:
            reply = gate.send(wire.pack(wire_v2.request(*series)), [*wire_v2.HEADERS, *headers])
            read = wire_v2.series_of
        assert reply.status == 204, reply
        came = {each for got in upstream.requests for each in read(got.raw)}
        return [labels for labels in series if identity(labels) in came]
    return send


def over_limit(gate, window="hourly"):
    shown = gate.stats["windows"][window]["overLimitSeries"]
    by_window = {dict(labels)["window"]: value for labels, value in
                 exposition.samples_of(gate.metrics, "seriesgate_series_over_limit").items()}
    assert by_window[window] == shown
    return shown


def test_a_histogram_that_has_begun_is_completed_by_whichever_request(limited, offer):
    gate = limited(CONFIG + "maxHourlySeries: 100\nmaxDailySeries: 98\n")
    assert len(offer(gate, numbered(97))) == 97
    first, second = histogram(pod="a"), histogram(pod="b")
    assert offer(gate, first[3:5]) == first[3:5]
    assert offer(gate, second) == []
    assert offer(gate, [*numbered(5, start=500), *first[:8]]) == first[:8]
    assert offer(gate, first) == first
    assert offer(gate, first) == first
    assert figures(gate.stats["windows"]) == (100, 109, 0)
    assert figures(gate.stats["windows"], "daily") == (98, 109, 17)
    assert (over_limit(gate), over_limit(gate, "daily")) == (9, 11)


def test_a_restart_remembers_what_has_begun(limited, offer, tmp_path):
    config = CONFIG + f"maxHourlySeries: 3\nstate: {{dir: {tmp_path / 'state'}}}\n"
    gate = limited(config)
    first = histogram(pod="a")
    assert offer(gate, first[:5]) == first[:5]
    gate.stop()
    gate = limited(config)
    assert over_limit(gate) == 2
    assert offer(gate, histogram(pod="b")) == []
    assert offer(gate, first) == first
    assert figures(gate.stats["windows"])[:2] == (3, 12)
    assert over_limit(gate) == 9


def test_labels_le_that_explode_are_stopped_at_the_margin_over_reloads_and_restarts(limited, offer, tmp_path):
    config = CONFIG + f"maxHourlySeries: 20\nmaxHistogramSeries: 30\nstate: {{dir: {tmp_path / 'state'}}}\n"
    gate = limited(config)
    buckets = [{"__name__": "latency_bucket", "le": str(bound), "pod": str(pod)} for bound in range(50) for pod in range(20)]
    assert offer(gate, buckets) == buckets[:50]  # each has its first bucket, then they are completed in turn
    assert gate.post("/-/reload").status == 200
    assert offer(gate, buckets) == buckets[:50]
    gate.stop()
    gate = limited(config)
    assert offer(gate, buckets) == buckets[:50]
    assert figures(gate.stats["windows"])[:2] == (20, 50)
    assert over_limit(gate) == 30
    cut = gate.stats["windows"]["hourly"]["cutSeries"]
    assert abs(cut - 950) < 0.05 * 950
    assert gate.metric("seriesgate_series_cut", window="hourly") == cut
