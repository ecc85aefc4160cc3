"""Values of labels that `ignoreLabels` names: as many of a tenant as maxIgnoredValues count for nothing, others do."""

import json

import pytest

import wire
from test_explain import ask
from test_traps import CASES, Request, send
from traffic import offer

CONFIG = """
maxHourlySeries: 5
ignoreLabels: [replica]
maxIgnoredValues: 4
"""


def of_replicas(count, start=0, **labels):
    return [{"__name__": "m", "replica": f"r{n:05}", **labels} for n in range(start, start + count)]


def sent(gate, version, all_labels, value=1.0, tenant=None):
    """How many are let through."""
    request = Request(version)
    for labels in all_labels:
        request.sampled(*sorted(labels.items()), value=value)
    refused = send(gate, request, [("X-Scope-OrgID", tenant)] if tenant else []).refused
    return len(all_labels) - (refused[1] if refused else 0)


@CASES
def test_an_ignored_label_is_no_way_around_a_limit(limited, upstream, version):
    gate = limited(CONFIG)
    # Four values count as one series, and four other series find room.
    assert sent(gate, version, of_replicas(3000)) == 4 + 4
    assert gate.stats["windows"]["hourly"]["currentSeries"] == 5
    budget, = (each for each in gate.stats["limits"] if each["name"] == "ignored-values")
    assert (budget["hourly"]["maxSeries"], budget["hourly"]["currentSeries"]) == (4, 4)
    assert budget["hourly"]["refusedSeries"] > 2900
    assert sent(gate, version, of_replicas(3000)) == 4 + 4


@CASES
def test_a_pair_counts_once_whatever_else_comes(limited, upstream, version):
    gate = limited(CONFIG)
    pair = [{"__name__": "healthy", "n": str(n), "replica": of} for of in ("a", "b") for n in range(5)]
    for _ in range(3):  # the third time from what is recognised
        assert sent(gate, version, pair) == 10
    assert gate.stats["windows"]["hourly"]["currentSeries"] == 5
    assert sent(gate, version, of_replicas(3000)) == 0
    assert sent(gate, version, pair) == 10
    # Known series flow from values that are in, and others do not become known by them.
    assert sent(gate, version, [{**each, "replica": "c"} for each in pair[:5]]) == 0


def test_both_versions_and_any_order_mean_the_same_value(limited, upstream):
    gate = limited(CONFIG.replace("maxIgnoredValues: 4", "maxIgnoredValues: 1"))
    labels = [("__name__", "m"), ("replica", "a")]
    for version in ("v1", "v2", "v1"):
        for order in (labels, labels[::-1]):
            assert send(gate, Request(version).sampled(*order)).refused is None
    assert gate.stats["windows"]["hourly"]["currentSeries"] == 1
    assert send(gate, Request("v1").sampled(("__name__", "m"), ("replica", ""))).refused is None
    assert gate.stats["windows"]["hourly"]["currentSeries"] == 1


@CASES
def test_a_stale_marker_gives_no_value_a_place(limited, upstream, version):
    gate = limited(CONFIG)
    assert sent(gate, version, of_replicas(2)) == 2
    assert sent(gate, version, of_replicas(50, start=100), value=wire.STALE) == 0
    assert sent(gate, version, of_replicas(2, start=500)) == 2
    assert gate.stats["windows"]["hourly"]["currentSeries"] == 1


def test_each_tenant_has_its_own_and_a_reload_makes_room(limited, upstream):
    gate = limited(CONFIG.replace("maxHourlySeries: 5", "maxHourlySeries: 2"))
    assert len(offer(gate, upstream, of_replicas(20))) == 4 + 1
    assert sent(gate, "v1", of_replicas(20), tenant="team") == 0
    gate.reload(gate.config_file.read_text().replace("maxHourlySeries: 2", "maxHourlySeries: 3"))
    assert sent(gate, "v1", of_replicas(20), tenant="team") == 4
    gate.reload(gate.config_file.read_text().replace("maxIgnoredValues: 4", "maxIgnoredValues: 10"))
    assert sent(gate, "v1", of_replicas(20), tenant="team") == 10


def test_explain_knows_which_series_it_is(limited, upstream):
    gate = limited(CONFIG.replace("maxIgnoredValues: 4", "maxIgnoredValues: 1").replace("Series: 5", "Series: 1"))
    assert len(offer(gate, upstream, of_replicas(3))) == 1
    assert ask(gate, '{__name__="m",replica="r00000"}')["known"]
    assert ask(gate, '{__name__="m",replica="r00001"}')["decision"] == "refused"


def test_explain_knows_a_series_that_became_known_apart(limited, upstream):
    gate = limited(CONFIG.replace("maxIgnoredValues: 4", "maxIgnoredValues: 1").replace("Series: 5", "Series: 2"))
    assert len(offer(gate, upstream, of_replicas(1))) == 1
    of_another = of_replicas(1, start=1, n="1")
    assert sent(gate, "v1", of_another) == 1
    gate.reload(gate.config_file.read_text().replace("maxIgnoredValues: 1", "maxIgnoredValues: 9"))
    assert sent(gate, "v1", of_another) == 1
    assert ask(gate, '{__name__="m",n="1",replica="r00001"}')["known"]


@pytest.mark.parametrize("labels", ["[replica, zone]", "[zone, replica]"])
def test_of_several_labels_their_combination_counts(limited, upstream, labels):
    gate = limited(CONFIG.replace("[replica]", labels))
    series = [{"__name__": "m", "replica": f"r{a}", "zone": f"z{b}"} for a in range(10) for b in range(10)]
    assert len(offer(gate, upstream, series)) == 4 + 4


@CASES
def test_who_reads_the_log_or_the_findings_learns_of_it_though_nothing_is_refused(limited, version):
    gate = limited("ignoreLabels: [replica]\nmaxIgnoredValues: 4\n")
    assert sent(gate, version, of_replicas(3000)) == 3000
    found, = json.loads(gate.get("/api/v1/findings").body)["data"]
    assert (found["metrics"], found["label"]) == (["m"], "replica")
    assert found["remedy"]["limit"] == ""  # none may select by an ignored label
    gate.stop()
    line, = gate.said("values of ignored labels beyond their limit")
    assert (line["samples"], line["limit"], line["window"], line["max"], line["current"]) == (
        "2996", "ignored-values", "hourly", "4", "4")
    assert not gate.said("series refused")
