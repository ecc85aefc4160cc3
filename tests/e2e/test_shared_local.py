"""While the store is away each gate has a share of what is held back of a limit: newcomers pass, and the limit holds."""

import pytest

from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from test_shared_fleet import current
from traffic import numbered
from waiting import eventually

pytestmark = pytest.mark.extended

LIMIT, HELD_BACK, SHARE = 3200, 160, 10  # with a reserve of 5 %, and sixteen shares
OWED = "seriesgate_shared_owed_series"
SHARES = "seriesgate_shared_has_share"


def newcomers(ordinal, count=25):
    return numbered(count, start=10_000 * (ordinal + 1))


def all_told(fleet, taken):
    """Of what the gates owed the store has taken so many, and nothing is owed any more."""
    def told():
        return sum(gate.metric("seriesgate_shared_owed_told_series_total", outcome="taken") for gate in fleet.gates)

    eventually(lambda: sum(gate.metric(OWED) for gate in fleet.gates) == 0 and told() == taken, "all is told", 20, every=0.05)


def away(fleet, store):
    store.kill()
    fleet.all_are("away")


@pytest.fixture
def sharing(share, start_store):
    """sharing(known): (a fleet that knows so many series, and has its shares; its store; those series)"""
    def start(known, limit=f"maxHourlySeries: {LIMIT}\n", **shared):
        store = start_store(kept=True)
        fleet = share(store, limit, **{"timeout": "1s", "onUnavailable": "local", "reserve": "5%", **shared})
        series = numbered(known)
        for at in range(0, known, 500):
            fleet.offer_to_all(series[at:at + 500])
        eventually(lambda: [gate.metric(SHARES) for gate in fleet.gates] == [1] * GATES, "all have a share", 10, every=0.05)
        return fleet, store, series

    return start


def test_each_gate_lets_its_share_pass_and_refuses_the_others(sharing):
    fleet, store, known = sharing(20)
    away(fleet, store)
    for ordinal in range(GATES):
        series = newcomers(ordinal)
        assert fleet.offer(ordinal, series) == series[:SHARE]
        assert fleet.offer(ordinal, series[::-1]) == series[:SHARE][::-1]  # the same ones, and they take nothing again
        assert fleet.offer(ordinal, known + series) == known + series[:SHARE]
        assert fleet.gates[ordinal].stats["shared"]["owed"] == SHARE
        said = eventually(lambda: fleet.gates[ordinal].said("the shared store is away"), "it says so")
        assert {event["new_series"] for event in said} == {"a share"}
    store.restart()
    fleet.all_join()
    all_told(fleet, GATES * SHARE)
    # What one gate has let pass is known to all, and counted once.
    passed = [labels for ordinal in range(GATES) for labels in newcomers(ordinal)[:SHARE]]
    assert fleet.offer_to_all(passed) == [passed] * GATES
    fleet.most_show(current(), 20 + GATES * SHARE)
    fleet.accounts_for_all()


def test_a_limit_that_is_spent_up_to_the_shares_still_has_these(sharing):
    fleet, store, known = sharing(LIMIT)
    assert len(fleet.admitted()) == LIMIT - HELD_BACK
    fleet.most_show(current(), LIMIT - HELD_BACK)
    away(fleet, store)
    for ordinal in range(GATES):
        assert len(fleet.offer(ordinal, newcomers(ordinal))) == SHARE
    store.restart()
    fleet.all_join()
    all_told(fleet, GATES * SHARE)
    assert fleet.offer(0, newcomers(7)) == []
    assert len(fleet.admitted()) == LIMIT - HELD_BACK + GATES * SHARE
    for ordinal in range(GATES):
        passed = newcomers(ordinal)[:SHARE]
        eventually(lambda: fleet.offer_to_all(newcomers(ordinal)) == [passed] * GATES, "all gates have heard of them", 5)
    fleet.most_show(current(), LIMIT - HELD_BACK + GATES * SHARE)


def test_an_explosion_amid_an_outage_stays_within_the_limit(sharing):
    fleet, store, known = sharing(1000)

    def fails_and_comes_back():
        away(fleet, store)
        for ordinal in range(GATES):
            fleet.offer(ordinal, newcomers(ordinal))
        store.restart()

    fleet.explode({None: numbered(4000, start=100_000)}, senders=3, batch=100, meanwhile=fails_and_comes_back)
    fleet.all_join()
    eventually(lambda: sum(gate.metric(OWED) for gate in fleet.gates) == 0, "all is told", 20, every=0.05)
    fleet.offer_to_all(numbered(4000, start=100_000))
    assert LIMIT - HELD_BACK <= len(fleet.admitted()) <= LIMIT - HELD_BACK + GATES * SHARE
    fleet.most_show(current(), len(fleet.admitted()))


def test_a_gate_that_starts_without_the_store_has_no_share(sharing):
    fleet, store, known = sharing(20)
    away(fleet, store)
    assert len(fleet.offer(2, newcomers(2))) == SHARE
    fleet.gates[2].stop()
    fleet.restart(2)
    assert fleet.offer(2, newcomers(2)) == []
    assert fleet.offer(1, newcomers(1)) == newcomers(1)[:SHARE]


def test_limits_too_small_for_a_share_have_none_and_are_claimed_to_the_end(sharing):
    fleet, store, known = sharing(400, limit="maxHourlySeries: 319\n")
    assert len(fleet.admitted()) == 319
    away(fleet, store)
    assert fleet.offer(0, newcomers(0)) == []


def test_gates_that_refuse_hold_nothing_back(share, start_store):
    fleet = share(start_store(), f"maxHourlySeries: {LIMIT}\n", onUnavailable="refuse")
    for at in range(0, LIMIT + 100, 500):
        fleet.offer(at // 500 % GATES, numbered(LIMIT + 100)[at:at + 500])
    assert len(fleet.admitted()) == LIMIT
    assert [gate.metric(SHARES) for gate in fleet.gates] == [0] * GATES


def test_a_group_that_may_have_to_share_takes_from_both_budgets(sharing):
    """A group that the store has counted has its own share; the others have one together, as if they all shared."""
    limit = f"maxHourlySeries: 100000\nlimits: [{{name: jobs, each: [job], maxHourlySeries: {LIMIT}}}]\n"
    fleet, store, known = sharing(1, limit=limit)
    fleet.offer(0, numbered(1, job="a"))
    away(fleet, store)
    assert len(fleet.offer(0, numbered(25, start=1, job="a"))) == SHARE
    assert len(fleet.offer(0, numbered(7, job="b"))) == 7
    assert len(fleet.offer(0, numbered(7, job="c"))) == SHARE - 7
