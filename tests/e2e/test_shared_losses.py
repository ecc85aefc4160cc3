"""A store that has lost counts: emptied, started anew with nothing, or replaced by a replica that lacks the last writes."""

import pytest

from shared_fleets import GATES, share  # noqa: F401
from shared_stores import User, keep, start_store, store_kind  # noqa: F401
from store_sets import SentinelSet
from test_shared_fleet import current
from traffic import numbered
from waiting import eventually

pytestmark = pytest.mark.extended

MAXIMUM = 60


class Flushed:
    """One server, which is told to forget everything."""

    def __init__(self, keep, start_store, *_):
        self.store = start_store()

    def prepare(self):
        pass

    def lose(self):
        assert self.store.call("FLUSHALL") == b"OK"


class Restarted(Flushed):
    """One server without persistence, which dies and is there again."""

    def lose(self):
        self.store.kill()
        self.store.restart()


class FailedOver(Flushed):
    """A replica that has not got what was written since prepare()."""

    def __init__(self, keep, _start_store, kind, folder):
        self.store = keep(SentinelSet(kind, folder))

    def prepare(self):
        self.store.cut_replica()

    def lose(self):
        self.store.kill_master_ahead()


LOSSES = [Flushed, Restarted, pytest.param(FailedOver, marks=[pytest.mark.slow, pytest.mark.timeout(150)])]
losses = pytest.mark.parametrize("losing", LOSSES, ids=["flushed", "restarted", "failed over"])


@pytest.fixture
def fleet_of(share, keep, start_store, store_kind, tmp_path):
    """fleet_of(losing, limits): (a fleet, what loses its counts)"""
    def start(losing, limits=f"maxHourlySeries: {MAXIMUM}\n"):
        loss = losing(keep, start_store, store_kind, tmp_path)
        return share(loss.store, limits, timeout="1s"), loss

    return start


def recoveries(fleet):
    return [gate.metric("seriesgate_shared_losses_total") for gate in fleet.gates]


def recovers(fleet, times=1):
    """Every gate has noticed, and counts on."""
    eventually(lambda: recoveries(fleet) == [times] * GATES, "every gate has noticed that counts were lost", 60, every=0.05)
    fleet.all_are("joined", 40)


def of_gates(count):
    """Series that one gate knows and no other: [of the first, of the second, ...]"""
    return [numbered(count, start=1000 * ordinal) for ordinal in range(GATES)]


def flows(fleet, known):
    """What a gate knows passes there."""
    for ordinal, series in enumerate(known):
        assert fleet.offer(ordinal, series) == series


@losses
def test_a_limit_that_was_reached_stays_reached(fleet_of, losing):
    fleet, loss = fleet_of(losing)
    loss.prepare()
    known = of_gates(MAXIMUM // GATES)
    flows(fleet, known)
    assert fleet.offer_to_all(numbered(5, start=9000)) == [[]] * GATES
    loss.lose()
    flows(fleet, known)
    fleet.explode({None: numbered(200, start=10_000)})
    flows(fleet, known)
    recovers(fleet)
    flows(fleet, known)
    fleet.explode({None: numbered(200, start=20_000)})
    assert len(fleet.admitted()) == MAXIMUM
    fleet.most_show(current(), MAXIMUM)
    fleet.accounts_for_all()


@losses
def test_the_room_that_was_left_is_filled_and_no_more(fleet_of, losing):
    fleet, loss = fleet_of(losing, f"limits: [{{name: per-job, each: [job], maxHourlySeries: {MAXIMUM}, "
                                   f"maxDailySeries: {MAXIMUM + 10}, maxGroups: 2}}]\n")
    flows(fleet, [numbered(4, job=job, start=1000 * ordinal) for ordinal in range(GATES) for job in "a"])
    loss.prepare()
    known = [numbered(10, job="b", start=1000 * ordinal) for ordinal in range(GATES)]
    flows(fleet, known)
    loss.lose()
    recovers(fleet)
    flows(fleet, known)
    for job in "ab":
        fleet.explode({None: numbered(200, job=job, start=10_000)})
        assert len([one for one in fleet.admitted() if (b"job", job.encode()) in one]) == MAXIMUM
    # Both groups had a place before: there is none for a third, which gets what the overflow budget has.
    fleet.explode({None: [series for job in "cd" for series in numbered(100, job=job)]})
    assert len(fleet.admitted()) == 3 * MAXIMUM
    fleet.accounts_for_all()


@losses
def test_a_loss_amid_an_explosion_lets_nothing_over_the_limit(fleet_of, losing):
    fleet, loss = fleet_of(losing)
    loss.prepare()
    fleet.explode({None: numbered(120)}, batch=2, meanwhile=loss.lose)
    recovers(fleet)
    fleet.explode({None: numbered(300)})
    assert 0 < len(fleet.admitted()) <= MAXIMUM
    fleet.accounts_for_all()


def test_a_gate_that_restarts_into_an_emptied_store_does_not_say_that_it_is_new(fleet_of):
    fleet, loss = fleet_of(Flushed)
    known = of_gates(MAXIMUM // GATES)
    flows(fleet, known)
    assert fleet.offer_to_all(numbered(5, start=9000)) == [[]] * GATES  # now all have heard what the last one knew first
    fleet.gates[2].stop()
    loss.lose()
    fleet.restart(2)
    fleet.all_join()
    fleet.explode({None: numbered(200, start=10_000)})
    flows(fleet, known[:2])
    # What only the gate had seen that went nobody can tell the store again; with state.dir it could itself.
    assert len(fleet.admitted()) == MAXIMUM + len(known[2])


def test_a_store_is_emptied_twice(fleet_of):
    fleet, loss = fleet_of(Flushed)
    known = of_gates(10)
    flows(fleet, known)
    for times in (1, 2):
        loss.lose()
        recovers(fleet, times)
        fleet.all_join()
    fleet.explode({None: numbered(200, start=10_000)})
    assert len(fleet.admitted()) == MAXIMUM


def test_the_log_says_that_data_was_lost_and_that_it_is_there_again(fleet_of):
    fleet, loss = fleet_of(Flushed)
    flows(fleet, of_gates(5))
    loss.lose()
    recovers(fleet)
    for gate in fleet.gates:
        whole, = eventually(lambda: gate.said("the shared store has its data again"), "it says so")  # the state is shown before
        lost, = gate.said("the shared store has lost data")
        assert (lost["level"], lost["new_series"]) == ("warn", "wait")
        assert (whole["level"], whole["gates"]) == ("info", str(GATES))
        took = float(whole["refill_seconds"])
        assert 1 < took < 6, f"{took:.2f} s"


def test_a_store_that_hides_which_server_it_is_is_not_joined(share, start_store):
    user = User(rules=("~sg:*", "+@all", "-@admin", "-@dangerous", "+role"))
    store = start_store(user=user)
    fleet = share(None, f"maxHourlySeries: {MAXIMUM}\n", gates=0)
    fleet.store = store
    gate = fleet.start(0)
    assert gate.stats["shared"]["state"] == "away"
    away, = eventually(lambda: gate.said("the shared store is away"), "it says so")
    assert away["err"].startswith("INFO: NOPERM"), away
