"""A fleet amid random faults, hour after hour, with its promises checked from outside: on what was answered, and what came upstream.

An hour of the gates takes some ten seconds here. In each, gates and the store are killed, stopped, halted, cut off, emptied and failed
over, and the store's clock leaps, while senders go on with series of the hour before and with newcomers. Each fleet is dealt every
fault. SERIESGATE_FLEET_FAULTS_MINUTES: how long (1). SERIESGATE_SEED: the first seed (by the clock without it); each failure says its own.
"""

import contextlib
import functools
import http.client
import os
import random
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from gate import Gate
from promised_fleets import BATCH, HALF_PAST, LIMIT, OLD, BrokenPromise, holds, later, new
from promised_fleets import promised  # noqa: F401
from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from store_sets import Cluster, SentinelSet
from traffic import identity
from world import threading, time

MINUTES = float(os.environ.get("SERIESGATE_FLEET_FAULTS_MINUTES", "1"))
HOURS = 5  # of one fleet
pytestmark = [pytest.mark.extended, pytest.mark.timeout(MINUTES * 60 + 300)]


class Faults:
    """Of one hour, as they are dealt, with one server as the store. Each ends before it returns; a gate that was started again has joined."""

    STORE = None  # how it is made, if it is more than one server
    OF_GATES = ["kill_gate", "stop_gate", "halt_gate"]
    ALL = [*OF_GATES, "cut_off", "halt_store", "kill_store", "flush", "leap"]

    def __init__(self, fleet, chance, kept, dealt):
        self._fleet, self._chance, self._kept, self._dealt = fleet, chance, kept, dealt
        self.done = []
        self.lost = self.killed = self.stopped = False
        self.splits = 0  # how often there were two masters

    def __call__(self):
        for fault in self._dealt:
            time.sleep(self._chance.uniform(0, 1))
            self.done.append(fault)
            getattr(self, fault)()

    @property
    def has_vanished(self):
        """A gate has, before it could tell what only it knew: it was killed, or stopped in the seconds of a loss."""
        return self.killed or (self.stopped and self.lost)

    @property
    def most(self):
        """That may come upstream: two masters may both give the room that was left. None: nobody knows what only a gate that
        vanished had told a store that lost it."""
        return None if self.lost and self.has_vanished else LIMIT + self.splits * (LIMIT - len(OLD))

    def _pause(self):
        time.sleep(self._chance.uniform(0.2, 3))

    @property
    def _server(self):
        """That has the fleet's keys."""
        return self._fleet.store

    def _restart_one(self, end):
        ordinal = self._chance.randrange(GATES)
        end(self._fleet.gates[ordinal])
        self._pause()
        self._fleet.fleet.restart(ordinal)

    def kill_gate(self):
        self.killed = True
        self._restart_one(Gate.crash)

    def stop_gate(self):
        self.stopped = True
        self._restart_one(Gate.stop)

    def halt_gate(self):
        gate = self._fleet.gates[self._chance.randrange(GATES)]
        gate.signal(signal.SIGSTOP)
        self._pause()
        gate.signal(signal.SIGCONT)

    def cut_off(self):
        self._fleet.relay.cut()
        self._pause()
        self._fleet.relay.mend()

    def halt_store(self):
        server = self._server
        server.stand_still()
        self._pause()
        server.go_on()

    def kill_store(self):
        self.lost |= not self._kept
        server = self._server
        server.kill()
        self._pause()
        server.restart()

    def flush(self):
        self.lost = True
        assert self._server.call("FLUSHALL") == "OK"

    def leap(self):
        self._fleet.clock_of_store.set(later(self._fleet.now, seconds=self._chance.choice([-5400, -90, 300, 3600, 86_400])))
        self._pause()
        self._fleet.set(self._fleet.now)


class SentinelFaults(Faults):
    """With a master and a replica, which takes its place with everything, or without the last writes."""

    STORE = SentinelSet
    ALL = [*Faults.OF_GATES, "fail_over", "fail_over_behind", "split", "flush", "leap"]

    def fail_over(self):
        self._fleet.store.kill_master()
        self._make_whole()

    def fail_over_behind(self):
        self.lost = True
        self._fleet.store.cut_replica()
        self._pause()
        self._fleet.store.kill_master_ahead()
        self._make_whole()

    def split(self):
        self.lost = True
        self.splits += 1
        self._fleet.store.split()
        self._make_whole()

    def _make_whole(self):
        self._pause()
        self._fleet.store.make_whole()


class ClusterFaults(Faults):
    """With three nodes, of which one has all keys of the fleet."""

    STORE = functools.partial(Cluster, nodes=3)
    ALL = [*Faults.OF_GATES, "halt_store", "kill_store", "flush", "leap"]

    @property
    def _server(self):
        return self._fleet.store.home("sg:{default}:4:head")

    def halt_store(self):
        super().halt_store()
        self._fleet.store.await_complete()

    def kill_store(self):
        super().kill_store()
        self._fleet.store.await_complete()


class Sender:
    """Offers to one gate, over and over, all of OLD and some newcomers. What a gate has once let pass in this hour it lets pass again,
    and a gate that has once read what others have admitted refuses none of OLD."""

    def __init__(self, fleet, ordinal, newcomers, seed):
        self._fleet, self._ordinal, self._newcomers = fleet, ordinal, newcomers
        self._chance = random.Random(seed)
        self._gate, self._has_joined, self._passed = None, False, set()

    def __call__(self, ended):
        while not ended.is_set():
            batch = self._chance.sample(OLD, BATCH - 10) + self._chance.sample(self._newcomers, 10)
            gate = self._fleet.gates[self._ordinal]
            if gate is not self._gate:
                self._gate, self._has_joined, self._passed = gate, False, set()
            time.sleep(0.02)
            with contextlib.suppress(OSError, http.client.HTTPException):  # it does not run, or has ended amid the request
                self._has_joined = self._has_joined or gate.metric("seriesgate_shared_feed_up") == 1
                passed = self._fleet.fleet.offer(self._ordinal, batch)
                if gate.running:  # else its successor has answered
                    self._look_at(batch, passed)

    def _look_at(self, batch, passed):
        names = {identity(labels) for labels in passed}
        promised = self._passed | ({identity(labels) for labels in OLD} if self._has_joined else set())
        refused = {identity(labels) for labels in batch} & promised - names
        if refused:
            raise BrokenPromise(f"gate {self._ordinal} refused {len(refused)} that it has to let pass, such as {min(refused)}")
        self._passed |= names


def an_hour(fleet, begun, faults, chance, keeps_places):
    """Senders and faults at once; then all agree again, and the room is used, and no more. `keeps_places`: a gate has vanished
    in the hour before, and so newcomers may find less room. @return how many came"""
    fleet.begin(begun)
    newcomers = new(400, start=1000 * int(begun[8:10]) + 10_000 * int(begun[11:13]))
    ended = threading.Event()
    with ThreadPoolExecutor(GATES) as pool:
        senders = [pool.submit(Sender(fleet, ordinal, newcomers, chance.random()), ended) for ordinal in range(GATES)]
        try:
            faults()
        finally:
            ended.set()
        for sender in senders:
            sender.result(60)
    fleet.fleet.all_join(40)
    holds(fleet.flow(), [len(OLD)] * GATES)
    fleet.set(later(begun, minutes=30))
    if not (keeps_places or faults.has_vanished or faults.splits):
        fleet.fills_up(newcomers)
    holds(fleet.flow(), [len(OLD)] * GATES)
    old, others = fleet.came()
    if faults.most and old + others > faults.most:
        raise BrokenPromise(f"{old} and {others} newcomers came, at a limit of {LIMIT}, and after {faults.splits} splits")
    return old + others


def a_fleet_amid_faults(promised, kind, seed):
    chance = random.Random(seed)
    kept, with_day = chance.random() < 0.5, chance.random() < 0.5
    limits = f"maxHourlySeries: {LIMIT}\n" + f"maxDailySeries: {3 * LIMIT}\n" * with_day
    fleet = promised(limits, kept=kept, relayed=kind is Faults, made_by=kind.STORE)
    done, keeps_places, deck = [], False, chance.sample(kind.ALL, len(kind.ALL))
    try:
        for turn in range(GATES):
            assert fleet.offer(OLD, turn) == len(OLD)
        for hour in range(HOURS):
            dealt = deck[hour::HOURS]
            dealt += chance.sample([each for each in kind.ALL if each not in dealt], chance.randint(0, 3 - len(dealt)))
            faults = kind(fleet, chance, kept, dealt)
            done.append(faults.done)
            begun = later(HALF_PAST, minutes=30 + 60 * hour, seconds=1)
            fleet.set(later(begun, seconds=-10))
            came = an_hour(fleet, begun, faults, chance, keeps_places)
            keeps_places = faults.has_vanished
            if came > LIMIT:  # in the next hour they come first come, first served
                break
    except BaseException as error:
        shown = [gate.stats["shared"] for gate in fleet.gates if gate.process.poll() is None]
        raise AssertionError(f"seed {seed}, {kept=}, {with_day=}, faults by hour {done}: {error}; {shown}") from error
    for gate in fleet.gates:
        gate.stop()
    fleet.store.stop()
    return done


@pytest.mark.parametrize("kind", [Faults, SentinelFaults, ClusterFaults], ids=["one server", "sentinel", "cluster"])
def test_a_fleet_amid_random_faults_keeps_its_promises(promised, kind):
    first = int(os.environ.get("SERIESGATE_SEED", time.time_ns() // 10**9 % 10**6))
    until = time.monotonic() + 60 * MINUTES
    seed, counted = first, 0
    while time.monotonic() < until:
        done = a_fleet_amid_faults(promised, kind, seed)
        counted += sum(map(len, done))
        seed += 1
        print(f"seed {seed - 1}: {done}", flush=True)
    print(f"{seed - first} fleets, {counted} faults; the next seed is {seed}")
