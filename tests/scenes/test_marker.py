"""`marker: true`: the gate writes to its store which budgets withhold data, and when they do no more."""

import datetime
from contextlib import closing

import pytest

from markers import METRIC, Markers, gate_label
from traffic import TENANT, numbered, offer, shown, tenants
from upstream import Answer, Upstream
from waiting import eventually
from world import threading, time

START = "2026-01-01 10:00:30"


def milliseconds(minute):
    return int(datetime.datetime.fromisoformat(f"2026-01-01 {minute}:00+00:00").timestamp()) * 1000


class MarkersAt(Markers):
    def __init__(self, upstream, pb, clock):
        super().__init__(upstream, pb)
        self._clock = clock

    def at(self, minute, count=1):
        """Sets the clock to a minute, and does as next(). Times are that minute, or milliseconds if they are not."""
        self._clock.set(f"2026-01-01 {minute}:00")
        return {tenant: [(labels, value, minute if at == milliseconds(minute) else at) for labels, value, at in found]
                for tenant, found in self.next(count).items()}


@pytest.fixture
def marked(limited, clock):
    """marked(text): a gate with that configuration and markers, whose clock stands still at 10:00:30."""
    def start(text, *flags, **how):
        return limited(f"marker: true\n{text}", *flags, environment=clock.environment, **how)

    return start


@pytest.fixture
def markers(upstream, pb, clock):
    return MarkersAt(upstream, pb, clock)


def test_a_budget_that_refuses_says_so_each_minute_until_its_hour_is_over(marked, upstream, clock, markers):
    gate = marked("maxHourlySeries: 3\n")
    name = {"__name__": METRIC, "gate": gate_label(gate), "limit": "global", "window": "hourly"}
    assert len(offer(gate, upstream, numbered(5))) == 3
    assert markers.at("10:01") == {None: [(name, 2.0, "10:01")]}
    assert len(offer(gate, upstream, numbered(7))) == 3
    assert markers.at("10:02") == {None: [(name, 4.0, "10:02")]}
    assert markers.at("10:59") == {None: [(name, 4.0, "10:59")]}
    assert markers.at("11:00") == {None: [(name, "ends", "11:00")]}
    assert gate.current() == 0  # none of them was counted
    eventually(lambda: gate.metric("seriesgate_markers_written_total") == 4, "the store's answers have been read")
    assert gate.metric("seriesgate_markers_failed_total") == 0
    clock.set("2026-01-01 11:01:00")
    assert len(offer(gate, upstream, numbered(4))) == 3
    assert markers.at("11:02") == {None: [(name, 1.0, "11:02")]}  # and nothing before


def test_it_is_a_request_as_prometheus_writes_it(marked, upstream, clock, markers):
    gate = marked("maxHourlySeries: 1\n")
    offer(gate, upstream, numbered(2))
    clock.set("2026-01-01 10:01:00")
    request, = eventually(lambda: markers.requests, "a marker")
    headers = {name.lower(): value for name, value in request.headers}
    assert headers.pop("via").startswith("1.1 seriesgate-")
    assert headers == {"host": upstream.host, "content-type": "application/x-protobuf", "content-encoding": "snappy",
                       "user-agent": f"seriesgate/{gate.events[0]['version']}",
                       "x-prometheus-remote-write-version": "0.1.0", "content-length": str(len(request.body))}
    assert (request.method, request.target) == ("POST", "/api/v1/write")


def test_without_marker_nothing_is_written(limited, marked, upstream, clock, markers):
    silent = limited("maxHourlySeries: 1\n", environment=clock.environment)
    offer(silent, upstream, numbered(2))
    for minute in ("10:01", "10:02"):
        clock.set(f"2026-01-01 {minute}:00")
        time.sleep(60)
    assert silent.metric("seriesgate_markers_written_total") == 0
    silent.stop()
    assert not markers.requests
    marking = marked("maxHourlySeries: 1\n")
    offer(marking, upstream, numbered(2))
    for minute in ("10:03", "10:04"):
        (labels, _, _), = markers.at(minute)[None]
        assert labels["gate"] == gate_label(marking)


def test_other_budgets_are_written_under_the_tenants_that_they_have_refused(marked, upstream, clock, markers):
    gate = marked("""
maxHourlySeries: 4
tenants: {header: X-Team}
limits:
  - {name: per-job, match: '{job!=""}', each: [job], maxHourlySeries: 1}
""")
    header = {"header": "X-Team"}
    assert len(offer(gate, upstream, numbered(3, job="x"), "red", **header)) == 1
    assert len(offer(gate, upstream, numbered(3), "blue", **header)) == 3
    assert len(offer(gate, upstream, numbered(2, name="new"), "green", **header)) == 0
    clock.set("2026-01-01 10:01:00")
    requests = eventually(lambda: len(markers.requests) == 2 and markers.requests, "markers for two tenants")
    common = {"__name__": METRIC, "gate": gate_label(gate), "window": "hourly"}
    at = milliseconds("10:01")
    assert {request.get("X-Team"): markers.of(request) for request in requests} == {
        "red": [({**common, "group": '{job="x"}', "limit": "per-job"}, 2.0, at)],
        "green": [({**common, "limit": "global"}, 2.0, at)]}


def test_a_gate_that_stops_ends_its_markers(marked, upstream, clock, markers):
    gate = marked("maxHourlySeries: 1\n")
    offer(gate, upstream, numbered(2), "a")
    (name, _, _), = markers.at("10:01")["a"]
    gate.stop()
    # The clock stands still, and stores take no older ones.
    assert markers.next() == {"a": [(name, "ends", milliseconds("10:01") + 1)]}


def test_after_a_restart_it_is_said_again_when_something_is_refused(marked, upstream, clock, markers, tmp_path):
    text = f"tenants: {{default: {{maxHourlySeries: 1}}}}\nstate: {{dir: {tmp_path / 'state'}}}\n"
    first = marked(text)
    for tenant in "ab":
        offer(first, upstream, numbered(2), tenant)
    first.stop()
    second = marked(text)
    assert len(offer(second, upstream, numbered(2), "b")) == 1
    found = markers.at("10:01")
    assert found.keys() == {"b"} and [value for _, value, _ in found["b"]] == [1.0]


def test_a_store_that_is_away_is_told_in_the_next_minute(marked, upstream, clock, pb):
    gate = marked("maxHourlySeries: 1\n")
    offer(gate, upstream, numbered(4), "a")
    upstream.stop()
    clock.set("2026-01-01 10:01:00")
    eventually(lambda: gate.metric("seriesgate_markers_failed_total") == 1, "a marker is not written")
    clock.set("2026-01-01 10:02:00")
    eventually(lambda: gate.metric("seriesgate_markers_failed_total") == 2, "nor the next")
    line, = gate.said("markers were not written")
    assert (line["level"], line["markers"], line["upstream"], line["tenant"], line["reason"]) == (
        "warn", "1", upstream.host, "a", "connection_refused")
    with closing(Upstream(port=upstream.port)) as back:
        told = MarkersAt(back, pb, clock)
        (name, value, at), = told.at("10:03")["a"]
        assert (value, at) == (3.0, "10:03")
        eventually(lambda: gate.metric("seriesgate_markers_written_total") == 1, "the store's answer has been read")
        assert told.at("10:59")["a"] == [(name, 3.0, "10:59")]
        back.default = Answer(503)
        assert told.at("11:00")["a"] == [(name, "ends", "11:00")]
        back.default = Answer(204)
        assert told.at("11:01")["a"] == [(name, "ends", "11:01")]
        gate.stop()


def test_a_store_that_takes_no_markers_of_one_tenant_gets_those_of_the_others(marked, upstream, clock, markers):
    gate = marked("tenants: {default: {maxHourlySeries: 1}}\n")
    for tenant in "abc":
        offer(gate, upstream, numbered(2), tenant)
    upstream.handler = lambda request: Answer(429 if request.get(TENANT) == "b" else 204)
    assert set(markers.at("10:01", 3)) == {"a", "b", "c"}
    eventually(lambda: gate.metric("seriesgate_markers_written_total") == 2, "two are written")
    eventually(lambda: gate.metric("seriesgate_markers_failed_total") == 1, "one is not")
    line, = gate.said("markers were not written")
    assert (line["tenant"], line["reason"]) == ("b", "429")


def test_a_store_that_fails_for_one_tenant_gets_those_of_the_others_in_the_next_minute(marked, upstream, clock, markers):
    gate = marked("tenants: {default: {maxHourlySeries: 1}}\n")
    for tenant in "abc":
        offer(gate, upstream, numbered(2), tenant)
    upstream.handler = lambda request: Answer(500 if request.get(TENANT) == "a" else 204)
    clock.set("2026-01-01 10:01:00")
    eventually(lambda: gate.metric("seriesgate_markers_failed_total") == 3, "nothing is tried after an error of the store")
    assert markers.next().keys() == {"a"}
    clock.set("2026-01-01 10:02:00")
    eventually(lambda: gate.metric("seriesgate_markers_failed_total") == 4, "now it comes last")
    assert [request.get(TENANT) for request in markers.requests] == ["b", "c", "a"]
    assert gate.metric("seriesgate_markers_written_total") == 2


def test_senders_do_not_wait_for_markers(marked, upstream, clock, markers):
    gate = marked(f"maxHourlySeries: 1\nupstream: {{url: '{upstream.url}', maxConnections: 1}}\nserver: {{threads: 1}}\n")
    offer(gate, upstream, numbered(2))
    held = threading.Event()
    upstream.handler = lambda request: Answer(hold=held) if METRIC.encode() in request.raw else Answer()
    clock.set("2026-01-01 10:01:00")
    eventually(lambda: markers.requests, "a marker that the store does not answer")
    for _ in range(20):
        assert offer(gate, upstream, numbered(1)) == numbered(1)
    started = time.monotonic()
    gate.stop()
    assert time.monotonic() - started < 2.1, "it waits two seconds for their answers"
    held.set()


def test_replicas_are_told_each_by_itself(marked, upstream, clock, pb):
    away = Upstream()
    away.stop()
    with closing(Upstream()) as replica:
        gate = marked(f"""
maxHourlySeries: 1
upstream:
  url: {upstream.url}
  replicateTo: [{{url: '{replica.url}'}}, {{url: '{away.url}', bestEffort: true}}]
""")
        offer(gate, upstream, numbered(3))
        replica.clear()
        clock.set("2026-01-01 10:01:00")
        first, second = (Markers(each, pb).next()[None] for each in (upstream, replica))
        assert first == second and [value for _, value, _ in first] == [2.0]
        eventually(lambda: gate.metric("seriesgate_markers_failed_total") == 1, "the third has nothing")
        eventually(lambda: gate.metric("seriesgate_markers_written_total") == 2, "the two others have answered")
        line, = gate.said("markers were not written")
        assert line["upstream"] == away.host
        gate.stop()
        assert Markers(replica, pb).next()[None][0][1] == "ends"


def test_whatever_senders_write_it_is_a_valid_request(marked, upstream, clock, markers):
    gate = marked("limits: [{name: l, each: [job], maxHourlySeries: 1, perTenant: true}]\n")
    tenant = b"t\xff\xe2\x80\xae\"".decode("latin-1")
    values = ['<script>"\\', "\u202eabc", "x" * 900, "é" * 400, "\n{}"]
    series = [{**labels, "job": value} for value in values for labels in numbered(2)]
    assert len(offer(gate, upstream, series, tenant)) == len(values)
    (tenant_header, found), = markers.at("10:01").items()
    assert tenant_header == tenant
    as_shown = [shown(value.encode()).replace('"', '\\"') for value in values]
    assert sorted(labels["group"] for labels, _, _ in found) == sorted(f'{{job="{value}"}}' for value in as_shown)
    assert {labels["tenant"] for labels, _, _ in found} == {shown(tenant.encode("latin-1"))}
    assert all(value == 1.0 for _, value, _ in found)
    assert tenants(gate.stats).keys() == {shown(tenant.encode("latin-1"))}


def test_the_labels_are_those_of_the_metrics(marked, upstream, clock, markers):
    gate = marked("limits: [{name: l, each: [job], maxHourlySeries: 1, perTenant: true}]\n")
    offer(gate, upstream, [{**labels, "job": 'a"b\\'} for labels in numbered(3)], "t")
    (labels, value, _), = markers.at("10:01")["t"]
    common = {name: labels[name] for name in ("limit", "group", "tenant", "window")}
    assert gate.metric("seriesgate_limit_series_refused", mode="enforce", **common) == value == 2.0
