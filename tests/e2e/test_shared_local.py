"""While the store is away each gate has a part of the room that it has heard of: newcomers pass, and the limit holds."""

import pytest

from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from test_shared_fleet import current
from traffic import numbered
from waiting import eventually

pytestmark = pytest.mark.extended

LIMIT = 140
KNOWN = numbered(20)
PART = (LIMIT - len(KNOWN)) // GATES


def newcomers(ordinal, count=2 * PART):
    return numbered(count, start=10_000 * (ordinal + 1))


def away(fleet):
    fleet.store.kill()
    fleet.all_are("away")


@pytest.fixture
def fleet(share, start_store):
    """It knows KNOWN, and how much room there is."""
    made = share(start_store(kept=True), f"maxHourlySeries: {LIMIT}\n", timeout="1s", onUnavailable="local")
    assert made.offer_to_all(KNOWN) == [KNOWN] * GATES
    made.all_show(current(), len(KNOWN))
    return made


def test_each_gate_lets_its_part_pass_and_refuses_the_others(fleet):
    away(fleet)
    for ordinal in range(GATES):
        series = newcomers(ordinal)
        assert fleet.offer(ordinal, series) == series[:PART]
        assert fleet.offer(ordinal, series[::-1]) == series[:PART][::-1]  # the same ones, and they take nothing again
        assert fleet.offer(ordinal, KNOWN + series) == KNOWN + series[:PART]
        assert fleet.gates[ordinal].stats["shared"]["alone"] == PART
        said = eventually(lambda: fleet.gates[ordinal].said("the shared store is away"), "it says so")
        assert {event["new_series"] for event in said} == {"a part of the room"}
    fleet.store.restart()
    fleet.all_join()
    fleet.all_show(current(), LIMIT)
    # What one gate has let pass is known to all, and counted once.
    passed = [labels for ordinal in range(GATES) for labels in newcomers(ordinal)[:PART]]
    assert fleet.offer_to_all(passed) == [passed] * GATES
    assert fleet.offer(0, newcomers(7)) == []
    fleet.accounts_for_all()


def test_an_explosion_amid_an_outage_stays_within_the_limit(fleet):
    def fails_and_comes_back():
        away(fleet)
        for ordinal in range(GATES):
            fleet.offer(ordinal, newcomers(ordinal))
        fleet.store.restart()

    fleet.explode({None: numbered(400, start=100_000)}, senders=3, batch=10, meanwhile=fails_and_comes_back)
    fleet.all_join()
    fleet.offer_to_all(numbered(400, start=100_000))
    assert LIMIT == len(fleet.admitted())
    fleet.all_show(current(), LIMIT)


def test_a_gate_that_starts_without_the_store_has_no_room(fleet):
    away(fleet)
    assert len(fleet.offer(2, newcomers(2))) == PART
    fleet.gates[2].stop()
    fleet.restart(2)
    assert fleet.offer(2, newcomers(2)) == []
    assert fleet.offer(1, newcomers(1)) == newcomers(1)[:PART]


def test_of_a_group_that_was_never_heard_of_nothing_passes(share, start_store):
    fleet = share(start_store(), "maxHourlySeries: 100\nlimits: [{name: jobs, each: [job], maxHourlySeries: 30}]\n",
                  timeout="1s", onUnavailable="local")
    assert len(fleet.offer(0, numbered(1, job="a"))) == 1
    away(fleet)
    assert len(fleet.offer(0, numbered(25, start=1, job="a"))) == 29 // GATES
    assert fleet.offer(0, numbered(7, job="b")) == []
