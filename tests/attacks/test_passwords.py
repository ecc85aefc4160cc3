"""A flood of wrong passwords: bcrypt is what makes it dear, for one thread that nobody else waits for."""

import itertools

import pytest

import wire
from bounds import within
from busy import Busy
from client import Client, RawConnection, head
from gate import sanitized
from open_loop import latencies, quantile
from waiting import eventually
from web_files import ALICE, BOB, basic, users
from world import time

BODY = wire.pack(wire.sampled("up", job="a"))
SLOW_BUILD = sanitized("asan", "tsan", "ubsan")
FLOODERS = 24
USERS = ["alice", "bob", "eve"]  # eve is none
SECONDS = 3.0


@pytest.fixture
def gate(guarded):
    return guarded(users(ALICE, BOB) + "auth_excluded_paths: [/-/healthy]\n")


class Flood(Busy):
    """Many connections from one address that try passwords, a new one each time."""

    def __init__(self, gate):
        super().__init__(gate.address, FLOODERS, self._try)
        self._numbers, self.statuses = itertools.count(), []

    def __enter__(self):
        super().__enter__()
        eventually(lambda: 503 in self.statuses, "more wait than may", 60)
        return self

    def _try(self, client, _):
        number = next(self._numbers)
        try:
            reply = client.request("GET", "/stats", headers=[basic(USERS[number % 3], f"x{number}")])
        except OSError:
            client.close()
            return
        assert reply.status != 200
        assert reply.status != 503 or reply.get("Retry-After") == "1"
        self.statuses.append(reply.status)
        time.sleep(0.005)


def test_who_was_let_in_and_who_need_not_be_do_not_wait(gate):
    sender, probe = Client(gate.address), Client(gate.address)

    def write():
        assert sender.write(BODY, [basic(ALICE)]).status == 204

    def health():
        assert probe.request("GET", "/-/healthy").status == 200

    write()
    calm = latencies(write, 1.0), latencies(health, 1.0)
    with Flood(gate):
        flooded = latencies(write, SECONDS), latencies(health, SECONDS)
    for before, during in zip(calm, flooded):
        # A check takes 50 ms, and a queue of them 16 times that: who waits for one is far beyond this.
        bound = max(0.04 * (10 if SLOW_BUILD else 1), 4 * quantile(before, 0.9))
        assert quantile(during, 0.9) < bound, (before[-3:], during[-3:])
    sender.close(), probe.close()


def test_who_comes_from_elsewhere_is_checked_in_turn(gate):
    """The flood's own share is full; a first login from another address waits for one check besides its own, or two."""
    with Flood(gate) as flood, RawConnection(gate.address, timeout=60, source="127.0.0.2") as other:
        checked = flood.statuses.count(401)
        other.send(head("GET", "/stats", [basic(BOB)]))
        assert other.reply("GET").status == 200
        assert flood.statuses.count(401) - checked <= 12, "its turn came before those of the sixteen that wait"


def test_a_flood_holds_little_memory(gate):
    with within(gate, memory_mib=24):
        with Flood(gate) as flood:
            eventually(lambda: len(flood.statuses) > 1000, "a thousand were tried", 60)
    assert set(flood.statuses) == {401, 503}
    with Client(gate.address) as client:
        reply = client.request("GET", "/metrics", headers=[basic(ALICE)])
        metrics = reply.body.decode()
    assert 'seriesgate_requests_rejected_total{reason="passwords_held"} 0\n' not in metrics
    said = eventually(lambda: gate.said("requests rejected", reason="passwords_held"), "the log says so")
    assert said[0]["status"] == "503"
    assert not any("x1" in event["err"] for event in gate.said("requests rejected"))
