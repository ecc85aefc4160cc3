"""Health is answered while every thread that works on requests is stuck in one."""

import itertools
import os
import signal
import threading

import recorded
import wire
from bounds import cpu_seconds, waited_for_a_core
from busy import Busy
from gate import sanitized
from waiting import eventually
from world import time

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


class Probes(Busy):
    """One asks on new connections, one on a kept one, again and again; they keep how long each answer took."""

    def __init__(self, gate):
        super().__init__(gate.address, 2, self._ask)
        self._gate, self._paths, self._took = gate, itertools.cycle(["/health", "/-/healthy", "/-/ready"]), ([], [])
        self._all = ([], [])

    def _ask(self, kept, number):
        path, began, waited = next(self._paths), time.monotonic(), self._waited()
        reply = kept.get(path) if number else self._gate.get(path)
        took = time.monotonic() - began
        self._took[number].append(took - (self._waited() - waited))
        self._all[number].append(took)
        assert reply.status == 200, reply
        time.sleep(0.01)

    def _waited(self):
        """Of the two that this is not about: the thread that asks, and the one that answers."""
        return waited_for_a_core(os.getpid(), threading.get_native_id()) + waited_for_a_core(self._gate.pid, self._gate.pid)

    @property
    def are_enough(self):
        """Of so many that one in ten may be slow."""
        return min(map(len, self._took)) >= 30

    def check(self):
        for took in map(sorted, self._took):
            assert took[len(took) * 9 // 10] <= SECONDS, took[-10:]
            assert took[-1] <= SECONDS_EVER, took[-10:]
        for took in map(sorted, self._all):  # the workers take no more than their part of the cores
            assert took[len(took) // 2] <= SECONDS_EVER, took[-10:]


def test_health_answers_while_every_worker_works_on_huge_requests(start_gate):
    gate = start_gate("--upstream.url=discard:", config=BUSY)
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    bodies = [itertools.cycle([new_series((lane * 4 + at) * SERIES) for at in range(4)]) for lane in range(4)]
    answers = []

    def write(connection, lane):
        answers.append(connection.write(next(bodies[lane])).status)

    used = cpu_seconds(gate)
    with Probes(gate) as probes, Busy(gate.address, 4, write):
        eventually(lambda: probes.are_enough and cpu_seconds(gate) - used > 0.7, "the workers are kept busy", 60)
    probes.check()
    assert set(answers) <= {204, 400, 503}


def test_a_configuration_that_cannot_be_read_to_its_end_holds_up_nobody_else(start_gate, upstream):
    text = f"upstream: {{url: '{upstream.url}'}}\n"
    gate = start_gate(config=text)
    gate.config_file.unlink()
    os.mkfifo(gate.config_file)
    # A pipe that nobody has open for writing would be an empty file.
    with open(os.open(gate.config_file, os.O_RDWR), "w") as feed:
        gate.signal(signal.SIGHUP)
        eventually(lambda: str(gate.config_file) in gate.open_files(), "it has begun to read")
        with Probes(gate) as probes:
            while not probes.are_enough:
                assert gate.send(recorded.bodies("metadata-v1")[0]).status == 204
        probes.check()
        assert "reloaded" not in gate.log
        feed.write(text)
    eventually(lambda: "configuration reloaded" in gate.log, "it has been read")
