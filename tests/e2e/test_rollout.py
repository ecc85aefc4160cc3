"""A rollout under an active limit of 1.2 times the demand, as a real Prometheus and a real vmagent send it to a real store."""

import json

import pytest

from answering import Answering
from servers import Prometheus, VmAgent
from traffic import limits
from waiting import eventually
from world import time

pytestmark = [pytest.mark.extended, pytest.mark.slow, pytest.mark.timeout(420)]

PODS, LINES = 1_000, 55
OF_POD = 60  # with the five that a sender adds for each target
INTERVAL = 5  # seconds
SICK_MAX = 1_000
CONFIG = f"""
seriesSet: exact
activeWindow: 1m
limits:
  - name: per-namespace
    each: [namespace]
    maxActiveSeries: {PODS * OF_POD * 12 // 10}
    maxHourlySeries: 1000000
    overrides: [{{group: {{namespace: sick}}, maxActiveSeries: {SICK_MAX}}}]
"""


class Cluster(Answering):
    """What a sender discovers and scrapes: pods of two namespaces."""

    def __init__(self, folder):
        self.file, self.releases, self.sick = folder / "pods.json", [1] * PODS, False
        self._exploded = 0
        self._page = "".join(f'requests_total{{path="/p{i}"}} 1\n' for i in range(LINES)).encode()
        super().__init__(self._answer)
        self.discover()

    def _answer(self, path):
        if path != "/sick":
            return self._page
        self._exploded += 2_000
        return "".join(f'requests_total{{id="{i}"}} 1\n' for i in range(self._exploded - 2_000, self._exploded)).encode()

    def discover(self):
        def target(namespace, pod, path):
            return {"targets": [f"127.0.0.1:{self.server_port}"],
                    "labels": {"namespace": namespace, "pod": pod, "__metrics_path__": path}}

        groups = [target("shop", f"shop-{release}-{pod}", "/pod") for pod, release in enumerate(self.releases)]
        if self.sick:
            groups.append(target("sick", "sick-1", "/sick"))
        made = self.file.with_suffix(".new")
        made.write_text(json.dumps(groups))
        made.rename(self.file)

    def replace(self, first, last):
        self.releases[first:last] = [2] * (last - first)
        self.discover()


def discovering(folder):
    return (f"global: {{scrape_interval: {INTERVAL}s}}\nscrape_configs:\n  - job_name: pods\n"
            f"    file_sd_configs: [{{files: ['{folder}/pods.json']}}]\n")


def prometheus(folder, gate):
    """It sends stale markers for pods that are gone."""
    return Prometheus(folder, f"{discovering(folder)}remote_write:\n  - url: {gate.url}/api/v1/write\n")


def vmagent(folder, gate):
    """It sends none, for so it is told."""
    return VmAgent(folder, gate, "-promscrape.noStaleMarkers", "-promscrape.fileSDCheckInterval=1s", config=discovering(folder))


@pytest.mark.parametrize("sender, share, steps", [(prometheus, 1, 30), (vmagent, 0.15, 10)],
                         ids=["with markers, all pods", "without markers, 15 % of the pods"])
def test_a_rollout_passes_and_an_explosion_beside_it_does_not(sender, share, steps, start_gate, victoria_metrics, keep, tmp_path):
    gate = start_gate(f"--upstream.url={victoria_metrics.write_url}", config=CONFIG)
    cluster = keep(Cluster(tmp_path))
    most = {}

    def active(namespace):
        of = limits(gate.stats, "per-namespace").get(namespace)
        count = of["active"]["currentSeries"] if of else 0
        most[namespace] = max(most.get(namespace, 0), count)
        return count

    server = keep(sender(tmp_path, gate))
    eventually(lambda: active("shop") >= PODS * OF_POD, "all pods have been scraped", 60)
    demand = active("shop")
    replaced = int(PODS * share)
    cluster.sick = True
    for step in range(steps):
        cluster.replace(replaced * step // steps, replaced * (step + 1) // steps)
        until = time.monotonic() + INTERVAL
        while time.monotonic() < until:
            active("shop"), active("sick")
            time.sleep(0.2)
    time.sleep(3 * INTERVAL)
    found = limits(gate.stats, "per-namespace")
    assert [found["shop"][window]["refusedSeries"] for window in ("active", "hourly")] == [0, 0]
    assert most["shop"] <= PODS * OF_POD * 12 // 10
    assert SICK_MAX * 0.9 < most["sick"] <= SICK_MAX
    assert found["sick"]["active"]["refusedSeries"] > 10 * SICK_MAX
    if share == 1:
        assert demand * 0.98 <= active("shop") <= demand * 1.1  # the old pods' slots are free
    server.stop()

    def stored(selector):
        count, = victoria_metrics.ask(f"count(last_over_time({selector}[1h]))").values()
        return int(count)

    assert stored('requests_total{pod=~"shop-2-.*"}') == replaced * LINES
    assert stored('requests_total{pod=~"shop-1-.*"}') == PODS * LINES
    assert stored('requests_total{namespace="sick"}') <= 2 * SICK_MAX * (1 + steps * INTERVAL / 60)
