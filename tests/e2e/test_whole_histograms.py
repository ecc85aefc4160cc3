"""Histograms that are admitted whole though senders bring their parts at once."""

from concurrent.futures import ThreadPoolExecutor

import wire
from traffic import body, histogram, identity


def test_senders_at_once_with_parts_of_the_same_histograms(limited, upstream):
    gate = limited("wholeHistograms: true\nmaxHourlySeries: 300\n")
    pods = [histogram(pod=str(pod)) for pod in range(80)]

    def send(shard):
        for _ in range(2):
            for series in pods:
                assert gate.send(body(series[shard::4])).status == 204

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(send, range(4)))
    came = {each for got in upstream.requests for each in wire.series_of(got.raw)}
    whole = [series for series in pods if {identity(each) for each in series} <= came]
    assert len(came) == 12 * len(whole)
    current = gate.stats["windows"]["hourly"]["currentSeries"]
    assert current == len(came) >= 300
    assert gate.stats["windows"]["hourly"]["overLimitSeries"] == current - 300
    assert gate.metric("seriesgate_series_over_limit", window="hourly") == current - 300
