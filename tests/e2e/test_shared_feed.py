"""What one gate of a fleet has taken is known at all, and nobody is asked about a budget that is spent."""

import signal
import time

import pytest

from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from test_shared_at_once import INCUMBENTS, LIMITS, at_the_edge  # noqa: F401
from test_shared_clock import clocks, timed  # noqa: F401
from test_shared_fleet import current
from traffic import identity, numbered
from waiting import eventually

pytestmark = pytest.mark.extended

KNOWN = numbered(10)


def metrics(fleet, name, **labels):
    return [gate.metric(f"seriesgate_shared_{name}", **labels) for gate in fleet.gates]


def have_heard(fleet, counts):
    """Of so many series each gate has read that others have taken them."""
    eventually(lambda: metrics(fleet, "fed_series_total") == counts, f"fed series are {counts}", 5, every=0.02)


def claims(fleet):
    return [gate.stats["shared"]["claims"] for gate in fleet.gates]


def has_noticed_own(fleet):
    """Counts that come behind a gate's own claim are of use when this has ended in any case."""
    time.sleep(1.2)  # shared.timeout and half a second, and the pause between two readings
    eventually(lambda: metrics(fleet, "feed_up") == [1] * GATES, "all feeds are up")


def test_what_one_gate_has_taken_is_known_at_the_others_unasked_and_without_the_store(share, start_store):
    store = start_store()
    fleet = share(store, "maxHourlySeries: 10\nmaxDailySeries: 10\n")
    started = time.monotonic()
    assert fleet.offer(0, KNOWN) == KNOWN
    have_heard(fleet, [0, 10, 10])
    assert time.monotonic() - started < 2, "a second, on a busy machine"
    before = claims(fleet)
    assert fleet.offer_to_all(KNOWN) == [KNOWN] * GATES
    assert claims(fleet) == before and before[1:] == [0, 0]
    store.kill()
    assert fleet.offer_to_all(KNOWN) == [KNOWN] * GATES


@pytest.mark.parametrize("text", ["maxHourlySeries: 10\n", "tenants: {default: {maxHourlySeries: 10}}\n",
                                  "limits: [{name: per-job, each: [job], maxHourlySeries: 10}]\n"],
                         ids=["global", "tenants", "groups"])
def test_an_explosion_of_a_spent_budget_asks_nothing(share, start_store, text):
    fleet = share(start_store(), text, timeout="500ms")
    assert fleet.offer(0, KNOWN) == KNOWN
    have_heard(fleet, [0, 10, 10])
    has_noticed_own(fleet)
    before = claims(fleet)
    fleet.explode({None: numbered(500, start=1000)}, senders=3, batch=50)
    assert claims(fleet) == before and before[1:] == [0, 0]
    assert fleet.admitted() == {identity(labels) for labels in KNOWN}
    unasked = metrics(fleet, "unasked_series_total")
    for _ in range(2):  # each gate remembers whom it has refused
        assert fleet.offer_to_all(numbered(500, start=5000)) == [[]] * GATES
    assert metrics(fleet, "unasked_series_total") == [count + 500 for count in unasked]
    assert claims(fleet) == before
    assert fleet.offer_to_all(KNOWN) == [KNOWN] * GATES
    fleet.accounts_for_all()


def test_a_limit_that_is_raised_is_asked_about_again(share, start_store):
    fleet = share(start_store(), "maxHourlySeries: 10\n", timeout="500ms")
    assert fleet.offer(0, KNOWN) == KNOWN
    have_heard(fleet, [0, 10, 10])
    more = numbered(3, start=1000)
    assert fleet.offer(1, more) == []
    fleet.limits = "maxHourlySeries: 12\n"
    fleet.gates[1].reload(fleet.configuration(1))
    assert fleet.offer(1, more) == more[:2]
    eventually(lambda: fleet.offer(2, more) == more[:2], "the third gate knows them", 5)


def test_a_feed_that_was_cut_is_noticed_and_nothing_is_over_its_limit(share, start_store):
    store = start_store()
    fleet = share(store, "maxHourlySeries: 40\n", timeout="500ms")
    assert fleet.offer(0, KNOWN) == KNOWN
    have_heard(fleet, [0, 10, 10])
    feeds = [key for key in store.call("KEYS", "*") if key.endswith(b":feed")]
    assert len(feeds) == 1
    for gate in fleet.gates[1:]:
        gate.process.send_signal(signal.SIGSTOP)
    assert fleet.offer(0, numbered(10, start=100)) == numbered(10, start=100)
    assert store.call("DEL", feeds[0]) == 1
    for gate in fleet.gates[1:]:
        gate.process.send_signal(signal.SIGCONT)
    eventually(lambda: metrics(fleet, "feed_gaps_total")[1:] == [1, 1], "the gap is noticed", 10)
    eventually(lambda: metrics(fleet, "feed_up")[1:] == [1, 1], "the sets have been read once more", 20)
    assert metrics(fleet, "feed_gaps_total")[1:] == [1, 1]
    fleet.explode({None: numbered(200, start=1000)}, senders=3, batch=20)
    assert len(fleet.admitted()) == 40
    assert fleet.offer_to_all(numbered(10, start=100)) == [numbered(10, start=100)] * GATES
    fleet.most_show(current(), 40)


def test_at_an_hours_edge_each_incumbent_is_told_about_once(at_the_edge):
    fleet, _ = at_the_edge(LIMITS["global"])

    def told(outcome):
        return sum(metrics(fleet, "told_series_total", outcome=outcome))

    for turn, labels in enumerate(INCUMBENTS):
        heard = sum(metrics(fleet, "fed_series_total"))
        assert fleet.offer(turn % GATES, [labels]) == [labels]
        eventually(lambda: told("taken") == turn + 1, "it is told")
        eventually(lambda: sum(metrics(fleet, "fed_series_total")) >= heard + GATES - 1, "the others have heard of it", 10)
    before = claims(fleet)
    assert fleet.offer_to_all(INCUMBENTS) == [INCUMBENTS] * GATES
    assert claims(fleet) == before
    assert (told("taken"), told("known")) == (len(INCUMBENTS), 0)
