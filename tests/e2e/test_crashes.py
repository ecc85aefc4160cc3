"""kill -9 again and again, under load: what had been saved is never refused, no budget is spent twice, and what is answered
with success is in the store or counted as refused."""

import http.client
import itertools
import os
import random

import pytest

import traffic
from bounds import OwnTime
from client import Client
from servers import free_port
from upstream import Answer, Upstream
from waiting import eventually, wait_out_the_hour
from world import threading, time

pytestmark = [pytest.mark.extended, pytest.mark.slow, pytest.mark.timeout(400)]

KILLS = 50
MAXIMUM = 40_000  # is spent some time after the middle, so that crashes hit a gate that fills and one that is full
NAMESPACES = {"n0": 4_000, "n1": 3_000, "n2": 100_000}  # and the maximum of each

CONFIGURATION = """
state: {{dir: {}, interval: 300ms}}
maxHourlySeries: 40000
falsePositiveRate: 0.000000001
limits:
  - name: per-namespace
    each: [namespace]
    maxHourlySeries: 100000
    overrides:
      - {{group: {{namespace: n0}}, maxHourlySeries: 4000}}
      - {{group: {{namespace: n1}}, maxHourlySeries: 3000}}
"""
NUMBER = "X-Request-Number"


class Store(Upstream):
    """Knows when it first saw each series since forget(), and what came in each request."""

    def __init__(self):
        super().__init__(handler=self._take)
        self.ever = set()
        self.seen_at = {}
        self.by_number = {}

    def forget(self):
        self.seen_at = {}

    def _take(self, request):
        now = time.monotonic()
        series = traffic.arrived([request])
        self.by_number[int(request.get(NUMBER))] = set(series)
        self.ever.update(series)
        for each in series:
            self.seen_at.setdefault(each, now)
        self.requests.clear()
        return Answer(204)


class Worker(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.done = threading.Event()

    def stop(self):
        """A failure must end it, too."""
        self.done.set()


class Sender(Worker):
    """Sends new series all the time, and with them some that are known to be kept: those must come through."""

    def __init__(self, address, store):
        super().__init__()
        self._address, self._store = address, store
        self._random = random.Random(1)
        self.safe = []  # labels of series that no crash can make the gate forget; replaced whole
        self.labels = {}  # by identity
        self.answered = self.failed = 0
        self.wrongly_refused = []
        self.wrongly_answered = []  # with success, though not all is in the store or counted as refused

    def run(self):
        connection = Client(self._address, timeout=10)
        for number in itertools.count():
            if self.done.is_set():
                break
            new = [labels for namespace, count in (("n0", 5), ("n1", 5), ("n2", 15))
                   for labels in traffic.numbered(count, start=number * count, namespace=namespace)]
            self.labels.update((traffic.identity(labels), labels) for labels in new)
            safe = self._random.sample(self.safe, min(60, len(self.safe)))
            try:
                reply = connection.write(traffic.body(new + safe), [(NUMBER, str(number))])
                assert reply.status == 204, reply
            except (OSError, http.client.HTTPException):
                connection.close()
                self.failed += 1
                time.sleep(0.005)
                continue
            self.answered += 1
            came = self._store.by_number.get(number, set())
            self.wrongly_refused += [labels for labels in safe if traffic.identity(labels) not in came]
            if len(came) + (reply.refused or (0, 0))[0] != len(new) + len(safe):
                self.wrongly_answered.append((reply, came))
            time.sleep(0.008)


class SaveWatch(Worker):
    """Sees saves begin and end. `saved_before`: what was admitted before then is in the last complete snapshot."""

    def __init__(self, directory):
        super().__init__()
        self._directory = directory
        self._lock = threading.Lock()
        self.begin()

    def begin(self):
        """Before a process starts."""
        with self._lock:
            self._left_over = self._others()
            self._last = self._identity("state")
            self._quiet = self.saved_before = time.monotonic() if self._last else None
            self.saving = False
            self.saves = 0

    def look(self):
        with self._lock:
            now = time.monotonic()
            self.saving = self._others() != self._left_over
            state = self._identity("state")
            if state != self._last:
                self._last, self.saved_before = state, self._quiet
                self._left_over = {}
                self.saves += 1
            elif not self.saving:
                self._quiet = now

    def run(self):
        while not self.done.is_set():
            self.look()
            time.sleep(0.001)

    def _others(self):
        names = os.listdir(self._directory) if self._directory.exists() else []
        return {name: self._identity(name) for name in names if name not in ("lock", "secret", "state", "takeover")}

    def _identity(self, name):
        try:
            status = os.stat(self._directory / name)
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns


def test_fifty_crashes_under_load(start_gate, keep, tmp_path):
    store = keep(Store())
    wait_out_the_hour(240)
    directory, chance = tmp_path / "state", random.Random(2)
    listen = f"--listen=127.0.0.1:{free_port()}"
    gate = start_gate(f"--upstream.url={store.url}", listen, config=CONFIGURATION.format(directory))
    watch, sender = keep(SaveWatch(directory)), keep(Sender(gate.address, store))
    watch.start(), sender.start()
    safe, lost, kills, unsaved, hits = set(), set(), 0, 0, 0

    while kills < KILLS or (len(safe) <= MAXIMUM / 2 and kills < 2 * KILLS):  # a slow machine gets to the middle later
        life = chance.uniform(0.4, 0.8)
        time.sleep(life)
        if kills % 10:  # a busy machine may take longer than a life for the first save
            eventually(lambda: watch.saves, "a first save", 20, every=0.001)
        if kills % 4 == 0:  # in the middle of a save, if it takes long enough to be hit
            eventually(lambda: watch.saving, "a save", 20, every=0.0002)
        gate.crash()
        kills += 1
        watch.look()
        hits += watch.saving
        unsaved += watch.saves == 0
        seen_at = dict(store.seen_at)
        if watch.saves:
            safe.update(series for series, at in seen_at.items() if at < watch.saved_before)
        lost.update(series for series in seen_at if series not in safe)
        sender.safe = [sender.labels[series] for series in safe]

        store.forget()
        watch.begin()
        began = time.monotonic()
        gate = start_gate(f"--upstream.url={store.url}", listen, config=CONFIGURATION.format(directory))
        own_time = OwnTime(gate, began)
        eventually(lambda: gate.get("/-/ready").status == 200, "ready again")
        assert own_time.seconds() < 5, "ready again"
        assert not gate.errors
        assert sender.wrongly_refused == [], f"after kill {kills}"
        assert sender.is_alive()

    eventually(lambda: gate.current() == MAXIMUM, "all is spent", 120, every=0.5)
    sender.stop()
    sender.join(20)
    stats = gate.stats
    assert sender.wrongly_refused == sender.wrongly_answered == []
    assert sender.answered > kills * 10
    assert unsaved <= kills // 10
    assert len(safe) > MAXIMUM / 2
    # Every series that came through is counted, or it was admitted after the last save before a crash.
    lost -= safe
    assert len(store.ever) <= MAXIMUM + len(lost)
    of_namespace = {namespace: {series for series in store.ever if (b"namespace", namespace.encode()) in series}
                    for namespace in NAMESPACES}
    for namespace, maximum in NAMESPACES.items():
        assert len(of_namespace[namespace]) <= maximum + len(of_namespace[namespace] & lost), namespace
    assert len(store.ever) >= MAXIMUM - 25 * kills  # what was in flight may be counted and not have come through
    groups = traffic.limits(stats, "per-namespace")
    assert [groups[namespace]["hourly"]["currentSeries"] for namespace in NAMESPACES] == [4000, 3000, 33_000]
    print(f"{sender.answered} requests, {sender.failed} failed, {len(store.ever)} series, {len(lost)} of them lost, "
          f"{hits} kills in a save, {unsaved} without one")
