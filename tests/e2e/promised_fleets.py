"""Fleets whose clocks run from the time that a test sets, and what came upstream in each hour."""

import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from faked_clock import FakedClock, library
from shared_fleets import GATES
from traffic import identity, numbered
from upstream import Listener
from waiting import eventually
from world import socket, threading, time

#: What flows, and the limit that leaves it room.
OLD, LIMIT = numbered(900, name="old"), 1000
HALF_PAST, BEFORE_EDGE, EDGE = "2026-03-10 12:30:00", "2026-03-10 12:59:50", "2026-03-10 13:00:01"
BATCH = 100  # series in a request


class BrokenPromise(AssertionError):
    """What no gate may do; other failures of a test are none of these."""


def holds(seen, promised):
    if seen != promised:
        raise BrokenPromise(f"seen: {seen}, promised: {promised}")


def new(count, start=0):
    return numbered(count, start, name="new")


def later(now, **span):
    return str(datetime.datetime.fromisoformat(now) + datetime.timedelta(**span))


class Relay(Listener):
    """Stands between a gate and its store. Cut, it keeps all connections, and nothing comes through."""

    def __init__(self, target):
        self._target = target
        self._flows = threading.Event()
        self.cut, self.mend = self._flows.clear, self._flows.set
        self.mend()
        super().__init__()

    def serve(self, connection, _ordinal):
        with socket.create_connection(self._target, 10) as onward:
            onward.settimeout(None)
            back = threading.Thread(target=self._pump, args=(onward, connection), daemon=True)
            back.start()
            self._pump(connection, onward)
            back.join(10)

    def _pump(self, giver, taker):
        try:
            while data := giver.recv(65536):
                self._flows.wait()
                taker.sendall(data)
            taker.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one of the two has gone


class Memory:
    """A gate's, which runs out when a test says so: scarce_memory.c, preloaded."""

    def __init__(self, folder):
        self._file = Path(folder) / "scarce"
        self.library = library(Path(__file__).with_name("scarce_memory.c"))
        self.environment = {"SCARCE_MEMORY_FILE": str(self._file)}

    @property
    def refusals(self):
        counted = self._file.with_name("scarce.refused")
        return counted.stat().st_size if counted.exists() else 0

    def run_out(self, size=256, first=0):
        """From here on nobody gets so many bytes or more, after the `first` who do."""
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{size} {first}")
        fresh.rename(self._file)

    def come_back(self):
        self._file.unlink()


class PromisedFleet:
    """A SharedFleet, its store, and the clocks of all. `memories`: of its gates, if these can run out. `relay`: between the
    first gate and the store, if there is one."""

    def __init__(self, fleet, store, clocks, memories=(), relay=None):
        self.fleet, self.store, self.memories, self.relay = fleet, store, memories, relay
        self.gates = fleet.gates
        self.clock_of_store, *self.clocks_of_gates = clocks

    # --- time

    def set(self, now):
        self.now = now
        for clock in (self.clock_of_store, *self.clocks_of_gates):
            clock.set(now)

    def begin(self, now):
        """An hour, in which came() counts anew. A gate that cannot hear of it goes on by the time that it heard last."""
        self.set(now)
        hour = f"{now[:10]}T{now[11:13]}:00:00Z"
        eventually(lambda: {gate.stats["windows"]["hourly"]["start"] for gate in self.gates} == {hour}, f"{hour} has begun")
        self.fleet.recorder.came.clear()

    # --- senders

    def offer(self, series, turn=0):
        """Every gate gets a part of it, and in another turn another part. @return how many came through"""
        return sum(self.offer_to(ordinal % len(self.gates), series[(ordinal + turn) % GATES::GATES])
                   for ordinal in range(GATES))

    def flow(self, series=OLD):
        """All of it to one gate after the other. @return how many came through each"""
        return [self.offer_to(ordinal, series) for ordinal in range(len(self.gates))]

    def offer_to(self, ordinal, series):
        """@return how many came through this gate"""
        return sum(len(self.fleet.offer(ordinal, series[at:at + BATCH])) for at in range(0, len(series), BATCH))

    # --- what came upstream since the hour was begun

    def came(self):
        """@return how many of OLD, and how many others"""
        came, old = self.fleet.admitted(), {identity(labels) for labels in OLD}
        return len(came & old), len(came - old)

    def is_told(self):
        """Until the store has every series that came in the hour, the first one of this fleet. A clock that leaps over the hour's
        end takes the time away in which gates tell."""
        count = ("local sum = 0 for _, key in ipairs(redis.call('KEYS', 'sg:*:h:*')) do "
                 "if redis.call('TYPE', key).ok == 'set' then sum = sum + redis.call('SCARD', key) end end return sum")
        eventually(lambda: int(self.store.call("EVAL", count, "0")) >= len(self.fleet.admitted()), "the store has all series", 30)

    def fills_up(self, newcomers, expected=LIMIT):
        """They find the room that there is, soon, and no more."""
        def found():
            self.offer(newcomers)
            return sum(self.came()) >= expected

        deadline = time.monotonic() + 10
        while not found() and time.monotonic() < deadline:
            time.sleep(0.1)
        self.offer(newcomers, 1)
        holds(sum(self.came()), expected)


@pytest.fixture
def promised(share, start_store, keep, tmp_path):
    """promised(limits, at, **how): a PromisedFleet from that time on. `kept`: as SharedStore. `made_by`: a SentinelSet or a Cluster
    in place of it. `relayed`: it has a relay. `scarce`: its gates' memory can run out. `alone`: its gates share nothing. Others:
    keys of `shared`."""
    made = []

    def start(limits, at=HALF_PAST, gates=GATES, kept=False, made_by=None, relayed=False, scarce=False, alone=False, **shared):
        folders = [tmp_path / f"fleet-{len(made)}-{name}" for name in ("store", *range(gates))]
        for folder in folders:
            folder.mkdir()
        clocks = [FakedClock(folder, at, runs=True) for folder in folders]
        memories = [Memory(folder) for folder in folders[1:]] if scarce else []
        environments = [clock.environment for clock in clocks[1:]]
        for environment, memory in zip(environments, memories):
            environment |= {**memory.environment, "LD_PRELOAD": f"{environment['LD_PRELOAD']} {memory.library}"}
        how = {"name": f"store-{len(made)}", "clock": clocks[0], "kept": kept}
        store = None if alone else made_by(start_store, **how) if made_by else start_store(**how)
        relay = keep(Relay(store.address)) if relayed else None
        seen = SimpleNamespace(settings_of=lambda ordinal: store.settings_of(ordinal) if ordinal else {
            "url": f"redis://{relay.host}/0"}) if relay else store  # the first gate sees the relay
        fleet = share(seen, limits, gates=gates, environments=environments, **{"timeout": "1s", **shared})
        made.append(PromisedFleet(fleet, store, clocks, memories, relay))
        return made[-1]

    yield start
    for each in made:
        if each.relay:
            each.relay.mend()
        for gate in each.gates:
            gate.stop()
