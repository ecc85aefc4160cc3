"""Histograms that are kept whole by gates that share one store, whichever gates their series come through."""

import random
from concurrent.futures import ThreadPoolExecutor

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


def test_a_gate_completes_the_histogram_that_it_has_begun(share, start_store):
    fleet = share(start_store(), CONFIG + "maxHourlySeries: 100\nmaxDailySeries: 98\n", gates=2)
    assert len(fleet.offer(0, numbered(97))) == 97
    first, second = histogram(pod="a"), histogram(pod="b")
    assert fleet.offer(0, first[3:5]) == first[3:5]  # the second of them has no room in the day
    assert fleet.offer(1, second) == []
    assert fleet.offer(0, [*numbered(5, start=500), *first[:8]]) == first[:8]
    assert fleet.offer(0, first) == first
    have_heard(fleet, [0, 109])
    assert fleet.offer(1, first) == first
    fleet.all_show(lambda stats: (figures(stats["windows"])[1], figures(stats["windows"], "daily")[1]), (109, 109))
    assert over_limit(fleet) == [9, 0]
    assert over_limit(fleet, "daily") == [11, 0]
    fleet.accounts_for_all()


def test_a_refused_bucket_refuses_sum_and_count(share, start_store):
    fleet = share(start_store(), CONFIG + "limits: [{name: per-metric, each: [__name__], maxHourlySeries: 20}]\n", gates=2)
    for pod in "ab":
        assert len(fleet.offer(0, histogram(pod=pod))) == 12
    third = histogram(pod="c")
    assert fleet.offer(1, [third[11], *third[:11]]) == []  # a count and a sum would have found room
    assert fleet.offer(1, third[10:]) == []
    assert over_limit(fleet) == [0, 0]


def test_a_gate_does_not_complete_what_another_has_begun(share, start_store):
    fleet = share(start_store(), CONFIG + "maxHourlySeries: 10\n", gates=2)
    first, second = histogram(pod="a"), histogram(pod="b")
    assert fleet.offer(0, [*numbered(9), first[0]]) == [*numbered(9), first[0]]
    have_heard(fleet, [0, 10])
    before = claims(fleet)
    assert fleet.offer(1, [*numbered(3, start=700), *second]) == []
    assert fleet.offer(1, first) == first[:1]
    assert claims(fleet) == before and before[1] == 0
    assert fleet.offer(0, first) == first
    assert over_limit(fleet) == [11, 0]
    have_heard(fleet, [0, 21])
    assert fleet.offer(1, first) == first
    fleet.accounts_for_all()


def test_histograms_in_parts_are_whole_or_absent_while_two_gates_contend(share, start_store):
    fleet = share(start_store(), CONFIG + "maxHourlySeries: 300\nmaxHistogramSeries: 1000\n", gates=2, timeout="2s")
    pods = [histogram(pod=str(pod)) for pod in range(100)]  # the margin would have room for all

    def send_half(ordinal):
        mixed = [series for pod in pods[ordinal::2] for series in pod]
        random.Random(ordinal).shuffle(mixed)
        for at in range(0, len(mixed), 20):
            fleet.offer(ordinal, mixed[at:at + 20])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(send_half, (0, 1)))
    fleet.offer(0, [series for pod in pods[::2] for series in pod])  # a sum may have come before its buckets
    fleet.offer(1, [series for pod in pods[1::2] for series in pod])
    came = fleet.admitted()
    whole = [pod for pod in pods if {identity(each) for each in pod} <= came]
    begun = [pod for pod in pods if {identity(each) for each in pod} & came]
    assert whole == begun
    fleet.all_show(lambda stats: figures(stats["windows"])[1], len(came))
    assert len(came) == 12 * len(whole) >= 300
    assert sum(over_limit(fleet)) == len(came) - 300
    fleet.accounts_for_all()
