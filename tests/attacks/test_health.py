"""Health is answered while every thread that works on requests is stuck in one."""

import itertools
import os
import signal

import recorded
import wire
from bounds import cpu_seconds
from client import Client
from gate import sanitized
from waiting import eventually
from world import threading, time

SLOW_BUILD = sanitized("asan", "tsan", "ubsan")
SECONDS = 0.05 * (10 if SLOW_BUILD else 1)  # for nine answers of ten; the machine has other things to do, too
SECONDS_EVER = 10 * SECONDS
SERIES = 3_000 if SLOW_BUILD else 20_000  # of one request

# Every new series is held against 64 regular expressions, each over all of a long value.
BUSY = "server: {threads: 2}\nlimits:\n" + "".join(
    f"  - {{name: l{at}, match: '{{path=~\".*[a-f]{at}x.*y\"}}', maxHourlySeries: 1000}}\n" for at in range(64))


def new_series(first):
    whole = wire.series({"__name__": "m", "path": "00000000" + "a" * 400}, wire.field(2, wire.sample(1.0, 1)))
    at = whole.index(b"00000000")
    head, tail = whole[:at], whole[at + 8:]
    return wire.pack(b"".join(head + b"%08d" % number + tail for number in range(first, first + SERIES)))


class Probe(threading.Thread):
    """Asks again and again, and keeps how long each answer took."""

    def __init__(self, ask):
        super().__init__()
        self.ask, self.took, self.failed, self.enough = ask, [], [], threading.Event()

    def run(self):
        while not self.enough.wait(0.01):
            began = time.monotonic()
            try:
                reply = self.ask()
            except OSError as error:
                self.failed.append(error)
                continue
            if reply.status != 200:
                self.failed.append(reply)
            self.took.append(time.monotonic() - began)

    def check(self):
        assert not self.failed, self.failed[:3]
        took = sorted(self.took)
        assert len(took) >= 5, took
        assert took[len(took) * 9 // 10] <= SECONDS and took[-1] <= SECONDS_EVER, [f"{each:.3f}" for each in took[-10:]]


def probes(gate):
    """On new connections and on one that is kept."""
    kept = Client(gate.address)
    paths = itertools.cycle(["/health", "/-/healthy", "/-/ready"])
    return [Probe(lambda: gate.get(next(paths))), Probe(lambda: kept.get(next(paths)))]


def watched(gate, work):
    """Runs work() while the probes ask. @return how long it took"""
    asking = probes(gate)
    for probe in asking:
        probe.start()
    began = time.monotonic()
    try:
        work()
        took = time.monotonic() - began
    finally:
        for probe in asking:
            probe.enough.set()
            probe.join()
    for probe in asking:
        probe.check()
    return took


def in_parallel(*jobs):
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_health_answers_while_every_worker_works_on_huge_requests(start_gate):
    gate = start_gate("--upstream.url=discard:", config=BUSY)
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    bodies = [[new_series((lane * 4 + at) * SERIES) for at in range(4)] for lane in range(4)]
    answers = []

    def write(lane):
        enough = time.monotonic() + 2
        with gate.client() as connection:
            for body in itertools.cycle(bodies[lane]):
                answers.append(connection.write(body).status)
                if time.monotonic() > enough:
                    return

    used = cpu_seconds(gate)
    watched(gate, lambda: in_parallel(*[lambda lane=lane: write(lane) for lane in range(4)]))
    assert set(answers) <= {204, 400, 503}
    assert cpu_seconds(gate) - used > 0.7, "the workers were not kept busy"


def test_a_configuration_that_cannot_be_read_to_its_end_holds_up_nobody_else(start_gate, upstream):
    text = f"upstream: {{url: '{upstream.url}'}}\n"
    gate = start_gate(config=text)
    gate.config_file.unlink()
    os.mkfifo(gate.config_file)
    gate.signal(signal.SIGHUP)
    with open(gate.config_file, "w") as feed:  # opens when the gate has begun to read
        def ask_and_write():
            enough = time.monotonic() + 0.5
            while time.monotonic() < enough:
                assert gate.send(recorded.bodies("metadata-v1")[0]).status == 204
        watched(gate, ask_and_write)
        assert "reloaded" not in gate.log
        feed.write(text)
    eventually(lambda: "configuration reloaded" in gate.log, "it has been read")
