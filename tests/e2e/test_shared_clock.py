"""The end of an hour for gates that share: the store's clock decides, and incumbents keep their places, wherever they return."""

import pytest

from bounds import OwnTime
from promised_fleets import later, promised  # noqa: F401
from shared_fleets import GATES, current, currents, metrics, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from traffic import identity, numbered
from waiting import eventually
from world import time

pytestmark = pytest.mark.extended

ONE = "maxHourlySeries: 10\n"
ALL = f"{ONE}maxDailySeries: 100\ntenants: {{default: {{maxHourlySeries: 10}}}}\n" \
      "limits: [{name: per-job, each: [job], maxHourlySeries: 10}]\n"
INCUMBENTS, NEWCOMERS = numbered(8, job="a"), numbered(50, start=1000, job="a")
FIRST = numbered(1, start=5000, job="a")
BEFORE, BEGUN = "2026-03-10 12:59:00", "2026-03-10 13:00:00"


def settle_at_different_gates(fleet):
    """Each incumbent comes to one gate only."""
    for turn, labels in enumerate(INCUMBENTS):
        assert fleet.offer(turn % GATES, [labels]) == [labels]


def test_an_explosion_at_the_edge_of_a_day_takes_no_incumbents_place(promised):
    timed = promised(ALL, "2026-03-10 23:59:00", timeout="10s")
    fleet = timed.fleet
    settle_at_different_gates(fleet)
    timed.begin("2026-03-11 00:00:00")
    fleet.explode({None: NEWCOMERS}, senders=2, batch=5)
    assert len(fleet.admitted()) == 2
    for turn, labels in enumerate(INCUMBENTS[:5]):  # they come back through another gate than they came in by
        assert fleet.offer((turn + 1) % GATES, [labels]) == [labels]
    assert len(fleet.admitted()) == 7
    timed.set("2026-03-11 00:10:00")

    def spent():
        fleet.explode({None: NEWCOMERS}, senders=2, batch=5)
        return len(fleet.admitted()) >= 10

    eventually(spent, "the gates have heard that it is over", every=0.1)
    assert len(fleet.admitted()) == 10
    for ordinal in range(GATES):  # who has not come back by now is a newcomer like others
        assert fleet.offer(ordinal, INCUMBENTS) == INCUMBENTS[:5]
    fleet.most_show(currents("hourly"), [10])  # of all series together a gate counts those that it has seen


@pytest.mark.parametrize("its_own, behind", [
    ("2026-03-10 12:58:00", 150), ("2026-03-10 12:59:58", 32), ("2026-03-10 13:02:00", -90)])
def test_a_gate_with_another_time_counts_in_the_stores_hour_and_shows_how_far_it_is_off(promised, its_own, behind):
    timed = promised(ONE, BEFORE, timeout="10s")
    fleet = timed.fleet
    settle_at_different_gates(fleet)
    timed.set("2026-03-10 13:00:30")
    timed.clocks_of_gates[2].set(its_own)
    fleet.recorder.came.clear()
    for _ in range(3):  # whoever waits for the others to begin the hour is patient
        fleet.explode({None: NEWCOMERS}, senders=2, batch=5)
    assert len(fleet.admitted()) == 2
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    assert len(fleet.admitted() | {identity(labels) for labels in INCUMBENTS}) == 10
    fleet.most_show(current(), 10)
    eventually(lambda: all(abs(offset - off) < 10 for offset, off in
                           zip(metrics(fleet, "clock_offset_seconds"), (0, 0, behind))), "they show it")


def test_places_are_kept_beyond_the_grace_for_a_gate_that_was_killed(promised):
    timed = promised(ONE, BEFORE, timeout="2s")
    fleet = timed.fleet
    eventually(lambda: fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES, "all gates know all")
    timed.begin(BEGUN)
    eventually(lambda: fleet.offer(0, FIRST) == FIRST, "the hour is open")
    fleet.gates[2].crash()
    timed.set(later(BEGUN, minutes=10))
    time.sleep(2.5)  # two heartbeats
    for _ in range(2):  # nobody who was refused for their sake is remembered as refused
        assert [fleet.offer(ordinal, NEWCOMERS) for ordinal in (0, 1)] == [NEWCOMERS[:1]] * 2
    assert [fleet.offer(ordinal, INCUMBENTS) for ordinal in (0, 1)] == [INCUMBENTS] * 2
    assert len(fleet.admitted()) == 10


def test_a_gate_that_was_killed_at_an_edge_lets_incumbents_pass_at_once(promised):
    timed = promised(f"{ONE}maxDailySeries: 20\n", BEFORE, gates=2, timeout="500ms")
    fleet = timed.fleet
    assert fleet.offer(0, INCUMBENTS) == INCUMBENTS  # the other one has seen none of them
    timed.begin(BEGUN)
    assert fleet.offer(0, FIRST) == FIRST
    fleet.gates[1].crash()
    gate = fleet.restart(1)
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    assert gate.metric("seriesgate_shared_downloaded_series_total") == len(INCUMBENTS + FIRST)
    fleet.store.stand_still()
    own_time = OwnTime(gate)
    assert fleet.offer(1, INCUMBENTS + FIRST) == INCUMBENTS + FIRST
    assert own_time.seconds() < 0.5, "none has waited for it: shared.timeout"
    fleet.store.go_on()
    fleet.all_join()
    eventually(lambda: gate.metric("seriesgate_shared_told_series_total", outcome="taken") == len(INCUMBENTS), "it has told")
    assert fleet.offer(1, NEWCOMERS) == NEWCOMERS[:1]
    fleet.all_show(current(), 10)
