"""All at once: an explosion from many senders, the store killed twice, a gate killed, and an hour that ends meanwhile."""

import pytest

from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from test_shared_clock import EDGES, clocks, comes_to, set_all, timed  # noqa: F401
from test_shared_fleet import current
from traffic import identity, numbered

pytestmark = [pytest.mark.extended, pytest.mark.timeout(280)]

MAXIMUM = 100
SENDERS = 24
TEAMS, EACH = ("a", "b"), 60  # what each team may have; both together would be more than all may
LIMITS = f"maxHourlySeries: {MAXIMUM}\nlimits: [{{name: per-team, each: [team], maxHourlySeries: {EACH}}}]\n"
EXPLOSION = [series for team in TEAMS for series in numbered(25 * MAXIMUM, team=team)]
BEFORE, BEGUN, GRACE_OVER = EDGES["an hour's"]


def of_team(series, team):
    return {one for one in series if (b"team", team.encode()) in one}


def is_within_the_limits(admitted):
    assert len(admitted) <= MAXIMUM
    assert all(len(of_team(admitted, team)) <= EACH for team in TEAMS)


@pytest.mark.parametrize("kept", [True, False], ids=["with its data", "with nothing"])
def test_nothing_goes_over_and_nothing_known_is_lost(timed, clocks, kept):
    fleet = timed(LIMITS, kept=kept, timeout="1s")
    store = fleet.store

    def kill_the_store():
        store.kill()
        fleet.all_are("away")
        store.restart()
        fleet.all_join()

    def kill_and_kill():
        kill_the_store()
        fleet.gates[2].crash()
        # What only the dead gate had been told of the counts, others are told now: with that the promise has no leak.
        for ordinal in (0, 1):
            fleet.offer(ordinal, [series for team in TEAMS for series in numbered(1, start=900_000 + ordinal, team=team)])
        fleet.restart(2)
        fleet.all_join()
        kill_the_store()

    fleet.explode({None: EXPLOSION}, senders=SENDERS, batch=50, meanwhile=kill_and_kill)
    fleet.explode({None: EXPLOSION}, senders=4, batch=50, seed=2)
    first_hour = fleet.admitted()
    is_within_the_limits(first_hour)
    assert len(first_hour) == MAXIMUM
    fleet.all_show(current(), MAXIMUM)

    incumbents = [series for series in EXPLOSION if identity(series) in first_hour]
    set_all(clocks, BEGUN)
    comes_to(fleet, BEGUN)
    fleet.recorder.came.clear()
    others = numbered(10 * MAXIMUM, start=100_000, team="a")
    fleet.explode({None: others + incumbents}, senders=SENDERS, batch=50, seed=3)
    if kept:  # else no store can tell incumbents from newcomers
        assert fleet.admitted() == first_hour
        assert fleet.offer_to_all(incumbents) == [incumbents] * GATES

    set_all(clocks, GRACE_OVER)
    fleet.explode({None: others}, senders=SENDERS, batch=50, seed=4)
    is_within_the_limits(fleet.admitted())
    fleet.all_show(current(), MAXIMUM)
