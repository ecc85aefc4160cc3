"""monitoring/alertmanager.yml: one explosion is one notification, and nothing else is hidden by it.

Routes and inhibition are those of Alertmanager: https://prometheus.io/docs/alerting/latest/configuration. Its own amtool checks the
file, too.
"""

import re

import pytest
import yaml

import rule_tests
import servers
from commands import output_of
from gate import REPOSITORY
from rule_tests import ALERTS
from tables import check_rows
from test_alerts import CASES, GATE

pytestmark = pytest.mark.text

FILE = REPOSITORY / "monitoring/alertmanager.yml"
SETTINGS = yaml.safe_load(FILE.read_text())
REFUSED = ["SeriesgateSeriesRefused", "SeriesgateGlobalRefused", "SeriesgateTenantRefused", "SeriesgateBudgetRefused"]


def matches(matchers, labels):
    def holds(matcher):
        name, sign, value = re.fullmatch(r'(\w+)(=~|=)"(.*)"', matcher).groups()
        there = labels.get(name, "")
        return there == value if sign == "=" else re.fullmatch(value, there) is not None

    return all(map(holds, matchers))


def route_of(labels):
    """(receiver, names of the labels that it groups by): the first route that matches, else the root."""
    root = SETTINGS["route"]
    for route in root["routes"]:
        assert route.keys() <= {"matchers", "receiver", "group_by"}
        if matches(route["matchers"], labels):
            return route["receiver"], route.get("group_by", root["group_by"])
    return root["receiver"], root["group_by"]


def is_inhibited(labels, firing):
    return any(matches(rule["target_matchers"], labels) and not matches(rule["source_matchers"], labels)
               and any(matches(rule["source_matchers"], other) and not matches(rule["target_matchers"], other)
                       and all(labels.get(name, "") == other.get(name, "") for name in rule.get("equal", [])) for other in firing)
               for rule in SETTINGS["inhibit_rules"])


def notifications(firing):
    """{(receiver, group): names of its alerts}"""
    sent = {}
    for labels in firing:
        if not is_inhibited(labels, firing):
            receiver, by = route_of(labels)
            sent.setdefault((receiver, *(labels.get(name, "") for name in by)), []).append(labels["alertname"])
    return sent


def firing(alert, **further):
    """The labels of an alert: those of the series that its case has."""
    series = next(iter(CASES[alert][0]))
    labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', series))
    return {"alertname": alert, **labels, **ALERTS[alert]["labels"], **further}


DOWN = [firing("SeriesgateDown", job="seriesgate", instance=gate) for gate in "ab"]
ALL_DOWN, DAYTIME = firing("SeriesgateAllDown"), ("daytime", "gate")
#: What fires: {(receiver, group): names of its alerts}, or only the names of each notification.
NOTIFIED = {
    **{f"one explosion, at {gates}, is one notification": (
        [firing(alert, instance=gate) for alert in REFUSED for gate in gates], {DAYTIME: [alert for alert in REFUSED[1:] for _ in gates]})
       for gates in ("a", "abc")},
    "a limit of all series that is spent alone is told": ([firing("SeriesgateSeriesRefused")], {DAYTIME: ["SeriesgateSeriesRefused"]}),
    "another gate's budget explains nothing here": (
        [firing("SeriesgateSeriesRefused"), firing("SeriesgateBudgetRefused", instance="b")],
        {DAYTIME: ["SeriesgateSeriesRefused", "SeriesgateBudgetRefused"]}),
    # The tenant's may have been spent for hours.
    "the limit of all series is told beside that of a tenant": (
        [firing(f"Seriesgate{which}Refused") for which in ("Series", "Tenant", "Global")],
        {DAYTIME: ["SeriesgateTenantRefused", "SeriesgateGlobalRefused"]}),
    "gates of a job that are all down are one notification": (
        [ALL_DOWN, *DOWN, firing("SeriesgateDown", job="seriesgate-staging", instance="c")],
        [("on-call", ["SeriesgateAllDown"]), ("daytime", ["SeriesgateDown"])]),
    "there is no other job": ([firing("SeriesgateAbsent"), ALL_DOWN, *DOWN], [("on-call", ["SeriesgateAbsent"])]),
    **{f"an outage of the store, which {cause} tells, is one notification": (
        [firing(alert, instance=gate) for alert in (cause, "SeriesgateNotStored") for gate in "abc"], [("on-call", [cause] * 3)])
       for cause in ("SeriesgateStoreUnreachable", "SeriesgateLoop")},
    # Whoever has put one aside for days hears of the next.
    "another fault is another notification": (
        [firing("SeriesgateRequestsMalformed"), firing("SeriesgateStoreUnreachable")],
        [("on-call", ["SeriesgateRequestsMalformed"]), ("on-call", ["SeriesgateStoreUnreachable"])]),
}


def test_what_fires_at_once_is_told_so():
    def is_told(fire, told):
        sent = notifications(fire)
        assert told == (sent if isinstance(told, dict) else [(receiver, names) for (receiver, *_), names in sent.items()])

    check_rows(NOTIFIED, is_told)


def test_what_is_spent_is_not_called_nearly_spent_but_others_are():
    spent = firing("SeriesgateBudgetRefused")
    near = {**firing("SeriesgateBudgetNear"), **{name: spent[name] for name in ("limit", "group", "tenant", "window")}}
    assert is_inhibited(near, [spent, near])
    for name in ("instance", "limit", "group", "window"):
        assert not is_inhibited({**near, name: "other"}, [spent, near]), name
    tenant = firing("SeriesgateTenantRefused")
    assert is_inhibited(firing("SeriesgateTenantNear"), [tenant])
    assert not is_inhibited(firing("SeriesgateTenantNear", tenant="other"), [tenant])
    for limit, hidden in (("tenant", True), ("per-ns", False)):
        assert is_inhibited(firing("SeriesgateBudgetFullSoon", limit=limit, tenant="shop", window="hourly"), [tenant]) == hidden


def test_samples_that_are_not_stored_are_told_if_nothing_critical_says_why():
    lost = firing("SeriesgateNotStored")
    for other in ([], [firing("SeriesgateStoreFails")], [firing("SeriesgateStoreUnreachable", instance="b")],
                  [firing("SeriesgateReplicaFails")],  # this may be a replica of best effort
                  [firing("SeriesgateStoreRejects"), firing("SeriesgateStoreFails")]):  # a few 400 beside an outage
        assert not is_inhibited(lost, [lost, *other])


def test_samples_are_called_not_stored_no_longer_than_the_store_is_called_away(tmp_path):
    """Else the second alert would be told when all is well again."""
    errors, failed = (f"{name}{{{GATE}{label}}}" for name, label in (
        ("seriesgate_upstream_errors_total", ',reason="dns"'), ("seriesgate_samples_failed_total", "")))
    series = {errors: "0x5 1+1x80 81x60", failed: "0x5 1+1x80 81x60", f"seriesgate_samples_stored_ratio{{{GATE}}}": "1x5 0x100 1x40"}
    names = ("SeriesgateNotStored", "SeriesgateStoreUnreachable")
    lost, away = (f'ALERTS{{alertname="{name}",alertstate="firing"}}' for name in names)
    rule_tests.check(tmp_path, rule_tests.scenario(
        "20 minutes", series, rule_tests.asks(f"count({lost})", 15, ("{}", 1)),
        rule_tests.asks(f"count_over_time(({lost} unless on (job, instance) {away})[35m:15s])", 35), interval="15s"),
        alerts=set(names), every="15s")


#: Critical alerts that others explain.
EXPLAINED = {"SeriesgateNotStored", "SeriesgateAllDown"}


def test_critical_alerts_go_to_whoever_is_on_call_and_none_is_hidden_but_by_what_explains_it():
    everything = [firing(alert) for alert in ALERTS]
    for labels in everything:
        if labels["severity"] == "critical":
            assert route_of(labels)[0] == "on-call"
            assert is_inhibited(labels, everything) == (labels["alertname"] in EXPLAINED), labels
        assert route_of(labels)[0] == {"critical": "on-call", "warning": "daytime", "info": "nobody"}[labels["severity"]]


def test_it_names_alerts_and_receivers_that_there_are():
    receivers = {each["name"] for each in SETTINGS["receivers"]}
    assert {route_of(firing(alert))[0] for alert in ALERTS} == receivers
    for rule in [*SETTINGS["inhibit_rules"], *SETTINGS["route"]["routes"]]:
        for matchers in rule.values():
            for matcher in matchers if isinstance(matchers, list) else []:
                if "=" in matcher and not matcher.startswith("limit="):
                    assert any(matches([matcher], {"alertname": alert, **ALERTS[alert]["labels"]}) for alert in ALERTS), matcher


def test_amtool_takes_it():
    output_of(servers.binary("amtool"), "check-config", FILE)
