"""The main job with real servers: Prometheus, the gate, VictoriaMetrics; and what was accepted is in the store."""

import collections
import math
import random

import pytest

import recorded
import tee
import traffic
import wire
import wire_v2
from answering import Answering
from client import WRITE
from recorded import SAMPLES, SERIES, leaks_allowed
from servers import Prometheus, PrometheusStore, VmAgent, scraping
from traffic import limits, numbered, tenants
from waiting import eventually
from wire_v2 import write, written
from world import time

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture
def recorder(victoria_metrics, keep):
    """What the gate sends on its way to VictoriaMetrics."""
    return keep(tee.Tee(victoria_metrics.write_url))


def storable(samples):
    """Without NaNs: VictoriaMetrics keeps no ordinary NaN, and its export leaves stale markers out."""
    kept = {labels: {at: value for at, value in values.items() if not math.isnan(value)}
            for labels, values in samples.items()}
    return {labels: values for labels, values in kept.items() if values}


def assert_found(sent, stored):
    """Equal labels, timestamps and values. VictoriaMetrics stores decimals: the 13th digit of a value may differ."""
    sent, stored = storable(sent), storable(stored)
    assert stored.keys() == sent.keys()
    for labels, values in sent.items():
        assert stored[labels].keys() == values.keys(), labels
        for at, value in values.items():
            assert stored[labels][at] == pytest.approx(value, rel=1e-11, abs=0), (labels, at)


def prometheus_config(gate, port):
    targets = {"prometheus": f"127.0.0.1:{port}", "seriesgate": f"127.0.0.1:{gate.address[1]}"}
    return scraping(targets, f"{gate.url}/api/v1/write", "    metadata_config: {send_interval: 1s}\n")


@pytest.mark.parametrize("limit, outage", [(0, False), (0, True), (200, False)], ids=["no limit", "outage", "limit"])
def test_what_a_real_prometheus_writes_through_the_gate_is_in_victoria_metrics(
        start_gate, recorder, victoria_metrics, keep, pb, tmp_path, limit, outage):
    gate = start_gate(f"--upstream.url={recorder.url}", f"--maxHourlySeries={limit}")
    recorder.away = outage
    prometheus = keep(Prometheus(tmp_path, lambda port: prometheus_config(gate, port)))
    if outage:
        eventually(lambda: len(recorder.requests) >= 6, "requests have been refused and tried again", 60)
        assert recorder.taken == []
        recorder.away = False
    eventually(lambda: _span(tee.samples(pb, recorder.taken)) >= 7000, "seven scrapes have come through", 60, every=0.5)
    names = {b"prometheus_build_info", b"seriesgate_requests_total"}
    eventually(lambda: names <= tee.metadata_names(pb, recorder.taken), "metadata of both targets", 30, every=0.5)
    prometheus.stop()

    stats = gate.stats
    sent = tee.samples(pb, recorder.taken)
    assert stats["requests"]["upstreamErrors"] == stats["requests"]["rejected"] == 0
    assert outage or tee.sample_count(sent) == stats["samples"]["accepted"]  # what is tried again is counted again
    assert_found(sent, victoria_metrics.samples())

    # Both ends agree with what Prometheus itself holds, but for the seconds in which it started and ended.
    scraped = prometheus.dump()
    times = [at for values in sent.values() for at in values]
    first, last = min(times) + 2000, max(times) - 2000
    for labels, values in sent.items():
        assert _between(values, first, last) == _between(scraped[labels], first, last), labels
    if limit:
        assert limit <= len(sent) <= limit + leaks_allowed(len(scraped) - limit)
        assert stats["windows"]["hourly"]["currentSeries"] == limit
        assert stats["samples"]["refused"] > 0
    else:
        assert {labels for labels, values in scraped.items() if _between(values, first, last)} <= sent.keys()
        assert stats["windows"]["hourly"]["currentSeries"] == len(sent)
        assert stats["samples"]["refused"] == 0
        assert [1.0 for labels, values in sent.items() if {(b"__name__", b"up"), (b"job", b"seriesgate")} <= set(labels)
                and 1.0 in values.values()]  # beside others a scrape may take longer than its second


@pytest.mark.parametrize("limit", [0, 200])
def test_what_a_real_vmagent_writes_through_the_gate_is_in_victoria_metrics(
        start_gate, recorder, victoria_metrics, keep, pb, tmp_path, limit):
    gate = start_gate(f"--upstream.url={recorder.url}", f"--maxHourlySeries={limit}")
    vmagent = keep(VmAgent(tmp_path, gate))
    eventually(lambda: _span(tee.samples(pb, recorder.taken)) >= 5000, "five scrapes have come through", 60, every=0.5)
    vmagent.stop()  # sends what is left
    sent = tee.samples(pb, recorder.taken)
    assert_found(sent, victoria_metrics.samples())
    stats = gate.stats
    assert stats["requests"]["rejected"] == stats["requests"]["upstreamErrors"] == 0
    assert tee.sample_count(sent) == stats["samples"]["accepted"]
    if limit:
        assert stats["windows"]["hourly"]["currentSeries"] == limit
        assert limit <= len(sent) <= limit + leaks_allowed(2000)
        assert stats["samples"]["refused"] > 0
    else:
        assert stats["windows"]["hourly"]["currentSeries"] == len(sent) > 300
        assert stats["samples"]["refused"] == 0


def _span(found):
    """Milliseconds between the first and the last sample."""
    times = [at for values in found.values() for at in values]
    return max(times, default=0) - min(times, default=0)


def _between(values, first, last):
    """The samples from first to last; NaNs as text, for a NaN is not equal to itself."""
    return {at: "NaN" if math.isnan(value) else value for at, value in values.items() if first <= at <= last}


def test_one_label_that_is_too_long_costs_no_other_series(start_gate, victoria_metrics, keep, tmp_path):
    """500 healthy series in a scrape with one whose label has 300 KiB, as an annotation may come to."""
    lines = [f'shop_requests_total{{path="/p{i}"}} 1' for i in range(500)]
    text = "\n".join([*lines, f'kube_pod_annotations{{annotation="{"v" * 300_000}"}} 1', ""]).encode()
    target = keep(Answering(lambda path: text))
    gate = start_gate(f"--upstream.url={victoria_metrics.write_url}")
    prometheus = keep(Prometheus(
        tmp_path, scraping({"shop": f"127.0.0.1:{target.server_port}"}, f"{gate.url}/api/v1/write")))

    def healthy():
        return [values for labels, values in victoria_metrics.samples().items()
                if (b"__name__", b"shop_requests_total") in labels]

    eventually(lambda: gate.stats["dropped"]["leftOutSeries"]["label_too_long"] >= 3, "three scrapes have come", 30)
    eventually(lambda: min(map(len, healthy()), default=0) >= 3, "they are stored", 60, every=0.5)
    failed = prometheus.get("/metrics").decode()
    prometheus.stop()
    assert "prometheus_remote_storage_samples_failed_total{" in failed
    assert not [line for line in failed.splitlines()
                if line.startswith("prometheus_remote_storage_samples_failed_total{") and not line.endswith(" 0")]
    stored = victoria_metrics.samples()
    assert len(healthy()) == 500 and min(map(len, healthy())) >= 3
    samples = gate.stats["samples"]
    assert sum(map(len, storable(stored).values())) <= samples["stored"] == samples["accepted"]
    (line, *_) = eventually(lambda: gate.said("series left out"), "the log says so")
    assert (line["metric"], line["label"]) == ("kube_pod_annotations", "annotation")


# --- upstream.protocol: v1: remote write 2 in stores that know version 1, or both

TRANSLATING = "upstream: {protocol: v1}\n"


def samples_of(messages):
    """As tee.samples, of version 2."""
    found = {}
    for message in messages:
        for series in message.timeseries:
            refs = [message.symbols[ref] for ref in series.labels_refs]
            values = found.setdefault(tuple(sorted(zip(refs[::2], refs[1::2], strict=True))), {})
            values.update((sample.timestamp, sample.value) for sample in series.samples)
    return found


def test_the_recording_in_version_2_is_found_in_victoria_metrics(start_gate, victoria_metrics, pb_v2):
    gate = start_gate(f"--upstream.url={victoria_metrics.write_url}", config=TRANSLATING)
    sent = recorded.moved_to(pb_v2.Request, recorded.bodies("prometheus-3.5-v2"), int(time.time() * 1000) - 60_000)
    for raw in (message.SerializeToString() for message in sent):
        reply = write(gate, wire.pack(raw))
        assert (reply.status, written(reply)) == (204, (len(wire_v2.series_of(raw)), 0, 0))
    expected, stored = samples_of(sent), victoria_metrics.samples()
    assert (len(expected), tee.sample_count(expected)) == (SERIES, SAMPLES)
    assert_found(expected, stored)
    assert gate.current() == SERIES


def test_native_histograms_in_version_2_are_found_in_a_prometheus_that_knows_version_1(start_gate, keep, tmp_path):
    store = keep(PrometheusStore(tmp_path, "--enable-feature=native-histograms"))
    gate = start_gate(f"--upstream.url={store.url}/api/v1/write", config=TRANSLATING)
    bodies = recorded.bodies("native-histograms-v2")
    for body in bodies:
        assert write(gate, body).status == 204
    series = {each for body in bodies for each in wire_v2.series_of(wire.unpack(body))}
    assert store.metric("prometheus_tsdb_head_series_created_total") == len(series)
    assert gate.current() == len(series)
    assert gate.metric("seriesgate_untranslated_histograms_total") == 0


# --- the sender's query string

@pytest.mark.one_thread
@pytest.mark.parametrize("named, job", [("", b"a"), ("extra_label", b"other")], ids=["left out", "asked for"])
def test_a_senders_extra_label_leaves_the_stored_series_as_sent(start_gate, victoria_metrics, named, job):
    gate = start_gate(config=f"upstream: {{url: '{victoria_metrics.write_url}', forwardQuery: [{named}]}}\n")
    body = traffic.body([{"__name__": "mine", "job": "a"}], timestamp=int(time.time() * 1000))
    assert gate.send(body, path=f"{WRITE}?extra_label=job%3Dother").status == 204
    stored = eventually(victoria_metrics.samples, "stored")
    assert list(stored) == [((b"__name__", b"mine"), (b"job", job))]


# --- budgets: the store has as many series of each as the gate says

def counted(stored, *names):
    """How many stored series there are by the values of these labels."""
    counts = collections.Counter(tuple(dict(labels).get(name.encode(), b"").decode() for name in names) for labels in stored)
    return {key[0] if len(key) == 1 else key: count for key, count in counts.items()}


LIMITS = """
falsePositiveRate: 0.000000001
tenants:
  default: {maxHourlySeries: 1000}
  overrides: {prometheus: {maxHourlySeries: 0}, team-b: {maxHourlySeries: 700, maxDailySeries: 600}}
limits:
  - name: per-namespace
    each: [namespace]
    maxHourlySeries: 380
    overrides:
      - {group: {namespace: monitoring}, maxHourlySeries: 12000}
      - {group: {namespace: ""}, maxHourlySeries: 0, maxDailySeries: 900}
  - name: per-job-and-metric
    match: '{job!=""}'
    each: [job, __name__]
    maxHourlySeries: 150
    overrides: [{group: {job: shop, __name__: requests}, maxHourlySeries: 0}]
"""

NAMESPACES = {"team-a": ("a1", "a2", "a3"), "team-b": ("b1", "b2", "b3")}


def recent(pb, bodies, newest):
    """The recorded requests, moved in time, with a number for each NaN: VictoriaMetrics keeps none."""
    messages = recorded.moved_to(pb.WriteRequest, bodies, newest)
    for message in messages:
        for sample in (sample for series in message.timeseries for sample in series.samples):
            if math.isnan(sample.value):
                sample.value = 1
    return [wire.pack(message.SerializeToString()) for message in messages]


def offered(pb, at):
    """(tenant, body) of each request: recorded ones and generated ones, one namespace belonging to one tenant."""
    requests = [("prometheus", body) for body in recent(pb, recorded.bodies(), at)]
    for tenant, names in NAMESPACES.items():
        requests += [(tenant, traffic.body(numbered(100, 100 * part, name, job="shop", namespace=namespace), at))
                     for namespace in names for name in ("requests", "errors") for part in range(4)]
    return requests + [(None, traffic.body(numbered(50, job=f"job-{job}"), at)) for job in range(30)]


def test_the_store_has_as_many_series_of_each_tenant_and_group_as_the_gate_counts(start_gate, victoria_metrics, pb):
    gate = start_gate(f"--upstream.url={victoria_metrics.write_url}", config=LIMITS)
    now = int(time.time() * 1000)
    for at in (now - 121_001, now - 60_000):
        requests = offered(pb, at)
        random.Random(3).shuffle(requests)
        for tenant, body in requests:
            assert gate.send(body, [(traffic.TENANT, tenant)] if tenant else []).status == 204

    stored, stats = victoria_metrics.samples(), gate.stats
    assert len(stored) == stats["windows"]["hourly"]["currentSeries"]
    for window in ("hourly", "daily"):
        shown = {key: entry[window]["currentSeries"] for key, entry in limits(stats, "per-namespace").items()}
        assert {key: count for key, count in shown.items() if count} == counted(stored, "namespace")
    shown = {key: entry["hourly"]["currentSeries"] for key, entry in limits(stats, "per-job-and-metric").items()}
    assert {key: count for key, count in shown.items() if count} == counted(stored, "job", "__name__")
    by_namespace = counted(stored, "namespace")
    of_tenant = {name: entry["hourly"]["currentSeries"] for name, entry in tenants(stats).items()}
    for tenant, names in NAMESPACES.items():
        assert of_tenant[tenant] == sum(by_namespace.get(name, 0) for name in names), tenant
    assert of_tenant["prometheus"] + of_tenant[""] == by_namespace["monitoring"] + by_namespace[""]
    # Each kind of budget has had something to refuse: tenants by hour and by day, groups, single groups.
    assert (of_tenant["team-a"], of_tenant["team-b"]) == (1000, 600)
    assert by_namespace["monitoring"] == 12_000 and by_namespace[""] == 900
    assert max(by_namespace[name] for name in ("a1", "a2", "a3")) == 380
    # "shop" has a budget of 150 for its errors and any number of requests.
    by_job = counted(stored, "job", "__name__")
    assert by_job["shop", "errors"] == 150 < by_job["shop", "requests"]
