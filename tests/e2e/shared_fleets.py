"""Gates that share their limits through one store, before one upstream that records; and senders that go round them."""

import itertools
import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import wire
from gate import run
from servers import on_its_old_port
from traffic import TENANT, body, figures, identity, limits, tenants
from upstream import Answer, Upstream
from waiting import eventually

GATES = 3
NUMBER = "X-Request-Number"
SECRET = bytes(range(32))


def current(window="hourly"):
    return lambda stats: stats["windows"][window]["currentSeries"]


def currents(window):
    """Of the budgets of /stats: those of the limits if there are any, else the tenants'."""
    return lambda stats: sorted(figures(budget, window)[1] for budget in (limits(stats) or tenants(stats)).values())


def metrics(fleet, name):
    """By gate."""
    return [gate.metric(f"seriesgate_shared_{name}") for gate in fleet.gates]


class Recorder(Upstream):
    """What came of each request, by its number."""

    def __init__(self):
        super().__init__(handler=self._take)
        self.came = {}  # number: (tenant, body)

    def _take(self, request):
        self.came[int(request.get(NUMBER))] = (request.get(TENANT), request.raw)
        self.requests.clear()
        return Answer(204)


class SharedFleet:
    """`limits`: text of the gates' configuration. `store`: what settings_of() knows of, or None for gates that share nothing.
    `shared`: further keys of that section. `environments`: of the gates, besides the test's own.

    A gate waits long for the store, unless the test says otherwise: what is counted here does not depend on how busy the
    machine is. And it refuses newcomers while the store is away: no limit holds anything back.
    """

    def __init__(self, start_gate, folder, store, limits, gates=GATES, environments=(), **shared):
        self.store, self.limits = store, limits
        self._start_gate, self._folder, self._environments = start_gate, folder, environments
        self._shared = {"timeout": "10s", "onUnavailable": "refuse", **shared}
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self.offered = self.refused = 0  # samples in requests that were answered
        self.recorder = Recorder()
        self.gates = []
        try:
            for ordinal in range(gates):
                self.gates.append(self.start(ordinal))
            self.all_join()
        except BaseException:
            self.stop()
            raise

    def configuration(self, ordinal, secret=SECRET, further="", **shared):
        """The text for the gate of that number."""
        file = self._folder / f"secret-{secret.hex()[:8]}"
        file.write_bytes(secret)
        text = (f"upstream: {{url: '{self.recorder.url}'}}\nfingerprint: {{secretFile: {file}}}\n"
                f"falsePositiveRate: 0.000000001\n{self.limits}{further}")
        if self.store:
            settings = {**self.store.settings_of(ordinal), **self._shared, **shared}
            text += f"shared: {json.dumps(settings)}\n"
        return text

    def start(self, ordinal, port=0):
        environment = self._environments[ordinal] if self._environments else None
        return self._start_gate(f"--listen=127.0.0.1:{port}", config=self.configuration(ordinal), environment=environment)

    def restart(self, ordinal):
        port = self.gates[ordinal].address[1]
        self.gates[ordinal] = on_its_old_port(lambda: self.start(ordinal, port))
        return self.gates[ordinal]

    def reload(self, limits):
        """All gates go by these."""
        self.limits = limits
        for ordinal, gate in enumerate(self.gates):
            assert gate.reload(self.configuration(ordinal)).status == 200

    def refused_to_join(self, **changes):
        """Runs a further gate, configured otherwise, to its end. @return its exit status, and what it said"""
        file = self._folder / "other.yaml"
        file.write_text(self.configuration(0, **changes))
        ended = run(f"--config.file={file}", "--listen=127.0.0.1:0", seconds=30)
        return ended.returncode, ended.stdout + ended.stderr

    def states(self):
        return [gate.stats["shared"]["state"] for gate in self.gates]

    def all_are(self, state, seconds=20):
        eventually(lambda: set(self.states()) == {state}, f"all gates are {state}", seconds, every=0.05)

    def all_join(self, seconds=20):
        if self.store:
            self.all_are("joined", seconds)  # and have read what others have admitted:
            eventually(lambda: {gate.get("/-/ready").status for gate in self.gates} == {200}, "all gates are ready", 20, every=0.05)

    def stop(self):
        self.recorder.stop()

    # --- senders

    def offer(self, ordinal, series, tenant=None, client=None):
        """Sends the series to one gate in one request, whose answer has to account for each of them: it came upstream as it was
        sent, or it is counted as refused. @return those that came, in the order given"""
        number = next(self._numbers)
        headers = [(NUMBER, str(number)), *([(TENANT, tenant)] if tenant is not None else [])]
        send = client.write if client else self.gates[ordinal].send
        reply = send(body(series), headers)
        assert reply.status == 204, reply
        _, raw = self.recorder.came.get(number, (tenant, b""))
        present = set(wire.series_of(raw))
        passed = [labels for labels in series if identity(labels) in present]
        assert raw == wire.unpack(body(passed))
        refused = len(series) - len(passed)
        assert reply.refused == ((refused, refused) if refused else None)
        with self._lock:
            self.offered += len(series)
            self.refused += refused
        return passed

    def offer_to_all(self, series, tenant=None):
        """To one gate after the other. @return those that came through each"""
        return [self.offer(ordinal, series, tenant) for ordinal in range(len(self.gates))]

    def explode(self, offers, senders=4, batch=20):
        """`offers`: {tenant: series}. So many senders offer all of it at once, each in an order of its own, and go round the
        gates."""
        def send_all(number):
            order = random.Random(number)
            clients = [gate.client() for gate in self.gates]
            requests = [(tenant, mixed[at:at + batch]) for tenant, series in offers.items()
                        for mixed in [order.sample(series, len(series))] for at in range(0, len(mixed), batch)]
            order.shuffle(requests)
            for turn, (tenant, series) in enumerate(requests):
                ordinal = (number + turn) % len(clients)
                self.offer(ordinal, series, tenant, clients[ordinal])
            for client in clients:
                client.close()

        with ThreadPoolExecutor(senders) as pool:
            for sender in [pool.submit(send_all, number) for number in range(senders)]:
                sender.result(120)

    # --- what came of it

    def admitted(self, tenant=None):
        """The distinct series of a tenant that came upstream, ever."""
        return {series for whose, raw in list(self.recorder.came.values()) if whose == tenant
                for series in wire.series_of(raw)}

    def all_show(self, figure, expected):
        """Figures of /stats, as figure(stats) finds them, at every gate; a gate may have to ask the store for them."""
        self._show(figure, lambda shown: shown == [expected] * len(shown), expected)

    def most_show(self, figure, expected):
        """As all_show(), of the gate that shows the most: one that has nothing to ask about a budget has heard less of it."""
        self._show(figure, lambda shown: max(shown) == expected, expected)

    def _show(self, figure, is_expected, expected):
        def shown():
            return [figure(gate.stats) for gate in self.gates]

        try:
            eventually(lambda: is_expected(shown()), "", every=0.05)
        except AssertionError:
            raise AssertionError(f"shown: {shown()}, expected: {expected}") from None

    def accounts_for_all(self):
        """What the gates have counted is what senders were told, and what came upstream; none of them has been restarted."""
        counted = [gate.stats["samples"] for gate in self.gates]
        assert sum(samples["refused"] for samples in counted) == self.refused
        assert sum(samples["accepted"] for samples in counted) == self.offered - self.refused
        assert sum(len(list(wire.series_of(raw))) for _, raw in self.recorder.came.values()) == self.offered - self.refused


@pytest.fixture
def share(start_gate, keep, tmp_path):
    """share(store, limits, **how): a SharedFleet, stopped after the test."""
    return lambda store, limits, **how: keep(SharedFleet(start_gate, tmp_path, store, limits, **how))
