"""Histograms that are kept whole by gates that share one store, whichever gates their series come through."""

import pytest

import exposition
from shared_fleets import share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from test_shared_feed import claims, have_heard
from traffic import figures, histogram, identity, numbered

pytestmark = pytest.mark.extended

CONFIG = "wholeHistograms: true\n"


def over_limit(fleet, window="hourly"):
    """By gate: series that it has asked for although there was no room."""
    shown = [gate.stats["windows"][window]["overLimitSeries"] for gate in fleet.gates]
    metrics = [{dict(labels)["window"]: value for labels, value in
                exposition.samples_of(gate.metrics, "seriesgate_series_over_limit").items()}[window] for gate in fleet.gates]
    assert shown == metrics
    return shown


def current(fleet, window="hourly"):
    return max(figures(gate.stats["windows"], window)[1] for gate in fleet.gates)


def test_a_histogram_that_has_begun_is_completed_through_any_gate(share, start_store):
    fleet = share(start_store(), CONFIG + "maxHourlySeries: 100\nmaxDailySeries: 98\n", gates=2)
    assert len(fleet.offer(0, numbered(97))) == 97
    first, second = histogram(pod="a"), histogram(pod="b")
    assert fleet.offer(0, first[3:5]) == first[3:5]
    assert fleet.offer(1, second) == []
    assert fleet.offer(1, [*numbered(5, start=500), *first[:8]]) == first[:8]
    assert fleet.offer(0, first) == first
    assert fleet.offer(1, first) == first
    assert (current(fleet), current(fleet, "daily")) == (109, 109)
    assert sum(over_limit(fleet)) == 9
    assert sum(over_limit(fleet, "daily")) == 11
    fleet.accounts_for_all()


def test_a_refused_bucket_refuses_sum_and_count(share, start_store):
    fleet = share(start_store(), CONFIG + "limits: [{name: per-metric, each: [__name__], maxHourlySeries: 20}]\n", gates=2)
    for pod in "ab":
        assert len(fleet.offer(0, histogram(pod=pod))) == 12
    third = histogram(pod="c")
    assert fleet.offer(1, [third[11], *third[:11]]) == []  # a count and a sum would have found room
    assert fleet.offer(1, third[10:]) == []
    assert over_limit(fleet) == [0, 0]


def test_a_gate_that_hears_of_a_histogram_asks_though_the_budget_is_spent(share, start_store):
    fleet = share(start_store(), CONFIG + "maxHourlySeries: 10\n", gates=2)
    first, second = histogram(pod="a"), histogram(pod="b")
    assert fleet.offer(0, [*numbered(9), first[0]]) == [*numbered(9), first[0]]
    have_heard(fleet, [0, 10])
    before = claims(fleet)
    assert fleet.offer(1, [*numbered(3, start=700), *second]) == []
    assert claims(fleet) == before and before[1] == 0
    assert fleet.offer(1, first) == first
    assert claims(fleet) == [before[0], 2]  # to the first it is told how many buckets there are
    have_heard(fleet, [11, 10])
    assert fleet.offer(0, first) == first
    assert over_limit(fleet) == [0, 11]
    fleet.accounts_for_all()


def test_histograms_in_parts_over_two_gates_are_whole_or_absent(share, start_store):
    fleet = share(start_store(), CONFIG + "maxHourlySeries: 300\nmaxHistogramSeries: 1000\n", gates=2)
    pods = [histogram(pod=str(pod)) for pod in range(100)]  # the margin would have room for all
    fleet.explode({None: [series for pod in pods for series in pod]})
    for ordinal in (0, 1):  # what was asked for before its histogram had begun elsewhere has another chance
        fleet.offer(ordinal, [series for pod in pods for series in pod])
    came = fleet.admitted()
    whole = [pod for pod in pods if {identity(each) for each in pod} <= came]
    begun = [pod for pod in pods if {identity(each) for each in pod} & came]
    assert whole == begun
    assert current(fleet) == len(came) == 12 * len(whole) >= 300
    assert sum(over_limit(fleet)) == len(came) - 300
    fleet.accounts_for_all()
