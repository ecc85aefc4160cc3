"""Gates that share their limits through one store: together they are as exact as one gate alone."""

import pytest

import balancers
from certificates import Authority
from shared_fleets import GATES, share  # noqa: F401
from shared_stores import User, keep, start_store, store_kind  # noqa: F401
from store_sets import Cluster, SentinelSet
from traffic import figures, identity, limits, numbered, tenants

pytestmark = pytest.mark.extended

MAXIMUM = 40
JOBS = ("a", "b", "c")


def current(window="hourly"):
    return lambda stats: stats["windows"][window]["currentSeries"]


def of_job(job, count=3 * MAXIMUM, **labels):
    return numbered(count, job=job, **labels)


# What is configured, what is offered, and the budgets: (tenant, job) each, None for any. In each MAXIMUM find room.
CASES = {
    "global": ("max{}Series: 40\n", {None: numbered(3 * MAXIMUM)}, [(None, None)]),
    "tenants": ("tenants: {{default: {{max{}Series: 40}}}}\n", {"shop": numbered(3 * MAXIMUM), "data": numbered(4 * MAXIMUM)},
                [("shop", None), ("data", None)]),
    "groups": ("limits: [{{name: per-job, each: [job], max{}Series: 40}}]\n",
               {None: [series for job in JOBS for series in of_job(job)]}, [(None, job) for job in JOBS]),
    "groups of tenants": ("limits: [{{name: per-job, each: [job], perTenant: true, max{}Series: 40}}]\n",
                          {tenant: of_job("a") + of_job("b") for tenant in ("shop", "data")},
                          [(tenant, job) for tenant in ("shop", "data") for job in ("a", "b")]),
}
cases = pytest.mark.parametrize("text, offers, budgets", CASES.values(), ids=CASES)
windows = pytest.mark.parametrize("window", ["Hourly", "Daily"])


def admitted_of(fleet, tenant, job):
    return [series for series in fleet.admitted(tenant) if job is None or (b"job", job.encode()) in series]


def currents(window):
    """Of the budgets of /stats: those of the limits if there are any, else the tenants'."""
    return lambda stats: sorted(figures(budget, window)[1] for budget in (limits(stats) or tenants(stats)).values())


def explodes_and_stays_within_the_limit(fleet, offers, budgets):
    fleet.explode(offers)
    assert [len(admitted_of(fleet, *budget)) for budget in budgets] == [MAXIMUM] * len(budgets)
    for tenant, series in offers.items():  # whoever was refused by a store that had no time for it has another chance
        before = fleet.admitted(tenant)
        for came in fleet.offer_to_all(series, tenant):
            assert {identity(labels) for labels in came} == before
    assert [len(admitted_of(fleet, *budget)) for budget in budgets] == [MAXIMUM] * len(budgets)
    fleet.accounts_for_all()


# --- without a store, so that one sees what it is that makes the difference

@cases
@windows
def test_one_gate_alone_is_exact(share, text, offers, budgets, window):
    fleet = share(None, text.format(window), gates=1)
    explodes_and_stays_within_the_limit(fleet, offers, budgets)


def test_without_a_store_the_limits_of_gates_add_up(share):
    fleet = share(None, "maxHourlySeries: 40\n")
    fleet.explode({None: numbered(20 * MAXIMUM)})
    assert MAXIMUM < len(fleet.admitted()) <= GATES * MAXIMUM
    fleet.most_show(current(), MAXIMUM)


# --- with one

@cases
@windows
def test_together_they_are_exact(share, start_store, text, offers, budgets, window):
    fleet = share(start_store(), text.format(window))
    explodes_and_stays_within_the_limit(fleet, offers, budgets)
    if budgets == CASES["global"][-1]:
        fleet.most_show(current(), MAXIMUM)
    else:  # what no limit counts a gate counts by itself: those that came through it first
        fleet.most_show(currents(window.lower()), [MAXIMUM] * len(budgets))


STORES = {
    "at a path": lambda start, keep, kind, folder: start(at_path=True),
    "users and TLS": lambda start, keep, kind, folder: start(user=User(), authority=Authority(folder)),
    "a cluster of one": lambda start, keep, kind, folder: keep(Cluster(kind, folder, 1)),
    "a cluster of three": lambda start, keep, kind, folder: keep(Cluster(kind, folder, 3)),
    "Sentinels": lambda start, keep, kind, folder: keep(SentinelSet(kind, folder)),
}


@pytest.mark.parametrize("made", [pytest.param(made, marks=pytest.mark.slow if name == "Sentinels" else ()) for name, made
                                  in STORES.items()], ids=STORES)
def test_together_they_are_exact_whatever_the_store_is(share, start_store, keep, store_kind, tmp_path, made):
    store = made(start_store, keep, store_kind, tmp_path)
    fleet = share(store, "maxHourlySeries: 40\nmaxDailySeries: 40\n")
    explodes_and_stays_within_the_limit(fleet, {None: numbered(3 * MAXIMUM)}, [(None, None)])
    fleet.most_show(current(), MAXIMUM)
    fleet.most_show(current("daily"), MAXIMUM)
    if isinstance(store, Cluster):
        assert len(store.owners) == 1


def test_what_one_gate_admitted_is_known_at_the_others_and_counted_once(share, start_store):
    fleet = share(start_store(), "maxHourlySeries: 10\nmaxDailySeries: 10\n")
    known = numbered(10)
    assert fleet.offer(0, known) == known
    for ordinal in (1, 2):
        assert fleet.offer(ordinal, known + numbered(5, start=100)) == known
        told = fleet.gates[ordinal].stats["shared"]
        assert told["known"] in (0, 10) and told["taken"] == 0  # it may have heard of them unasked
    fleet.most_show(current("daily"), 10)
    claims = [gate.stats["shared"]["claims"] for gate in fleet.gates]
    assert fleet.offer_to_all(known) == [known] * GATES
    assert [gate.stats["shared"]["claims"] for gate in fleet.gates] == claims  # nobody had to ask again


def test_gates_know_one_another(share, start_store):
    fleet = share(start_store(), "maxHourlySeries: 10\n")
    fleet.all_show(lambda stats: len({each["name"] for each in stats["shared"]["gates"]}), GATES)


def test_groups_beyond_the_most_that_have_budgets_share_one_everywhere(share, start_store):
    fleet = share(start_store(), "limits: [{name: per-job, each: [job], maxGroups: 4, maxHourlySeries: 5}]\n")
    jobs = [f"job-{n}" for n in range(12)]
    for turn, job in enumerate(jobs):
        fleet.offer(turn % GATES, of_job(job, 10))
    for job in jobs:
        fleet.offer_to_all(of_job(job, 10))
    assert [len(admitted_of(fleet, None, job)) for job in jobs] == [5, 5, 5, 5, 5, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("text", ["mode: observe\nmaxHourlySeries: 10\nmaxDailySeries: 10\n",
                                  "maxHourlySeries: 10\nexempt: ['{__name__=\"m\"}']\n",
                                  "limits: [{name: others, match: '{__name__=\"other\"}', maxHourlySeries: 1}]\n",
                                  "limits: [{name: watched, mode: observe, each: [__name__], maxHourlySeries: 10},"
                                  " {name: others, match: '{__name__=\"other\"}', maxHourlySeries: 1}]\n"],
                         ids=["observed", "exempt", "not limited", "observed by one limit"])
def test_what_nothing_could_refuse_is_asked_of_nobody(share, start_store, text):
    store = start_store()
    fleet = share(store, text)
    series = numbered(50)
    assert fleet.offer_to_all(series) == [series] * GATES
    assert [gate.stats["shared"]["claims"] for gate in fleet.gates] == [0] * GATES
    assert store.members() == 0
    if "watched" in text:
        assert [figures(limits(gate.stats)["watched", "m"])[1] for gate in fleet.gates] == [10] * GATES


def test_fleets_of_different_namespaces_do_not_see_each_other(share, start_store):
    store = start_store()
    ours, theirs = share(store, "maxHourlySeries: 10\n", gates=2), share(store, "maxHourlySeries: 10\n", gates=2,
                                                                        namespace="theirs")
    for fleet, first in ((ours, 0), (theirs, 1000)):
        fleet.offer_to_all(numbered(15, start=first))
        assert fleet.admitted() == {identity(labels) for labels in numbered(10, start=first)}
        fleet.most_show(current(), 10)


# --- behind a balancer

def send_round(balancer, fleet, series, tenant=None):
    """One by one, on one connection."""
    with balancer.client() as client:
        for labels in series:
            fleet.offer(None, [labels], tenant, client)


@pytest.fixture
def balanced(keep, tmp_path):
    """balanced(fleet): HAProxy before it, as deploy/ has it."""
    def start(fleet):
        ports = [gate.address[1] for gate in fleet.gates]
        return keep(balancers.Balancer("haproxy", ports, tmp_path, name="haproxy-shared.cfg"))

    return start


def test_requests_of_one_connection_go_round(share, balanced):
    fleet = share(None, "maxHourlySeries: 40\n")
    send_round(balanced(fleet), fleet, numbered(50 * GATES))
    assert [gate.stats["samples"]["received"] for gate in fleet.gates] == [50] * GATES
    assert len(fleet.admitted()) == GATES * 40


def test_the_balancer_goes_round_the_gates_that_are_left(share, balanced):
    fleet = share(None, "")
    balancer = balanced(fleet)
    fleet.gates[1].stop()
    with balancer.client() as client:
        assert client.get("/-/ready").status == 200
    send_round(balancer, fleet, numbered(120))  # none of them is lost
    left = [fleet.gates[ordinal].stats["samples"]["received"] for ordinal in (0, 2)]
    assert sum(left) == 120 and min(left) >= 40


def test_behind_a_balancer_that_goes_round_they_are_exact(share, start_store, balanced):
    fleet = share(start_store(), CASES["tenants"][0].format("Hourly"))
    balancer = balanced(fleet)
    for tenant in ("shop", "data"):
        send_round(balancer, fleet, numbered(3 * MAXIMUM), tenant)
        assert fleet.admitted(tenant) == {identity(labels) for labels in numbered(MAXIMUM)}
        fleet.offer_to_all(numbered(3 * MAXIMUM), tenant)
    fleet.most_show(currents("hourly"), [MAXIMUM] * 2)


# --- gates that come and go

def test_a_gate_that_was_killed_knows_what_the_fleet_admitted(share, start_store):
    fleet = share(start_store(), "maxHourlySeries: 20\nmaxDailySeries: 20\n")
    first, second = numbered(10), numbered(6, start=10)
    assert fleet.offer(1, first) == first
    fleet.gates[1].crash()
    assert fleet.offer(0, second) == second
    fleet.restart(1)
    fleet.all_join()
    known = first + second
    assert fleet.offer(1, known) == known
    newcomers = numbered(10, start=100)
    assert fleet.offer(1, newcomers) == newcomers[:4]
    for ordinal in (0, 2):
        assert fleet.offer(ordinal, newcomers + known) == newcomers[:4] + known
    fleet.most_show(current("daily"), 20)


def test_gates_that_are_killed_amid_an_explosion_spend_no_place_twice(share, start_store):
    fleet = share(start_store(), "maxHourlySeries: 200\n")
    series = numbered(800)

    def kill_one_after_the_other():
        for ordinal in range(GATES):
            fleet.gates[ordinal].crash()
            fleet.restart(ordinal)

    fleet.explode({None: series}, meanwhile=kill_one_after_the_other)
    assert len(fleet.admitted()) <= 200
    fleet.all_join()
    fleet.offer_to_all(series)  # what had been taken for requests that got lost
    assert len(fleet.admitted()) == 200
    fleet.most_show(current(), 200)


@pytest.mark.parametrize("changes", [{"secret": bytes(32)}, {"further": "ignoreLabels: [replica]\n"}],
                         ids=["secret", "ignoreLabels"])
def test_a_gate_that_would_count_otherwise_does_not_join(share, start_store, changes):
    fleet = share(start_store(), "maxHourlySeries: 10\n", gates=2)
    known = numbered(10)
    assert fleet.offer(0, known) == known
    status, said = fleet.refused_to_join(**changes)
    assert status == 2, said
    assert all(text in said for text in ("cannot join", "fingerprint.secretFile", "ignoreLabels")), said
    assert fleet.offer(1, known + numbered(3, start=100)) == known
    assert fleet.states() == ["joined"] * 2
