"""Stores that are none for a fleet: one that may evict, one that forgets scripts, one that is no store at all."""

import socket
import threading

import pytest

from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from test_shared_failures import agree
from traffic import numbered
from waiting import eventually

pytestmark = pytest.mark.extended

KNOWN, NEWCOMERS = numbered(10), numbered(15, start=1000)
POLICY = "maxmemory-policy"
MENDED_BY = "set maxmemory-policy to noeviction"


def test_a_gate_does_not_start_on_a_store_that_may_evict(share, start_store):
    store = start_store()
    fleet = share(store, "maxHourlySeries: 20\n")
    store.configure(POLICY, "allkeys-lru")
    status, said = fleet.refused_to_join()
    assert status == 2, said
    assert MENDED_BY in said and "allkeys-lru" in said


def test_a_store_that_begins_to_evict_is_noticed(share, start_store):
    store = start_store()
    fleet = share(store, "maxHourlySeries: 20\n", timeout="500ms")
    agree(fleet, KNOWN, 10)
    store.configure(POLICY, "volatile-ttl")
    fleet.all_are("away")
    for gate in fleet.gates:
        eventually(lambda: any(MENDED_BY in event["err"] for event in gate.said("the shared store is away")), "it says why")
    assert fleet.offer_to_all(NEWCOMERS + KNOWN) == [KNOWN] * GATES
    store.configure(POLICY, "noeviction")
    fleet.all_join()
    agree(fleet, NEWCOMERS + KNOWN, 20)
    fleet.accounts_for_all()


def test_a_store_that_forgets_all_scripts_is_told_them_again(share, start_store):
    store = start_store()
    fleet = share(store, "maxHourlySeries: 20\n")
    agree(fleet, KNOWN, 10)
    assert store.call("SCRIPT", "FLUSH") == b"OK"
    agree(fleet, KNOWN + NEWCOMERS, 20)
    assert fleet.states() == ["joined"] * GATES
    fleet.accounts_for_all()


class Babbler:
    """Listens where a store should, and says the same to whoever comes, whatever they ask."""

    def __init__(self, says):
        self._says = says
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    def _talk(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                try:
                    connection.settimeout(1)
                    connection.recv(4096)
                    connection.sendall(self._says)
                    connection.recv(4096)
                except OSError:
                    pass

    def settings_of(self, _ordinal):
        return {"url": f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"}

    def stop(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)


@pytest.mark.parametrize("says", [
    b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    b"+OK\r\n" * 100,
    b"*2147483647\r\n",
    b"$-5\r\n",
    b":9\r\n" * 1000 + bytes(range(256)),
], ids=["http", "ok", "endless", "negative", "numbers"])
def test_what_is_no_store_gets_no_series_admitted_and_no_gate_down(share, start_store, keep, says):
    store = start_store()
    fleet = share(store, "maxHourlySeries: 20\n", timeout="200ms")
    agree(fleet, KNOWN, 10)
    fleet.store = keep(Babbler(says))
    fleet.gates[0].stop()
    gate = fleet.restart(0)
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    for _ in range(3):
        assert fleet.offer(0, NEWCOMERS) == []
    assert gate.stats["shared"]["state"] == "away"
    eventually(lambda: [event for event in gate.events if event["msg"] == "the shared store is away"], "it says so")
    assert fleet.offer(1, NEWCOMERS + KNOWN) == NEWCOMERS[:10] + KNOWN
