"""A store that fails its gates, or is none for a fleet: what is known flows, newcomers get what is configured, and it ends by itself."""

import signal
from pathlib import Path

import pytest

from shared_fleets import GATES, current, share  # noqa: F401
from shared_stores import User, keep, start_store, store_kind  # noqa: F401
from traffic import identity, numbered
from waiting import eventually
from world import ThreadPoolExecutor, time

pytestmark = pytest.mark.extended

KNOWN, NEWCOMERS = numbered(10), numbered(15, start=1000)


def is_away(gate):
    return gate.stats["shared"]["state"] == "away"


# How a store fails, how that ends, and what a gate shows meanwhile: one that is full still answers.
TROUBLES = {
    "killed": (lambda store: store.kill(), lambda store: store.restart(), is_away),
    "standing still": (lambda store: store.stand_still(), lambda store: store.go_on(), is_away),
    "full": (lambda store: store.configure("maxmemory", 1), lambda store: store.configure("maxmemory", 0),
             lambda gate: gate.metric("seriesgate_shared_claim_failures_total", reason="out_of_memory") > 0),
}


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


@pytest.mark.parametrize("begins, ends, is_shown", TROUBLES.values(), ids=TROUBLES)
def test_without_the_store_the_known_flow_and_newcomers_are_refused(known_everywhere, begins, ends, is_shown):
    fleet, store = known_everywhere()
    begins(store)
    for _ in range(3):
        assert fleet.offer_to_all(KNOWN) == [KNOWN] * GATES
        assert fleet.offer_to_all(NEWCOMERS + KNOWN) == [KNOWN] * GATES
        assert [gate.get("/-/ready").status for gate in fleet.gates] == [200] * GATES
    eventually(lambda: all(map(is_shown, fleet.gates)), "they show it")
    assert fleet.offer_to_all(NEWCOMERS) == [[]] * GATES
    ends(store)
    fleet.all_join()
    # Nobody remembers them as refused: they find the room that there is.
    assert eventually(lambda: fleet.offer(0, NEWCOMERS), "newcomers come in again", every=0.05) == NEWCOMERS[:10]
    agree(fleet, NEWCOMERS + KNOWN, 20)
    fleet.accounts_for_all()


def test_without_the_store_newcomers_are_admitted_where_that_is_configured(known_everywhere):
    fleet, store = known_everywhere(onUnavailable="admit")
    store.stand_still()
    for _ in range(2):
        assert fleet.offer_to_all(NEWCOMERS + KNOWN) == [NEWCOMERS + KNOWN] * GATES
    fleet.all_are("away")
    assert [gate.stats["shared"]["unanswered"] for gate in fleet.gates] == [len(NEWCOMERS)] * GATES
    store.go_on()
    fleet.all_join()
    others = numbered(50, start=2000)
    eventually(lambda: len(fleet.offer(0, others)) < 50, "the limit holds again", every=0.05)
    fleet.offer_to_all(others)
    fleet.all_show(current(), len(fleet.admitted()))  # what passed is counted, beyond the limit too


def test_without_the_store_each_gate_lets_its_part_of_the_room_pass(share, start_store):
    store, limit, known = start_store(kept=True), 140, numbered(20)
    fleet = share(store, f"maxHourlySeries: {limit}\n", timeout="1s", onUnavailable="local")
    assert fleet.offer_to_all(known) == [known] * GATES
    fleet.all_show(current(), len(known))
    store.kill()
    fleet.all_are("away")
    part, passed = (limit - len(known)) // GATES, []
    for ordinal, gate in enumerate(fleet.gates):
        series = numbered(2 * part, start=10_000 * (ordinal + 1))
        assert fleet.offer(ordinal, series) == series[:part]
        assert fleet.offer(ordinal, series[::-1]) == series[:part][::-1]  # the same ones, and they take nothing again
        assert fleet.offer(ordinal, known + series) == known + series[:part]
        assert gate.stats["shared"]["alone"] == gate.metric("seriesgate_shared_alone_series_total") == part
        said = eventually(lambda: gate.said("the shared store is away"), "it says so")
        assert {event["new_series"] for event in said} == {"a part of the room"}
        passed += series[:part]
    store.restart()
    fleet.all_join()
    fleet.all_show(current(), limit)
    assert fleet.offer_to_all(passed) == [passed] * GATES  # known to all, and counted once
    assert fleet.offer(0, numbered(100, start=90_000)) == []
    fleet.accounts_for_all()


@pytest.mark.parametrize("mode, new_series", [("local", "refused"), ("admit", "admitted")])
def test_the_log_says_once_that_the_store_is_away_and_once_what_has_become_of_it(known_everywhere, mode, new_series):
    fleet, store = known_everywhere(onUnavailable=mode)
    ends = ["the shared store answers again", "the shared store has lost data", "the shared store has its data again"]

    def said_by(gate, at=0):
        gate.said("")  # waits until it is quiet
        return [event for event in gate.events if "the shared store" in event["msg"]][at:]

    before = [len(said_by(gate)) for gate in fleet.gates]
    store.kill()
    for turn in range(5):
        fleet.offer_to_all(numbered(5, start=100 * turn))
    fleet.all_are("away")
    restarted = time.monotonic()
    store.restart()
    fleet.all_join()
    for gate, at in zip(fleet.gates, before):
        *away, answers, lost, whole = eventually(lambda: len(said_by(gate, at)) > 3 and said_by(gate, at), "all is said")
        assert [answers["msg"], lost["msg"], whole["msg"]] == ends
        assert {event["msg"] for event in away} == {"the shared store is away"}
        assert len({event["err"] for event in away}) == len(away), away  # once for each reason
        assert (lost["new_series"], whole["gates"]) == (new_series, str(GATES))
        assert 1 < float(whole["refill_seconds"]) < time.monotonic() - restarted


def test_who_asks_nothing_does_not_wait_for_those_that_do(known_everywhere):
    fleet, store = known_everywhere(timeout="10s")
    store.stand_still()
    with ThreadPoolExecutor(GATES) as pool:
        asking = [pool.submit(fleet.offer, ordinal, NEWCOMERS) for ordinal in range(GATES)]
        for _ in range(5):
            assert fleet.offer_to_all(KNOWN) == [KNOWN] * GATES
        assert not any(each.done() for each in asking)
        store.go_on()
        assert all(len(each.result(40)) <= 10 for each in asking)


def test_what_is_lost_with_the_only_gate_that_had_it_may_come_once_more(share, start_store):
    store = start_store()
    fleet = share(store, "maxHourlySeries: 60\n", timeout="1s")
    known = [numbered(20, start=1000 * ordinal) for ordinal in range(GATES)]
    for ordinal in (0, 1):
        assert fleet.offer(ordinal, known[ordinal]) == known[ordinal]
        fleet.gates[ordinal].signal(signal.SIGSTOP)
    assert fleet.offer(2, known[2]) == known[2]
    fleet.gates[2].stop()
    assert store.call("FLUSHALL") == "OK"
    for gate in fleet.gates[:2]:
        gate.signal(signal.SIGCONT)
    fleet.restart(2)
    fleet.all_join()
    fleet.explode({None: numbered(200, start=10_000)})
    assert len(fleet.admitted()) == 60 + len(known[2])
    assert [gate.stats["shared"]["losses"] for gate in fleet.gates] == [1, 1, 0]
    assert [fleet.offer(ordinal, known[ordinal]) for ordinal in (0, 1)] == known[:2]
    fleet.most_show(current(), 60)


# --- stores that are none for a fleet

def test_a_store_that_may_evict_is_not_begun_with_and_noticed_later(known_everywhere):
    policy, mended_by = "maxmemory-policy", "set maxmemory-policy to noeviction"
    fleet, store = known_everywhere()
    store.configure(policy, "allkeys-lru")
    fleet.all_are("away")
    for gate in fleet.gates:
        eventually(lambda: any(mended_by in event["err"] for event in gate.said("the shared store is away")), "it says why")
    assert fleet.offer_to_all(NEWCOMERS + KNOWN) == [KNOWN] * GATES
    status, said = fleet.refused_to_join()
    assert status == 2 and mended_by in said and "allkeys-lru" in said, said
    store.configure(policy, "noeviction")
    fleet.all_join()
    agree(fleet, NEWCOMERS + KNOWN, 20)
    fleet.accounts_for_all()


def test_a_store_that_forbids_what_gates_need_or_their_password_is_not_joined(share, start_store):
    store = start_store(user=User(rules=(*User.rules, "-info")))
    fleet = share(None, "", gates=0)
    fleet.store = store
    for ordinal, why in enumerate(("INFO: NOPERM", "WRONGPASS")):
        gate = fleet.start(ordinal)
        away, = eventually(lambda: gate.said("the shared store is away"), "it says so")
        assert is_away(gate) and why in away["err"], away
        Path(store.settings_of(ordinal)["passwordFile"]).write_text("guess\n")
