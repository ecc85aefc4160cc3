"""An hour's edge with the store of counts out of reach: incumbents do not wait for it, and nobody takes their places."""

import time

import pytest

from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from test_shared_clock import EDGES, LIMITS, clocks, comes_to, set_all, timed  # noqa: F401
from test_shared_fleet import current, currents
from traffic import identity, numbered
from waiting import eventually

pytestmark = pytest.mark.extended

INCUMBENTS, NEWCOMERS = numbered(8, job="a"), numbered(50, start=1000, job="a")
FIRST = numbered(1, start=5000, job="a")
BEFORE, BEGUN, GRACE_OVER = EDGES["an hour's"]
TIMEOUT = 2  # shared.timeout, seconds


def told(gate):
    return sum(gate.metric("seriesgate_shared_told_series_total", outcome=outcome) for outcome in ("taken", "known"))


@pytest.fixture
def at_the_edge(timed, clocks):
    """at_the_edge(limits, before, begun): (a fleet that knows INCUMBENTS everywhere and has begun its next hour with FIRST, its
    store)"""
    def start(limits, before=BEFORE, begun=BEGUN):
        set_all(clocks, before)
        fleet = timed(limits, timeout=f"{TIMEOUT}s")
        eventually(lambda: fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES, "all gates know all")
        set_all(clocks, begun)
        comes_to(fleet, begun)
        fleet.recorder.came.clear()
        eventually(lambda: fleet.offer(0, FIRST) == FIRST, "the hour is open")
        time.sleep(0.5)  # all read the feed in the new hour: now they know how full budgets were in the hour before
        return fleet, fleet.store

    return start


@pytest.mark.parametrize("text, before, begun", [
    pytest.param(text, *edge[:2], id=f"{which} edge, {what}") for which, edge in EDGES.items() for what, text in LIMITS.items()])
def test_without_the_store_incumbents_pass_at_once_and_are_counted_when_it_is_back(at_the_edge, text, before, begun):
    fleet, store = at_the_edge(text, before, begun)
    store.stand_still()
    started = time.monotonic()
    for _ in range(2):
        assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    assert time.monotonic() - started < TIMEOUT, "none has waited for it"
    assert fleet.offer(1, NEWCOMERS + INCUMBENTS) == INCUMBENTS
    store.go_on()
    fleet.all_join()
    eventually(lambda: fleet.explode({None: NEWCOMERS}, senders=2, batch=5) or len(fleet.admitted()) == 10, "the rest has come")
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    fleet.offer_to_all(NEWCOMERS)
    assert len(fleet.admitted()) == 10
    assert fleet.offer_to_all(FIRST) == [FIRST] * GATES
    fleet.all_show(currents("hourly") if "Series: 10\n" not in text[:30] else current(),
                   10 if text.startswith("max") else [10])
    assert sum(told(gate) for gate in fleet.gates) >= 8


def test_newcomers_do_not_take_the_places_of_what_is_untold(at_the_edge):
    fleet, store = at_the_edge(LIMITS["global"])
    store.stand_still()
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    store.go_on()  # newcomers and the told come to it at once
    fleet.explode({None: NEWCOMERS}, senders=4, batch=5)
    assert {identity(labels) for labels in INCUMBENTS} <= fleet.admitted()
    assert len(fleet.admitted()) <= 10


def test_places_are_kept_until_the_hour_ends_for_a_gate_that_was_killed(at_the_edge, clocks):
    fleet, _ = at_the_edge(LIMITS["global"])
    fleet.gates[2].crash()
    set_all(clocks, GRACE_OVER)
    time.sleep(2.5)  # two heartbeats
    for _ in range(2):  # nobody who was refused for their sake is remembered as refused
        assert [fleet.offer(ordinal, NEWCOMERS) for ordinal in (0, 1)] == [NEWCOMERS[:1]] * 2
    assert [fleet.offer(ordinal, INCUMBENTS) for ordinal in (0, 1)] == [INCUMBENTS] * 2
    assert len(fleet.admitted()) == 10


def test_when_all_has_been_told_what_has_not_come_back_gives_up_its_places_after_the_grace(at_the_edge, clocks):
    fleet, _ = at_the_edge(LIMITS["global"])
    assert fleet.offer(0, INCUMBENTS[:3]) == INCUMBENTS[:3]
    assert fleet.offer(1, NEWCOMERS) == NEWCOMERS[:1]
    set_all(clocks, GRACE_OVER)
    eventually(lambda: fleet.offer(1, NEWCOMERS) == NEWCOMERS[:6], "the places have lapsed", every=0.1)
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS[:3]] * GATES
    fleet.all_show(current(), 10)
