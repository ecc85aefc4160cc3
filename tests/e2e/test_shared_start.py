"""A gate that joins its fleet in the middle of an hour: what the others have admitted is known to it, and asked of nobody."""

import pytest

from bounds import OwnTime
from shared_fleets import current, share  # noqa: F401
from shared_stores import User, keep, start_store, store_kind  # noqa: F401
from store_sets import Cluster
from traffic import numbered
from waiting import eventually
from world import time

pytestmark = pytest.mark.extended

SERIES = numbered(3000)


def downloads(gate, result="complete"):
    return gate.metric("seriesgate_shared_downloads_total", result=result)


def is_ready(gate):
    return gate.get("/-/ready").status == 200


def without(*commands):
    return User(rules=(*User.rules, *(f"-{command}" for command in commands)))


def share_all(share, store):
    """Two gates: SERIES came half through each, and the second was killed."""
    fleet = share(store, "maxHourlySeries: 4000\nmaxDailySeries: 4000\n", gates=2)
    for ordinal, half in enumerate((SERIES[:1500], SERIES[1500:])):
        assert fleet.offer(ordinal, half) == half
    fleet.gates[1].crash()
    return fleet


def knows_all(fleet, ordinal):
    """Without a question; and what it does not know finds what room there is."""
    gate, newcomers = fleet.gates[ordinal], numbered(20, start=9000 + 20 * ordinal)
    assert fleet.offer(ordinal, SERIES) == SERIES
    assert gate.metric("seriesgate_shared_claims_total") == 0
    eventually(lambda: fleet.offer(ordinal, newcomers) == newcomers, "they are answered")
    assert current()(gate.stats) == len(SERIES) + 20 * ordinal


STORES = {
    "a user": lambda start: start(user=User()),
    "a user without DUMP": lambda start: start(user=without("dump")),
    "a cluster of three": lambda start: Cluster(start, 3),
}


@pytest.mark.parametrize("made", STORES.values(), ids=STORES)
def test_a_gate_that_was_killed_or_is_new_knows_all_series_when_it_is_ready(share, start_store, made):
    fleet = share_all(share, made(start_store))
    gate = fleet.restart(1)
    eventually(lambda: is_ready(gate), "it is ready")
    eventually(lambda: downloads(gate) == 1, "it is counted")  # ready as soon as it knows those of the hour
    assert (gate.metric("seriesgate_shared_downloaded_series_total"), downloads(gate, "failed")) == (len(SERIES), 0)
    knows_all(fleet, 1)
    fleet.gates.append(fleet.start(2))
    eventually(lambda: is_ready(fleet.gates[2]), "it is ready")
    knows_all(fleet, 2)


def test_a_store_that_is_away_at_the_start_keeps_nobody_waiting_and_is_read_when_it_is_back(share, start_store):
    store = start_store(kept=True)
    fleet = share_all(share, store)
    store.kill()
    began = time.monotonic()
    gate = fleet.restart(1)
    own_time = OwnTime(gate, began)
    eventually(lambda: is_ready(gate), "it is ready")
    assert own_time.seconds() < 2.5, "less than a gate waits for a store that is there"
    assert fleet.offer(1, SERIES) == []
    store.restart()
    eventually(lambda: downloads(gate) == 1, "it has read them")
    knows_all(fleet, 1)


def test_what_cannot_be_read_is_asked_about_and_read_later(share, start_store):
    user = without("dump", "sscan")
    store = start_store(user=user)
    fleet = share_all(share, store)
    gate = fleet.restart(1)
    eventually(lambda: is_ready(gate), "it is ready")
    eventually(lambda: gate.said("the fleet's series cannot be read"), "it says so")
    assert fleet.offer(1, SERIES[:100]) == SERIES[:100]
    assert gate.metric("seriesgate_shared_claimed_series_total", outcome="known") == 100
    assert store.call("ACL", "SETUSER", user.name, "+dump") == "OK"
    eventually(lambda: downloads(gate) == 1, "it has read them")
    claims = gate.metric("seriesgate_shared_claims_total")
    assert fleet.offer(1, SERIES) == SERIES
    assert gate.metric("seriesgate_shared_claims_total") == claims
