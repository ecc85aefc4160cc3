"""What a test of faults is made of: a fault, and a scene in which it happens at one backend of a store."""

from dataclasses import dataclass

import store_ways
from certificates import served_with as server_context
from fault_account import by, check_account, check_answers, tally
from fault_requests import BIG
from fault_senders import Orders, Senders
from faulty_store import Store
from waiting import eventually

SENDERS = 4
BITES = 6  # so often a fault has to show before it is mended


@dataclass(frozen=True)
class Fault:
    """What happens at one backend. `way`: what it does with requests (store_ways.py), or `begin(backend)` and `mend(backend)`: what it
    does with connections. `reason`: of the gate's 502 or 504, None if there is none; `at_times`: of a 502 that may be and need
    not. `smooth`: with two other backends no sender is told of it. `big`: requests that do not fit into the connection's buffers."""

    name: str
    reason: str = None
    at_times: str = None
    way: str = None
    begin: object = None
    mend: object = None
    smooth: bool = False
    big: bool = False
    timeout: str = "20s"  # upstream.timeout; no reason for a busy machine to have one more

    @property
    def status(self):
        return 504 if self.reason == "timeout" else 502

    @property
    def told(self):
        """The statuses that senders are told of, besides success."""
        if self.reason:
            return {self.status}
        if self.way and self.way.isdigit():
            return {int(self.way)}
        return {503} if self.way == "an error before the body is read" else set()


def welcomes(how):
    def begin(backend):
        backend.welcome = how
        backend.cut_off()
    return begin


def welcomes_again(backend):
    backend.welcome = None


def opens_anew(backend):
    backend.close()
    backend.open()


def configuration(backends, timeout, more=""):
    """`more`: further keys of `upstream`."""
    urls = ", ".join(f"'{backend.url}'" for backend in backends)
    where = f"urls: [{urls}]" if len(backends) > 1 else f"url: {urls}"
    return f"upstream: {{{where}, timeout: {timeout}{more}}}\nmaxHourlySeries: 300\n"


class Scene:
    """A store with so many backends, a gate and its senders; with a fault at the first backend from begin() to mend().

    `tls`: an Authority, if the backends speak TLS: then their certificates are for store.test."""

    def __init__(self, start_gate, fault, backends, tls=None):
        self.fault, self.faulty = fault, False
        self.store = Store(backends, self._way)
        context = server_context(tls.issue("store.test")) if tls else None
        more = f", tls: {{caFile: '{tls.certificate}', serverName: store.test}}" if tls else ""
        self.backends = [self.store.backend(tls=context, receive_buffer=1 << 16 if fault.big else None) for _ in range(backends)]
        self.gate = start_gate(config=configuration(self.backends, fault.timeout, more))
        self.senders = Senders(Orders(self.store.seed, self.gate.address, pause=0.02, rest=0.02), SENDERS,
                               first=BIG if fault.big else 0, seconds=100)

    def stop(self):
        self.senders.end()
        self.store.stop()

    def play(self):
        """All is well, then the fault is there until it has shown, then all is well again. @return (/metrics, what the
        senders were answered)"""
        self._wait_for_answers()
        answers = self.senders.answers()
        assert set(answers) <= {200, 204}, answers
        self.faulty = True
        if self.fault.begin:
            self.fault.begin(self.backends[0])
        if len(self.backends) == 1:
            eventually(lambda: self._shown() >= BITES, f"{self.fault.name}: it shows", 60)
        else:  # it need not show
            self._wait_for_answers(120)
        self.faulty = False
        if self.fault.mend:
            self.fault.mend(self.backends[0])
        self._wait_for_answers()
        sent = self.senders.end()
        return self._check(sent), sent

    def _way(self, arrival):
        return self.fault.way if self.faulty and self.fault.way and arrival.backend == 0 else store_ways.good(arrival)

    def _wait_for_answers(self, count=40):
        wanted = self.senders.answered + (SENDERS if self.fault.big else count)
        eventually(lambda: self.senders.answered >= wanted, f"{self.fault.name}: further answers", 60)

    def _shown(self):
        """How often: in the store, or in what the gate has told its senders."""
        if self.fault.way:
            return self.store.done[self.fault.way]
        return sum(status >= 500 for status in self.senders.answers())

    def _check(self, sent):
        """What has to hold whatever happens. @return /metrics"""
        arrived, _, faults = self.store.results()
        check_answers(sent, arrived, faults)
        return check_account(self.gate, tally(sent))


def _errors(fault, metrics):
    """Errors of the fault by reason, and the statuses of others: of requests and handshakes that were under way when the backend was
    cut off, at most one for each sender; and where one swallows, while there is no listener, before and after, and of who came to the queue
    before those that are to fill it."""
    errors = by(metrics, "seriesgate_upstream_errors_total", "reason")
    others = set()
    for cut_off in ("connection_lost", "tls"):
        if fault.begin and fault.reason != cut_off and errors.get(cut_off, SENDERS + 1) <= SENDERS:
            others.add(cut_off)
    if fault.name == "swallowed":
        others.add("connection_refused")
        if errors.get("timeout", 0) <= SENDERS:
            others.add("timeout")
    others.add(fault.at_times)
    others &= set(errors)
    return set(errors) - others, {504 if reason == "timeout" else 502 for reason in others}


def check_one_backend(scene):
    """Senders are told of the fault, with its reason, and the log says so."""
    fault = scene.fault
    metrics, sent = scene.play()
    reasons, incidental = _errors(fault, metrics)
    assert reasons == ({fault.reason} if fault.reason else set()), (reasons, scene.gate.said("the upstream has not answered"))
    assert fault.told <= {one.status for one in sent} - {200, 204} <= fault.told | incidental
    for status in fault.told:
        if fault.reason:
            said = [("the upstream has not answered", {"reason": fault.reason}), ("the upstream answers again", {})]
        else:
            said = [("the store rejected requests", {"status": str(status)})]
        for line, fields in said:
            eventually(lambda: scene.gate.said(line, **fields), f"{line} {fields}")  # pylint: disable=cell-var-from-loop


def check_three_backends(scene):
    """Senders are told of no other fault, and of none at all where it is certain that the backend has not got their request."""
    fault = scene.fault
    metrics, sent = scene.play()
    reasons, incidental = _errors(fault, metrics)
    assert reasons <= (set() if fault.smooth else {fault.reason}), (reasons, scene.gate.said("the upstream has not answered"))
    assert {one.status for one in sent} - {200, 204} <= (set() if fault.smooth else fault.told) | incidental
