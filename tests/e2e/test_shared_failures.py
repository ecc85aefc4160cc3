"""A store that fails its gates: what is known flows, newcomers get what is configured, and it ends by itself."""

import threading
import time

import pytest

from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from store_sets import Cluster, SentinelSet
from test_shared_fleet import current
from traffic import identity, numbered
from waiting import eventually

pytestmark = pytest.mark.extended

KNOWN, NEWCOMERS = numbered(10), numbered(15, start=1000)

# How a store fails, how that ends, and whether the gates call that being away: one that is full still answers.
TROUBLES = {
    "killed": (lambda store: store.kill(), lambda store: store.restart(), True),
    "standing still": (lambda store: store.stand_still(), lambda store: store.go_on(), True),
    "full": (lambda store: store.configure("maxmemory", 1), lambda store: store.configure("maxmemory", 0), False),
}
troubles = pytest.mark.parametrize("begins, ends, is_away", TROUBLES.values(), ids=TROUBLES)


def said_of_the_store(gate):
    """What it has said about the shared store, in order."""
    gate.said("")  # waits until it is quiet
    return [event for event in gate.events if "the shared store" in event["msg"]]


def agree(fleet, series, count):
    """All gates let the same ones through, so many, when they have found the time to ask; nobody else has ever come through."""
    orders = [series, series[::-1], series[1::2] + series[::2]]  # a gate that asked nobody would let others through

    def the_same_came():
        came = [fleet.offer(ordinal, order) for ordinal, order in enumerate(orders)]
        answers = {frozenset(map(identity, each)) for each in came}
        return answers == {frozenset(fleet.admitted())} and len(fleet.admitted()) == count

    eventually(the_same_came, f"every gate lets the same {count} through", every=0.05)
    fleet.most_show(current(), count)


@pytest.fixture
def known_everywhere(share, start_store):
    """known_everywhere(**shared): (a fleet with room for 10 more, its store)"""
    def start(**shared):
        store = start_store(kept=True)
        fleet = share(store, "maxHourlySeries: 20\n", **{"timeout": "500ms", **shared})
        agree(fleet, KNOWN, 10)
        return fleet, store

    return start


@troubles
def test_without_the_store_the_known_flow_and_newcomers_are_refused(known_everywhere, begins, ends, is_away):
    fleet, store = known_everywhere()
    begins(store)
    for _ in range(3):
        assert fleet.offer_to_all(KNOWN) == [KNOWN] * GATES
        assert fleet.offer_to_all(NEWCOMERS + KNOWN) == [KNOWN] * GATES
        assert [gate.get("/-/ready").status for gate in fleet.gates] == [200] * GATES
    if is_away:
        fleet.all_are("away")
    assert fleet.offer_to_all(NEWCOMERS) == [[]] * GATES
    ends(store)
    fleet.all_join()
    # Nobody remembers them as refused: they find the room that there is.
    assert eventually(lambda: fleet.offer(0, NEWCOMERS), "newcomers come in again", every=0.05) == NEWCOMERS[:10]
    agree(fleet, NEWCOMERS + KNOWN, 20)
    fleet.accounts_for_all()


@troubles
def test_without_the_store_newcomers_are_admitted_where_that_is_configured(known_everywhere, begins, ends, is_away):
    fleet, store = known_everywhere(onUnavailable="admit")
    begins(store)
    for _ in range(2):
        assert fleet.offer_to_all(NEWCOMERS + KNOWN) == [NEWCOMERS + KNOWN] * GATES
    if is_away:
        fleet.all_are("away")
    assert [gate.get("/-/ready").status for gate in fleet.gates] == [200] * GATES
    ends(store)
    fleet.all_join()
    others = numbered(50, start=2000)
    eventually(lambda: len(fleet.offer(0, others)) < 50, "the limit holds again", every=0.05)
    fleet.offer_to_all(others)
    fleet.all_show(current(), len(fleet.admitted()))  # what passed is counted, beyond the limit too


def test_the_log_says_once_that_the_store_is_away_and_once_that_it_is_back(known_everywhere):
    fleet, store = known_everywhere()
    joined = [len(said_of_the_store(gate)) for gate in fleet.gates]
    store.kill()
    for turn in range(5):
        fleet.offer_to_all(numbered(5, start=100 * turn))
    fleet.all_are("away")
    for gate, before in zip(fleet.gates, joined):
        eventually(lambda: len(said_of_the_store(gate)) > before, "it says so")  # the state is shown before it is said
        said = said_of_the_store(gate)[before:]
        assert {event["msg"] for event in said} == {"the shared store is away"}
        assert len({event["err"] for event in said}) == len(said), said  # once for each reason
    away = [len(said_of_the_store(gate)) for gate in fleet.gates]
    store.restart()
    fleet.all_join()
    for gate, before in zip(fleet.gates, away):
        eventually(lambda: len(said_of_the_store(gate)) >= before + 3, "it says what has become of it")
        said = said_of_the_store(gate)[before:]
        assert [event["msg"] for event in said] == [
            "the shared store answers again", "the shared store has lost data", "the shared store has its data again"]


def test_who_asks_nothing_does_not_wait_for_a_store_that_stands_still(known_everywhere):
    fleet, store = known_everywhere(timeout="8s")
    store.stand_still()
    asking = [threading.Thread(target=fleet.offer, args=(ordinal, NEWCOMERS)) for ordinal in range(GATES)]
    for thread in asking:
        thread.start()
    started = time.monotonic()
    for _ in range(5):
        assert fleet.offer_to_all(KNOWN) == [KNOWN] * GATES
    assert time.monotonic() - started < 5, "who asks nothing does not wait"
    store.go_on()
    for thread in asking:
        thread.join(20)


def test_nobody_waits_longer_for_the_store_than_is_configured(known_everywhere):
    fleet, store = known_everywhere(timeout="200ms")
    store.stand_still()
    longest = 0
    for turn in range(20):
        started = time.monotonic()
        assert fleet.offer(turn % GATES, numbered(1, start=5000 + turn)) == []
        longest = max(longest, time.monotonic() - started)
    assert longest < 2, f"{longest:.2f} s"
    fleet.all_are("away")
    started = time.monotonic()
    for turn in range(50):  # one that is away is not asked for each request
        fleet.offer(turn % GATES, numbered(1, start=6000 + turn))
    assert time.monotonic() - started < 5, "who asks nothing does not wait"
    store.go_on()
    fleet.all_join()


def test_a_gate_that_starts_without_the_store_joins_when_it_comes(share, start_store):
    store = start_store(kept=True)
    fleet = share(store, "maxHourlySeries: 20\n", timeout="500ms")
    agree(fleet, KNOWN, 10)
    store.kill()
    fleet.gates[2].stop()
    gate = fleet.restart(2)
    assert gate.stats["shared"]["state"] != "joined"
    assert fleet.offer(2, NEWCOMERS) == []
    store.restart()
    fleet.all_join()
    agree(fleet, NEWCOMERS + KNOWN, 20)


@pytest.mark.slow
@pytest.mark.timeout(150)
def test_a_failover_amid_an_explosion_spends_no_place_twice(share, keep, store_kind, tmp_path):
    stores = keep(SentinelSet(store_kind, tmp_path))
    fleet = share(stores, "maxHourlySeries: 200\n", timeout="1s")
    series = numbered(800)
    fleet.explode({None: series}, batch=10, meanwhile=stores.kill_master)
    assert len(fleet.admitted()) <= 200
    fleet.all_are("joined", 40)
    agree(fleet, series, 200)


@pytest.mark.slow
def test_a_node_of_a_cluster_that_fails_is_waited_for(share, keep, store_kind, tmp_path):
    cluster = keep(Cluster(store_kind, tmp_path, 3))
    fleet = share(cluster, "maxHourlySeries: 20\n", timeout="500ms")
    agree(fleet, KNOWN, 10)
    home, = cluster.owners
    home.stand_still()
    fleet.all_are("away")
    assert fleet.offer_to_all(KNOWN + NEWCOMERS) == [KNOWN] * GATES
    home.go_on()
    fleet.all_are("joined", 40)
    agree(fleet, NEWCOMERS + KNOWN, 20)
