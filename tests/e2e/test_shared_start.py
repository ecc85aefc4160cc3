"""A gate that joins its fleet in the middle of an hour: what the others have admitted is known to it, and asked of nobody."""

import time

import pytest

from shared_fleets import share  # noqa: F401
from shared_stores import User, keep, start_store, store_kind  # noqa: F401
from store_sets import Cluster
from test_shared_clock import EDGES, clocks, comes_to, set_all, timed  # noqa: F401
from test_shared_fleet import current
from traffic import numbered
from waiting import eventually

pytestmark = pytest.mark.extended

SERIES = numbered(3000)
LIMITS = "maxHourlySeries: 4000\nmaxDailySeries: 4000\n"
FIRST, INCUMBENTS, NEWCOMERS = numbered(1, start=5000), numbered(8), numbered(20, start=9000)
DOWNLOADED = "seriesgate_shared_downloaded_series_total"


def downloads(gate, result="complete"):
    return gate.metric("seriesgate_shared_downloads_total", result=result)


def is_ready(gate):
    return gate.get("/-/ready").status == 200


def without(*commands):
    return User(rules=(*User.rules, *(f"-{command}" for command in commands)))


def admit(fleet, series=SERIES):
    """Half through each gate."""
    half = len(series) // 2
    assert fleet.offer(0, series[:half]) == series[:half]
    assert fleet.offer(1, series[half:]) == series[half:]


def knows_all(fleet, ordinal, series=SERIES):
    """Without a question; and what it does not know finds what room there is."""
    gate = fleet.gates[ordinal]
    assert gate.metric("seriesgate_shared_claims_total") == 0
    assert fleet.offer(ordinal, series) == series
    assert gate.metric("seriesgate_shared_claims_total") == 0
    eventually(lambda: fleet.offer(ordinal, NEWCOMERS) == NEWCOMERS, "they are answered")
    assert current()(gate.stats) == len(series) + len(NEWCOMERS)


@pytest.mark.parametrize("how", [{}, {"user": User()}, {"user": without("dump")}, {"at_path": True}],
                         ids=["as it comes", "a user", "a user without DUMP", "at a path"])
def test_a_gate_that_was_killed_knows_all_series_when_it_is_ready(share, start_store, how):
    fleet = share(start_store(**how), LIMITS, gates=2)
    admit(fleet)
    fleet.gates[1].crash()
    gate = fleet.restart(1)
    eventually(lambda: is_ready(gate), "it is ready")
    eventually(lambda: downloads(gate) == 1, "it is counted")  # ready as soon as it knows those of the hour
    assert (gate.metric(DOWNLOADED), downloads(gate), downloads(gate, "failed")) == (len(SERIES), 1, 0)
    fleet.all_join()
    knows_all(fleet, 1)


def test_a_gate_that_was_killed_reads_them_from_the_node_of_a_cluster_that_has_them(share, keep, store_kind, tmp_path):
    fleet = share(keep(Cluster(store_kind, tmp_path, 3)), LIMITS, gates=2)
    admit(fleet)
    fleet.gates[1].crash()
    gate = fleet.restart(1)
    eventually(lambda: is_ready(gate), "it is ready")
    assert gate.metric(DOWNLOADED) == len(SERIES)
    knows_all(fleet, 1)


def test_a_gate_that_is_new_to_the_fleet_knows_them_too(share, start_store):
    fleet = share(start_store(), LIMITS, gates=2)
    admit(fleet)
    fleet.gates.append(fleet.start(2))
    eventually(lambda: is_ready(fleet.gates[2]), "it is ready")
    knows_all(fleet, 2)


@pytest.mark.parametrize("before, begun, limits", [
    (*EDGES["an hour's"][:2], "maxHourlySeries: 10\nmaxDailySeries: 20\n"),
    (*EDGES["a day's"][:2], "maxHourlySeries: 10\n"),
], ids=EDGES)
def test_a_gate_that_was_killed_at_an_hours_edge_lets_incumbents_pass_at_once(timed, clocks, before, begun, limits):
    set_all(clocks, before)
    fleet = timed(limits, gates=2, timeout="500ms")
    assert fleet.offer(0, INCUMBENTS) == INCUMBENTS  # the other one has seen none of them
    set_all(clocks, begun)
    comes_to(fleet, begun)
    assert fleet.offer(0, FIRST) == FIRST
    fleet.gates[1].crash()
    gate = fleet.restart(1)
    eventually(lambda: is_ready(gate), "it is ready")
    assert gate.metric(DOWNLOADED) == len(INCUMBENTS + FIRST)
    fleet.store.stand_still()
    started = time.monotonic()
    assert fleet.offer(1, INCUMBENTS + FIRST) == INCUMBENTS + FIRST
    assert time.monotonic() - started < 0.5, "none has waited for it: shared.timeout"
    fleet.store.go_on()
    fleet.all_join()
    eventually(lambda: gate.metric("seriesgate_shared_told_series_total", outcome="taken") == len(INCUMBENTS), "it has told")
    assert fleet.offer(1, NEWCOMERS) == NEWCOMERS[:1]
    fleet.all_show(current(), 10)


def test_a_store_that_is_away_at_the_start_keeps_nobody_waiting_and_is_read_when_it_is_back(share, start_store):
    store = start_store(kept=True)
    fleet = share(store, LIMITS, gates=2)
    admit(fleet)
    fleet.gates[1].crash()
    store.kill()
    started = time.monotonic()
    gate = fleet.restart(1)
    eventually(lambda: is_ready(gate), "it is ready")
    assert time.monotonic() - started < 2.5, "less than a gate waits for a store that is there"
    assert fleet.offer(1, SERIES) == []
    store.restart()
    eventually(lambda: downloads(gate) == 1, "it has read them")
    knows_all(fleet, 1)


def test_what_cannot_be_read_is_asked_about_and_read_later(share, start_store):
    user = without("dump", "sscan")
    store = start_store(user=user)
    fleet = share(store, LIMITS, gates=2)
    admit(fleet)
    fleet.gates[1].crash()
    gate = fleet.restart(1)
    eventually(lambda: is_ready(gate), "it is ready")
    eventually(lambda: gate.said("the fleet's series cannot be read"), "it says so")
    assert fleet.offer(1, SERIES[:100]) == SERIES[:100]
    assert gate.metric("seriesgate_shared_claimed_series_total", outcome="known") == 100
    assert store.call("ACL", "SETUSER", user.name, "+dump") == b"OK"
    eventually(lambda: downloads(gate) == 1, "it has read them")
    claims = gate.metric("seriesgate_shared_claims_total")
    assert fleet.offer(1, SERIES) == SERIES
    assert gate.metric("seriesgate_shared_claims_total") == claims


def test_a_store_that_is_killed_as_a_gate_starts_is_read_when_it_is_back(share, start_store):
    store = start_store(kept=True)
    fleet = share(store, LIMITS, gates=2)
    admit(fleet)
    fleet.gates[1].crash()
    gate = fleet.start(1, fleet.gates[1].address[1])  # it has joined when it listens, and reads from then on
    store.kill()
    fleet.gates[1] = gate
    eventually(lambda: is_ready(gate), "it is ready")
    store.restart()
    eventually(lambda: downloads(gate) == 1, "it has read them")
    knows_all(fleet, 1)
