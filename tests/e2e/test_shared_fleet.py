"""Gates that share their limits through one store: together they are as exact as one gate alone."""

import pytest

import balancers
from certificates import Authority
from shared_fleets import GATES, current, currents, metrics, share  # noqa: F401
from shared_stores import User, keep, start_store, store_kind  # noqa: F401
from store_sets import Cluster, SentinelSet
from traffic import figures, histogram, identity, numbered
from waiting import eventually
from world import time

pytestmark = pytest.mark.extended

MAXIMUM = 40
JOBS = ("a", "b", "c")
KNOWN = numbered(10)


def of_jobs(*jobs):
    return [series for job in jobs for series in numbered(3 * MAXIMUM, job=job)]


# What is configured, what is offered, and the budgets: (tenant, job) each, None for any. In each MAXIMUM find room.
ONE = "maxHourlySeries: 40\nmaxDailySeries: 40\n", {None: numbered(3 * MAXIMUM)}, [(None, None)]
TENANTS = ("tenants: {default: {maxHourlySeries: 40}}\n", {"shop": numbered(3 * MAXIMUM), "data": numbered(4 * MAXIMUM)},
           [("shop", None), ("data", None)])
GROUPS = "limits: [{name: per-job, each: [job], maxDailySeries: 40}]\n", {None: of_jobs(*JOBS)}, [(None, job) for job in JOBS]
GROUPS_OF_TENANTS = ("limits: [{name: per-job, each: [job], perTenant: true, maxHourlySeries: 40}]\n",
                     {tenant: of_jobs("a", "b") for tenant in ("shop", "data")},
                     [(tenant, job) for tenant in ("shop", "data") for job in ("a", "b")])
STORES = {
    "as it comes": (lambda start, folder: start(), TENANTS),
    "at a path": (lambda start, folder: start(at_path=True), GROUPS_OF_TENANTS),
    "users and TLS": (lambda start, folder: start(user=User(), authority=Authority(folder)), GROUPS),
    "a cluster of three": (lambda start, folder: Cluster(start, 3), ONE),
    "Sentinels": (lambda start, folder: SentinelSet(start), ONE),
}


def admitted_of(fleet, tenant, job):
    return [series for series in fleet.admitted(tenant) if job is None or (b"job", job.encode()) in series]


@pytest.mark.timeout(150)
@pytest.mark.parametrize("made, case", [pytest.param(*row, id=name, marks=pytest.mark.slow if name == "Sentinels" else ())
                                        for name, row in STORES.items()])
def test_together_they_are_exact_whatever_the_store_is(share, start_store, tmp_path, made, case):
    text, offers, budgets = case
    store = made(start_store, tmp_path)
    fleet = share(store, text)
    fleet.explode(offers)
    assert [len(admitted_of(fleet, *budget)) for budget in budgets] == [MAXIMUM] * len(budgets)
    for tenant, series in offers.items():  # whoever was refused by a store that had no time for it has another chance
        before = fleet.admitted(tenant)
        for came in fleet.offer_to_all(series, tenant):
            assert {identity(labels) for labels in came} == before
    assert [len(admitted_of(fleet, *budget)) for budget in budgets] == [MAXIMUM] * len(budgets)
    fleet.accounts_for_all()
    if case is ONE:
        fleet.most_show(current(), MAXIMUM)
        fleet.most_show(current("daily"), MAXIMUM)
    else:  # what no limit counts a gate counts by itself: those that came through it first
        fleet.most_show(currents("daily" if case is GROUPS else "hourly"), [MAXIMUM] * len(budgets))
    if isinstance(store, Cluster):
        assert len(store.owners) == 1
    if isinstance(store, SentinelSet):  # in a failover no place is lost, or spent twice
        store.kill_master()
        assert fleet.offer_to_all(numbered(5, start=9000)) == [[]] * GATES
        fleet.all_are("joined", 40)
        assert [{identity(labels) for labels in came} for came in fleet.offer_to_all(offers[None])] == [fleet.admitted()] * GATES
        assert len(fleet.admitted()) == MAXIMUM


def have_heard(fleet, counts):
    """Of so many series each gate has read that others have taken them."""
    eventually(lambda: metrics(fleet, "fed_series_total") == counts, f"fed series are {counts}", every=0.02)


def claims(fleet):
    return [gate.stats["shared"]["claims"] for gate in fleet.gates]


def test_what_one_gate_has_taken_is_known_at_the_others_unasked_and_without_the_store(share, start_store):
    store = start_store()
    fleet = share(store, "maxHourlySeries: 10\nmaxDailySeries: 10\n")
    assert fleet.offer(0, KNOWN) == KNOWN
    have_heard(fleet, [0, 10, 10])
    before = claims(fleet)
    assert fleet.offer_to_all(KNOWN) == [KNOWN] * GATES
    assert claims(fleet) == before and before[1:] == [0, 0]
    assert fleet.offer_to_all(KNOWN + numbered(5, start=100)) == [KNOWN] * GATES
    fleet.most_show(current("daily"), 10)
    store.kill()
    assert fleet.offer_to_all(KNOWN) == [KNOWN] * GATES


def test_nobody_is_asked_about_a_limit_that_is_spent_until_it_is_raised(share, start_store):
    fleet = share(start_store(), "maxHourlySeries: 10\n", timeout="500ms")
    assert fleet.offer(0, KNOWN) == KNOWN
    have_heard(fleet, [0, 10, 10])
    time.sleep(1.2)  # what comes behind a gate's own claim is of use after shared.timeout and half a second
    eventually(lambda: metrics(fleet, "feed_up") == [1] * GATES, "all feeds are up")
    before, unasked = claims(fleet), metrics(fleet, "unasked_series_total")
    more = numbered(500, start=1000)
    for _ in range(2):  # each gate remembers whom it has refused
        assert fleet.offer_to_all(more) == [[]] * GATES
    assert metrics(fleet, "unasked_series_total") == [count + 500 for count in unasked]
    assert claims(fleet) == before and before[1:] == [0, 0]
    fleet.accounts_for_all()
    fleet.limits = "maxHourlySeries: 12\n"
    fleet.gates[1].reload(fleet.configuration(1))
    assert fleet.offer(1, more) == more[:2]
    eventually(lambda: fleet.offer(2, more) == more[:2], "the third gate knows them")


def over_limit(fleet, window="hourly"):
    """By gate: series that it has asked for although there was no room."""
    shown = [gate.stats["windows"][window]["overLimitSeries"] for gate in fleet.gates]
    assert shown == [gate.metric("seriesgate_series_over_limit", window=window) for gate in fleet.gates]
    return shown


def test_a_gate_completes_the_histogram_that_it_has_begun_and_no_other(share, start_store):
    fleet = share(start_store(), "wholeHistograms: true\nmaxHourlySeries: 100\nmaxDailySeries: 98\n", gates=2)
    assert len(fleet.offer(0, numbered(97))) == 97
    first, second = histogram(pod="a"), histogram(pod="b")
    assert fleet.offer(0, first[3:5]) == first[3:5]  # the second of them has no room in the day
    have_heard(fleet, [0, 99])
    assert fleet.offer(1, second + first) == first[3:5]
    assert fleet.offer(0, [*numbered(5, start=500), *first[:8]]) == first[:8]
    assert fleet.offer(0, first) == first
    have_heard(fleet, [0, 109])
    assert fleet.offer(1, first) == first
    fleet.all_show(lambda stats: (figures(stats["windows"])[1], figures(stats["windows"], "daily")[1]), (109, 109))
    assert over_limit(fleet) == [9, 0]
    assert over_limit(fleet, "daily") == [11, 0]
    fleet.accounts_for_all()


def test_fleets_of_different_namespaces_do_not_see_each_other(share, start_store):
    store = start_store()
    ours, theirs = share(store, "maxHourlySeries: 10\n", gates=2), share(store, "maxHourlySeries: 10\n", gates=2,
                                                                        namespace="theirs")
    for fleet, first in ((ours, 0), (theirs, 1000)):
        fleet.offer_to_all(numbered(15, start=first))
        assert fleet.admitted() == {identity(labels) for labels in numbered(10, start=first)}
        fleet.most_show(current(), 10)


def test_a_gate_that_would_count_otherwise_does_not_join(share, start_store):
    fleet = share(start_store(), "maxHourlySeries: 10\n", gates=2)
    assert fleet.offer(0, KNOWN) == KNOWN
    for changes in ({"secret": bytes(32)}, {"further": "ignoreLabels: [replica]\n"}):
        status, said = fleet.refused_to_join(**changes)
        assert status == 2, said
        assert all(text in said for text in ("cannot join", "fingerprint.secretFile", "ignoreLabels")), said
    assert fleet.offer(1, KNOWN + numbered(3, start=100)) == KNOWN
    assert fleet.states() == ["joined"] * 2


# --- behind a balancer

def send_round(balancer, fleet, series, tenant):
    """One by one, on one connection."""
    with balancer.client() as client:
        for labels in series:
            fleet.offer(None, [labels], tenant, client)


def received(fleet, *ordinals):
    return [fleet.gates[ordinal].stats["samples"]["received"] for ordinal in ordinals]


def test_behind_haproxy_requests_of_one_connection_go_round_all_gates_that_are_left(share, start_store, keep, tmp_path):
    fleet = share(start_store(), TENANTS[0])
    ports = [gate.address[1] for gate in fleet.gates]
    balancer = keep(balancers.Balancer("haproxy", ports, tmp_path, name="haproxy-shared.cfg"))
    for tenant in ("shop", "data"):
        send_round(balancer, fleet, numbered(3 * MAXIMUM), tenant)
        assert fleet.admitted(tenant) == {identity(labels) for labels in numbered(MAXIMUM)}
    assert received(fleet, 0, 1, 2) == [2 * MAXIMUM] * GATES
    fleet.most_show(currents("hourly"), [MAXIMUM] * 2)
    fleet.gates[1].stop()
    with balancer.client() as client:
        assert client.get("/-/ready").status == 200
    before = received(fleet, 0, 2)
    send_round(balancer, fleet, numbered(120), "shop")  # none of them is lost
    went = [after - count for after, count in zip(received(fleet, 0, 2), before)]
    assert sum(went) == 120 and min(went) >= 40
