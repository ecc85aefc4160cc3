"""What operators are paged for: who did it, or that nobody did. Each row of SCENES is one, with what the gate has to say.

The traffic is made up, the gate is real: requests come in over HTTP, and the findings are read from the API.
"""

import itertools
import json
import re
import subprocess
import textwrap
from pathlib import Path

import pytest
import yaml

from client import Connection
from faked_clock import FakedClock
from gate import run
from servers import binary
from traffic import TENANT, body, offer

NOW = "2027-03-10 10:20:00"
LIMITS = "maxHourlySeries: 20000\n"


class Scene:
    """A gate with a clock of its own, and senders."""

    def __init__(self, start_gate, folder):
        self.clock = FakedClock(folder, NOW)
        self.config = f"{LIMITS}state: {{dir: {Path(folder) / 'state'}}}\n"
        self.start, self.window = start_gate, "hourly"
        self.gate = None

    def begin(self, config=""):
        if self.gate:
            self.gate.stop()
        self.gate = self.start("--upstream.url=discard:", config=self.config + config, environment=self.clock.environment)

    def send(self, series, sender="127.0.0.1", agent="Prometheus/3.5.0", tenant=None):
        connection = Connection(self.gate.address, 60, None, sender)
        headers = {"User-Agent": agent, "Content-Encoding": "snappy", "Content-Type": "application/x-protobuf"}
        if tenant is not None:
            headers[TENANT] = tenant
        series = list(series)
        for start in range(0, len(series), 2000):
            connection.request("POST", "/api/v1/write", body(series[start:start + 2000]), headers)
            answer = connection.getresponse()
            assert answer.status == 204, answer.read()
            answer.read()
        connection.close()

    def found(self):
        answer = self.gate.get(f"/api/v1/findings?window={self.window}")
        assert answer.status == 200
        return json.loads(answer.body)["data"]


def requests(count, start=0, job="shop", name="http_requests_total", label="trace_id"):
    return ({"__name__": name, "job": job, "instance": f"{job}-{i % 10}:80", "path": f"/p{i % 40}", label: f"x{i:08x}"}
            for i in range(start, start + count))


def targets(first, count, metrics=40, **labels):
    """What each target of an application has: metrics in which its name and its containers stand."""
    return ({"__name__": f"app_metric_{chr(97 + m % 26)}{chr(97 + m // 26)}", "job": "app", "instance": f"10.1.{t // 250}.{t % 250}:80",
             "pod": f"app-7d9f-{t:05d}", "container": f"c{m % 3}", "mode": "ab"[m % 2], **labels}
            for t in range(first, first + count) for m in range(metrics))


def trace_id(scene):
    scene.send(targets(0, 50))
    scene.send(requests(30_000))


def new_buckets(scene):
    scene.send({"__name__": "latency_seconds_bucket", "job": "web", "instance": f"w{i % 4}", "path": f"/p{i // 4 % 20}",
                "le": str(i // 80 / 64)} for i in range(16_000))


def ids_in_names(scene):
    scene.send({"__name__": f"user_{i // 2}_requests_total", "job": "web", "path": f"/{i % 2}"} for i in range(10_000))


def one_sender_of_many(scene):
    for sender in range(2, 22):
        scene.send(targets(sender * 10, 10), sender=f"127.0.0.{sender}")
    scene.send(requests(15_000), sender="127.0.0.7")


def slow_growth(scene):
    """Too slow for any hour."""
    scene.window = "daily"
    for hour in range(6):
        scene.clock.set(f"2027-03-10 {10 + hour}:20:00")
        scene.send(targets(0, 50))
        scene.send(requests(400, hour * 400))


def ha_pair(scene):
    """Two Prometheus send the same, but for their own name."""
    for replica in ("a", "b"):
        scene.send(targets(0, 200, prometheus_replica=replica), agent=f"Prometheus/{replica}")


def tenant_flood(scene):
    """One of many tenants."""
    for tenant in range(30):
        scene.send(targets(0, 3), tenant=f"team-{tenant}")
    scene.send(requests(15_000), tenant="team-7")


def restart(scene):
    scene.send(requests(8_000))
    scene.begin()
    scene.send(requests(8_000, 8_000))


def group_overflow(scene):
    scene.begin("limits: [{name: per-path, each: [path], maxGroups: 10, maxHourlySeries: 100}]\n")
    scene.send({"__name__": "http_requests_total", "job": "shop", "instance": f"s{i % 4}", "path": f"/user/{i // 4}"}
               for i in range(12_000))


def check_remedy(found, folder, is_legacy=True):
    """Both texts can be pasted: into Prometheus, vmagent and the gate. What the rule stops is in e2e/test_remedies.py."""
    relabel, limit = found["remedy"]["relabel"], found["remedy"]["limit"]
    rule = textwrap.indent(relabel, "      ")
    prometheus = folder / "prometheus.yml"
    prometheus.write_text("scrape_configs:\n  - job_name: shop\n    metric_relabel_configs:\n" + rule +
                          "remote_write:\n  - url: http://127.0.0.1:1/\n    write_relabel_configs:\n" + rule)
    told = subprocess.run([binary("promtool"), "check", "config", prometheus], capture_output=True, text=True, timeout=60)
    assert (told.returncode == 0) == is_legacy, told.stdout + told.stderr  # Debian's is older than 3.0
    scrape = folder / "scrape.yml"
    scrape.write_text("scrape_configs:\n  - job_name: shop\n    metric_relabel_configs:\n" + rule)
    told = subprocess.run([binary("vmagent"), f"-promscrape.config={scrape}", "-dryRun"], capture_output=True, text=True,
                          timeout=60)
    assert told.returncode == 0, told.stderr
    config = folder / "limit.yaml"
    config.write_text("limits:\n" + textwrap.indent(limit, "  "))
    told = run(f"--config.file={config}", "--upstream.url=discard:", "--check-config")
    assert told.returncode == 0, told.stderr
    step, = yaml.safe_load(relabel)
    assert set(step) == {"source_labels", "regex", "action"} and step["action"] == "drop"
    assert not re.fullmatch(step["regex"], ";".join({"__name__": "up"}.get(each, "") for each in step["source_labels"]))
    assert found["remedy"]["wouldTake"] == 0


def all_metrics(scene):
    """A label that somebody adds to everything: no metric has many series."""
    def name(number):
        return "metric_" + "".join(chr(97 + number // 26 ** place % 26) for place in range(4))

    scene.send({"__name__": name(i % 3000), "job": "app", "instance": f"a{i % 20}", "version": f"build-{i}"} for i in range(15_000))


def finding(kind, metric, label, series, **more):
    return {"kind": kind, "metric": metric, "label": label, "series": series, **more}


# What comes, and what is found: all of it, the worst first. `series` may be wrong by 5 %, for some are estimates.
SCENES = {
    "a trace id": (trace_id, [finding("label", "http_requests_total", "trace_id", 30_000, job="shop", sender="127.0.0.1",
                                      userAgent="Prometheus/3.5.0", tenant="")]),
    "a histogram with new buckets": (new_buckets, [finding("buckets", "latency_seconds_bucket", "le", 16_000, job="web")]),
    "ids in the metric's name": (ids_in_names, [finding("metricNames", "user_#_requests_total", "__name__", 10_000)]),
    "one sender of many": (one_sender_of_many, [finding("label", "http_requests_total", "trace_id", 15_000,
                                                        sender="127.0.0.7")]),
    "growth over hours": (slow_growth, [finding("label", "http_requests_total", "trace_id", 2_400, job="shop")]),
    "a pair of Prometheus": (ha_pair, []),
    "one tenant": (tenant_flood, [finding("label", "http_requests_total", "trace_id", 15_000, tenant="team-7")]),
    "a restart in the middle": (restart, [finding("label", "http_requests_total", "trace_id", 16_000, job="shop")]),
    "a label of all metrics": (all_metrics, [finding("label", "", "version", 15_000, job="app", metrics=[])]),
    "a limit without groups left": (group_overflow, [finding("label", "http_requests_total", "path", 12_000, job="shop")]),
}


def test_a_remedy_can_be_pasted_whatever_names_are(start_gate, tmp_path):
    """Names of UTF-8, as remote write 2 and OTLP have them; what no configuration can say has no remedy."""
    scene = Scene(start_gate, tmp_path)
    scene.begin()
    scene.send(requests(3_000, name="it's.a \"quoted\" ünïcode\\name{$1}"))
    scene.send(requests(3_000, name="two\nlines", label="id"))
    scene.send(requests(3_000, name="plain", label="trace.id"))
    scene.send(requests(3_000, name="seen", label="a\u200bb"))
    by_metric = {each["metric"]: each for each in scene.found()}
    assert len(by_metric) == 4
    check_remedy(by_metric["it's.a \"quoted\" ünïcode\\\\name{$1}"], tmp_path)
    check_remedy(by_metric["plain"], tmp_path, is_legacy=False)
    assert "vmagent and later ones can" in by_metric["plain"]["remedy"]["note"]
    by_label, = yaml.safe_load(by_metric["two\\x0alines"]["remedy"]["relabel"])
    assert by_label["source_labels"] == ["job", "id"]
    invisible = by_metric["seen"]["remedy"]
    assert (invisible["relabel"], invisible["limit"]) == ("", "")
    assert "characters that nobody sees" in invisible["note"]


@pytest.mark.parametrize("name", SCENES)
def test_who_did_it(name, start_gate, tmp_path):
    act, expected = SCENES[name]
    scene = Scene(start_gate, tmp_path)
    scene.begin()
    act(scene)
    found = scene.found()
    assert [{key: each[key] for key in wanted if key != "series"} for each, wanted in zip(found, expected)] == [
        {key: value for key, value in wanted.items() if key != "series"} for wanted in expected], found
    assert len(found) == len(expected), found
    for each, wanted in zip(found, expected):
        assert abs(each["series"] - wanted["series"]) <= 0.05 * wanted["series"], each
        assert each["since"].startswith("2027-03-10T10:20:00"), each
        assert each["distinctValues"] <= each["series"]
        if name != "growth over hours":
            check_remedy(each, tmp_path)
    if name == "growth over hours":
        remedy = found[0]["remedy"]  # of two hours nobody can tell what was healthy before
        assert remedy["relabel"] == "" and "series that were known before" in remedy["note"]
        scene.window = "hourly"
        assert scene.found() == []


# --- the limit that a finding offers, pasted: two hours of the same traffic, and no healthy sample is missing

BASE = "maxHourlySeries: 20000\n"


def series(count, name="shop_requests_total", start=0, **labels):
    """`count` series; each label's value is a text, or a function from the number to one."""
    return [{"__name__": name, **{label: value if isinstance(value, str) else value(i) for label, value in labels.items()}}
            for i in range(start, start + count)]


def rolled_out(hour):
    """An application whose pods are new in each hour."""
    return series(200, "app_up", job="app", pod=lambda i: f"app-{hour}-{i}")


#: Healthy series by tenant in an hour, and what explodes, from its numbers on, in the tenant `shop`.
HOURS = {
    "a label, and another tenant has 530 series of the metric": (
        lambda hour: {"shop": series(40, job="shop", path=lambda i: f"/p{i}") + rolled_out(hour),
                      "audit": series(530, job="audit", path=lambda i: f"/audit/{i}")},
        lambda start, count: series(count, start=start, job="shop", path="/p1", request_id=lambda i: f"{i:016x}")),
    "a label of one job, and other jobs have it with 700 values": (
        lambda hour: {"shop": series(700, job=lambda i: f"other-{i % 7}", session=lambda i: f"s{i}")
                      + series(20, job="shop", path=lambda i: f"/p{i}")},
        lambda start, count: series(count, start=start, job="shop", session=lambda i: f"{i:016x}")),
    "buckets": (
        lambda hour: {"shop": series(600, "latency_bucket", job="good", path=lambda i: f"/p{i // 12}", le=lambda i: str(i % 12))
                      + series(48, "latency_bucket", job="bad", path=lambda i: f"/p{i // 12}", le=lambda i: str(i % 12))},
        lambda start, count: series(count, "latency_bucket", start, job="bad", path=lambda i: f"/x{i // 80}",
                                    le=lambda i: f"0.{i % 80:03}")),
    "ids in names": (
        lambda hour: {"shop": series(300, "user_logins_total", job="shop", path=lambda i: f"/p{i}")},
        lambda start, count: [{"__name__": f"user_{i:012x}_total", "job": "shop"} for i in range(start, start + count)]),
}


@pytest.mark.parametrize("name", HOURS)
def test_two_hours_of_the_offered_limit_cost_no_healthy_sample(limited, upstream, tmp_path, name):
    healthy_in, exploding = HOURS[name]
    clock = FakedClock(tmp_path, "2027-03-10 08:20:00")
    gate = limited(BASE, environment=clock.environment)
    numbers = itertools.count(0, 1500)

    def scrape(hour):
        """@return whether every healthy series arrived, and how many of the others"""
        for tenant, healthy in healthy_in(hour).items():
            assert offer(gate, upstream, healthy, tenant) == healthy, (hour, tenant)
        return len(offer(gate, upstream, exploding(next(numbers), 1500), "shop"))

    for hour in (8, 9):
        clock.set(f"2027-03-10 {hour:02}:20:00")
        for tenant, healthy in healthy_in(hour).items():
            assert offer(gate, upstream, healthy, tenant) == healthy
    clock.set("2027-03-10 10:20:00")
    for _ in range(6):
        scrape(10)
    found = json.loads(gate.get("/api/v1/findings").body)["data"]
    limit = next(each["remedy"]["limit"] for each in found if each["remedy"]["limit"])
    assert gate.reload(BASE + "limits:\n" + textwrap.indent(limit, "  ")).status == 200

    admitted = []
    for hour in (11, 12):
        passed = 0
        for minute in range(0, 60, 10):
            clock.set(f"2027-03-10 {hour:02}:{minute:02}:00")
            passed += scrape(hour)
        admitted.append(passed)
    bound = int(next(line.split()[-1] for line in limit.splitlines() if "maxHourlySeries" in line))
    assert 0 < max(admitted) <= bound < 9000
    assert gate.stats["samples"]["refused"] >= 2 * (9000 - bound)
