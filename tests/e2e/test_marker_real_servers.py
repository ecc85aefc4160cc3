"""Markers in real stores: the queries of docs/how-to.md see them while data is withheld, and not after."""

import pytest

import documents
from faked_clock import FakedClock
from traffic import body, numbered
from waiting import eventually
from world import time

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

HOUR = int(time.time()) // 3600 * 3600 - 7200  # stores take what is not too old
CONFIG = """
marker: true
falsePositiveRate: 0.000000001
limits: [{name: per-namespace, each: [namespace], maxHourlySeries: 2}]
"""


def spelled(seconds):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))


def queries():
    """Those of the document, in its order."""
    return [block.text for block in documents.pages()["docs/how-to.md"] if block.language == "promql"]


class Scene:
    def __init__(self, store, start_gate, folder):
        self.store, self.now = store, HOUR + 3000
        self._clock = FakedClock(folder, spelled(self.now))
        self.gate = start_gate(f"--upstream.url={store.url}/api/v1/write", config=CONFIG, environment=self._clock.environment)

    def offer(self, series):
        assert self.gate.send(body(series, timestamp=self.now * 1000)).status in (200, 204)

    def minute(self, count=1):
        """The clock goes on, and what is withheld has been written."""
        written = self.gate.metric("seriesgate_markers_written_total")
        self.now += 60
        self._clock.set(spelled(self.now))
        eventually(lambda: self.gate.metric("seriesgate_markers_written_total") == written + count, "markers are written")

    def ask(self, promql):
        return self.store.ask(promql, time=self.now)


def test_a_dashboard_sees_what_is_incomplete_and_for_how_long(real_store, start_gate, tmp_path):
    what, is_incomplete, by_namespace = queries()
    scene = Scene(real_store, start_gate, tmp_path)
    requests = [each for namespace, count in (("shop", 5), ("data", 2))
                for each in numbered(count, name="http_requests_total", namespace=namespace)]
    scene.offer(requests)
    assert scene.ask(what) == {} and scene.ask(is_incomplete) == {(): 0}
    scene.minute()
    scene.offer(requests)
    shop = (("group", '{namespace="shop"}'), ("limit", "per-namespace"), ("window", "hourly"))
    assert scene.ask(what) == {shop: 3}
    assert scene.ask(is_incomplete) == {(): 1}
    assert scene.ask(by_namespace) == {(("namespace", "shop"),): 2}
    while scene.now < HOUR + 3540:
        scene.minute()
        scene.offer(requests)
    assert scene.ask(what) == {shop: 3}
    scene.minute()  # the hour is over
    assert scene.ask(what) == {} and scene.ask(is_incomplete) == {(): 0} and scene.ask(by_namespace) == {}


def test_what_the_gate_leaves_behind_has_ended(real_store, start_gate, tmp_path):
    what = queries()[0]
    scene = Scene(real_store, start_gate, tmp_path)
    scene.offer(numbered(3, namespace="shop"))
    scene.minute()
    assert len(scene.ask(what)) == 1
    scene.gate.stop()
    scene.now += 1
    assert scene.ask(what) == {}
