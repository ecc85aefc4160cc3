"""The end of an hour for gates that share: the store's clock decides, and incumbents lose nothing, wherever they return."""

import pytest

from faked_clock import FakedClock
from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from test_shared_fleet import current, currents
from traffic import identity, numbered
from waiting import eventually

pytestmark = pytest.mark.extended

LIMITS = {
    "global": "maxHourlySeries: 10\n",
    "tenant": "tenants: {default: {maxHourlySeries: 10}}\n",
    "group": "limits: [{name: per-job, each: [job], maxHourlySeries: 10}]\n",
    "all, and the day": "maxHourlySeries: 10\nmaxDailySeries: 100\ntenants: {default: {maxHourlySeries: 10}}\n"
                        "limits: [{name: per-job, each: [job], maxHourlySeries: 10}]\n",
}
INCUMBENTS, NEWCOMERS = numbered(8, job="a"), numbered(50, start=1000, job="a")
EDGES = {"an hour's": ("2026-03-10 12:59:00", "2026-03-10 13:00:00", "2026-03-10 13:10:00"),
         "a day's": ("2026-03-10 23:59:00", "2026-03-11 00:00:00", "2026-03-11 00:10:00")}
edges = pytest.mark.parametrize("before, begun, grace_over", EDGES.values(), ids=EDGES)


@pytest.fixture
def clocks(tmp_path):
    """A clock of each gate's own, and the store's, all at one time."""
    made = []
    for name in ("store's", *range(GATES)):
        (tmp_path / f"clock-{name}").mkdir()
        made.append(FakedClock(tmp_path / f"clock-{name}", EDGES["an hour's"][0], runs=True))
    return made


@pytest.fixture
def timed(share, start_store, clocks):
    """timed(limits, kept, **shared): a fleet whose clocks, and its store's, are `clocks`. `kept`: as SharedStore."""
    fleets = []

    def start(limits, kept=False, **shared):
        store = start_store(clock=clocks[0], kept=kept)
        fleets.append(share(store, limits, environments=[clock.environment for clock in clocks[1:]], **shared))
        return fleets[-1]

    yield start
    for fleet in fleets:
        for gate in fleet.gates:
            gate.stop()


def set_all(clocks, now):
    for clock in clocks:
        clock.set(now)


def comes_to(fleet, now):
    hour = f"{now[:10]}T{now[11:13]}:00:00Z"
    eventually(lambda: {gate.stats["windows"]["hourly"]["start"] for gate in fleet.gates} == {hour}, f"windows begin at {hour}")


def settle_at_different_gates(fleet, series):
    """Each comes to one gate only."""
    for turn, labels in enumerate(series):
        assert fleet.offer(turn % GATES, [labels]) == [labels]


@pytest.mark.parametrize("text", LIMITS.values(), ids=LIMITS)
@edges
def test_an_explosion_at_the_edge_takes_no_incumbents_place(timed, clocks, text, before, begun, grace_over):
    set_all(clocks, before)
    fleet = timed(text)
    settle_at_different_gates(fleet, INCUMBENTS)
    set_all(clocks, begun)
    comes_to(fleet, begun)
    fleet.recorder.came.clear()
    fleet.explode({None: NEWCOMERS}, senders=2, batch=5)
    assert len(fleet.admitted()) == 2
    for turn, labels in enumerate(INCUMBENTS[:5]):  # they come back through another gate than they came in by
        assert fleet.offer((turn + 1) % GATES, [labels]) == [labels]
    assert len(fleet.admitted()) == 7
    set_all(clocks, grace_over)

    def spent():
        fleet.explode({None: NEWCOMERS}, senders=2, batch=5)
        return len(fleet.admitted()) >= 10

    eventually(spent, "the gates have heard that it is over", every=0.1)
    assert len(fleet.admitted()) == 10
    for ordinal in range(GATES):  # who has not come back by now is a newcomer like others
        assert fleet.offer(ordinal, INCUMBENTS) == INCUMBENTS[:5]
    if text.startswith("maxHourlySeries"):
        fleet.most_show(current(), 10)
    else:  # of all series together a gate counts those that it has seen
        fleet.most_show(currents("hourly"), [10])


def test_incumbents_come_back_wherever_they_like(timed, clocks):
    fleet = timed(LIMITS["global"])
    settle_at_different_gates(fleet, INCUMBENTS)
    set_all(clocks, "2026-03-10 13:00:00")
    comes_to(fleet, "2026-03-10 13:00:00")
    assert fleet.offer(1, NEWCOMERS + INCUMBENTS) == NEWCOMERS[:2] + INCUMBENTS
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    fleet.most_show(current(), 10)


def test_in_the_hour_after_the_next_they_are_newcomers(timed, clocks):
    fleet = timed(LIMITS["global"])
    settle_at_different_gates(fleet, INCUMBENTS)
    for now in ("2026-03-10 13:30:00", "2026-03-10 14:00:00"):
        set_all(clocks, now)
        comes_to(fleet, now)
    assert fleet.offer(0, NEWCOMERS + INCUMBENTS) == NEWCOMERS[:10]


@pytest.mark.parametrize("its_own", ["2026-03-10 12:58:00", "2026-03-10 12:59:58", "2026-03-10 13:02:00"])
def test_a_gate_with_another_time_counts_in_the_stores_hour(timed, clocks, its_own):
    fleet = timed(LIMITS["global"])
    settle_at_different_gates(fleet, INCUMBENTS)
    set_all(clocks[:3], "2026-03-10 13:00:30")
    clocks[3].set(its_own)
    fleet.recorder.came.clear()
    for _ in range(3):  # whoever waits for the others to begin the hour is patient
        fleet.explode({None: NEWCOMERS}, senders=2, batch=5)
    assert len(fleet.admitted()) == 2
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    assert len(fleet.admitted() | {identity(labels) for labels in INCUMBENTS}) == 10
    fleet.most_show(current(), 10)
