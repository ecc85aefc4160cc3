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
AT_ONCE, UNTOLD = "seriesgate_shared_at_once", "seriesgate_shared_untold_series"


def accept_at_once(gates, accept=1):
    eventually(lambda: {gate.metric(AT_ONCE) for gate in gates} == {accept}, f"at_once is {accept} at all gates")


def have_told(gates):
    eventually(lambda: {gate.metric(UNTOLD) for gate in gates} == {0}, "all has been told")


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
        accept_at_once(fleet.gates)
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
    assert [gate.stats["shared"]["untold"] for gate in fleet.gates] == [8] * GATES
    assert fleet.offer(1, NEWCOMERS + INCUMBENTS) == INCUMBENTS
    store.go_on()
    fleet.all_join()
    have_told(fleet.gates)
    eventually(lambda: fleet.explode({None: NEWCOMERS}, senders=2, batch=5) or len(fleet.admitted()) == 10, "the rest has come")
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    fleet.offer_to_all(NEWCOMERS)
    assert len(fleet.admitted()) == 10
    assert fleet.offer_to_all(FIRST) == [FIRST] * GATES
    if text.startswith("maxHourlySeries"):
        fleet.most_show(current(), 10)
    else:  # of all series together a gate counts those that came through it first
        fleet.most_show(currents("hourly"), [10])
    told = [sum(gate.metric("seriesgate_shared_told_series_total", outcome=outcome) for gate in fleet.gates)
            for outcome in ("taken", "known", "refused", "too_late")]
    struck = sum(gate.metric("seriesgate_shared_struck_series_total") for gate in fleet.gates)  # another gate has told of them
    # One that another gate tells of while a claim of it is under way is both told and struck.
    assert told[0] <= 8 and told[0] + told[1] + struck >= 8 * GATES and struck <= 8 * (GATES - 1) and told[2:] == [0, 0]


def test_what_a_killed_gate_let_pass_when_a_day_began_has_its_place_in_the_day(at_the_edge, clocks):
    _, begun, grace_over = EDGES["a day's"]
    fleet, store = at_the_edge("maxHourlySeries: 10\nmaxDailySeries: 13\n", EDGES["a day's"][0], begun)
    store.stand_still()
    assert fleet.offer(2, INCUMBENTS[:3]) == INCUMBENTS[:3]
    fleet.gates[2].crash()
    store.go_on()
    others = (0, 1)
    for ordinal in others:
        eventually(lambda: fleet.gates[ordinal].metric("seriesgate_shared_up") == 1, "it has joined again")
    assert fleet.offer(0, INCUMBENTS[3:]) == INCUMBENTS[3:]
    set_all(clocks, grace_over)
    eventually(lambda: [fleet.gates[ordinal].metric(UNTOLD) for ordinal in others] == [0, 0], "all has been told")
    assert fleet.offer(1, NEWCOMERS) == NEWCOMERS[:1]  # of 10 in the hour: 1 and 5 that came, and 3 whose places are kept
    later = "2026-03-11 01:20:00"
    set_all(clocks, later)
    eventually(lambda: {fleet.gates[ordinal].stats["windows"]["hourly"]["start"] for ordinal in others}
               == {f"{later[:10]}T01:00:00Z"}, "the next hour")
    assert fleet.offer(1, NEWCOMERS[1:]) == NEWCOMERS[1:4]  # the day has 3 left
    assert fleet.offer(0, INCUMBENTS) == INCUMBENTS[3:]
    assert len(fleet.admitted()) == 13


def test_what_is_untold_when_the_store_loses_counts_comes_before_all_others(at_the_edge):
    fleet, store = at_the_edge(LIMITS["all, and the day"])
    store.stand_still()
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    store.kill()
    store.restart()
    fleet.all_join()
    have_told(fleet.gates)
    accept_at_once(fleet.gates, 0)
    eventually(lambda: fleet.explode({None: NEWCOMERS}, senders=2, batch=5) or len(fleet.admitted()) == 10, "the rest has come")
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    fleet.offer_to_all(NEWCOMERS)
    assert len(fleet.admitted()) == 10
    fleet.most_show(current(), 10)
    for gate in fleet.gates:
        assert gate.metric("seriesgate_shared_recoveries_total") == 1
        assert gate.metric("seriesgate_shared_told_series_total", outcome="refused") == 0


def test_newcomers_do_not_take_the_places_of_what_is_untold(at_the_edge):
    fleet, store = at_the_edge(LIMITS["global"])
    store.stand_still()
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    store.go_on()  # newcomers and the told come to it at once
    fleet.explode({None: NEWCOMERS}, senders=4, batch=5)
    have_told(fleet.gates)
    assert {identity(labels) for labels in INCUMBENTS} <= fleet.admitted()
    assert len(fleet.admitted()) <= 10
    for gate in fleet.gates:
        assert gate.metric("seriesgate_shared_told_series_total", outcome="refused") == 0


def test_places_are_kept_until_the_hour_ends_for_a_gate_that_was_killed(at_the_edge, clocks):
    fleet, _ = at_the_edge(LIMITS["global"])
    fleet.gates[2].crash()
    others = fleet.gates[:2]
    set_all(clocks, GRACE_OVER)
    accept_at_once(others, 0)
    for _ in range(2):  # nobody who was refused for their sake is remembered as refused
        assert [fleet.offer(ordinal, NEWCOMERS) for ordinal in (0, 1)] == [NEWCOMERS[:1]] * 2
    assert [fleet.offer(ordinal, INCUMBENTS) for ordinal in (0, 1)] == [INCUMBENTS] * 2
    assert len(fleet.admitted()) == 10


def test_when_all_has_been_told_what_has_not_come_back_gives_up_its_places_after_the_grace(at_the_edge, clocks):
    fleet, _ = at_the_edge(LIMITS["global"])
    assert fleet.offer(0, INCUMBENTS[:3]) == INCUMBENTS[:3]
    assert fleet.offer(1, NEWCOMERS) == NEWCOMERS[:1]
    set_all(clocks, GRACE_OVER)
    accept_at_once(fleet.gates, 0)
    assert fleet.offer(1, NEWCOMERS) == NEWCOMERS[:6]
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS[:3]] * GATES
    fleet.most_show(current(), 10)
