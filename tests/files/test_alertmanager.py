"""monitoring/alertmanager.yml: one explosion is one notification, and nothing else is hidden by it.

Routes and inhibition are those of Alertmanager: https://prometheus.io/docs/alerting/latest/configuration. Its own amtool checks the
file where it is beside the other servers or in the PATH.
"""

import re
import shutil
import subprocess

import pytest
import yaml

import rule_tests
import servers
from gate import REPOSITORY
from rule_tests import ALERTS
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


def test_one_explosion_is_one_notification():
    for gates in (["a"], ["a", "b", "c"]):
        sent = notifications([firing(alert, instance=gate) for alert in REFUSED for gate in gates])
        assert sent == {("daytime", "gate"): [alert for alert in REFUSED[1:] for _ in gates]}


def test_a_limit_of_all_series_that_is_spent_alone_is_told():
    assert notifications([firing("SeriesgateSeriesRefused")]) == {("daytime", "gate"): ["SeriesgateSeriesRefused"]}
    # Another gate's budget explains nothing here.
    sent = notifications([firing("SeriesgateSeriesRefused"), firing("SeriesgateBudgetRefused", instance="b")])
    assert sent == {("daytime", "gate"): ["SeriesgateSeriesRefused", "SeriesgateBudgetRefused"]}


def test_the_limit_of_all_series_is_told_beside_that_of_a_tenant():
    """The tenant's may have been spent for hours."""
    sent = notifications([firing(alert) for alert in ("SeriesgateSeriesRefused", "SeriesgateTenantRefused", "SeriesgateGlobalRefused")])
    assert sent == {("daytime", "gate"): ["SeriesgateTenantRefused", "SeriesgateGlobalRefused"]}


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


def test_gates_of_a_job_that_are_all_down_are_one_notification():
    down = [firing("SeriesgateDown", job="seriesgate", instance=gate) for gate in ("a", "b")]
    staging = firing("SeriesgateDown", job="seriesgate-staging", instance="c")
    sent = notifications([firing("SeriesgateAllDown"), *down, staging])
    assert [names for (receiver, *_), names in sent.items() if receiver == "on-call"] == [["SeriesgateAllDown"]]
    assert [names for (receiver, *_), names in sent.items() if receiver == "daytime"] == [["SeriesgateDown"]]
    # There is no other job.
    sent = notifications([firing("SeriesgateAbsent"), firing("SeriesgateAllDown"), *down])
    assert list(sent.values()) == [["SeriesgateAbsent"]]


#: Why nothing is stored.
CAUSES = ["SeriesgateStoreUnreachable", "SeriesgateLoop"]


def test_an_outage_of_the_store_is_one_notification():
    for cause in CAUSES:
        sent = notifications([firing(alert, instance=gate) for alert in (cause, "SeriesgateNotStored") for gate in ("a", "b", "c")])
        assert list(sent.values()) == [[cause] * 3] and next(iter(sent))[0] == "on-call"


def test_samples_that_are_not_stored_are_told_if_nothing_critical_says_why():
    lost = firing("SeriesgateNotStored")
    for other in ([], [firing("SeriesgateStoreFails")], [firing("SeriesgateStoreUnreachable", instance="b")],
                  [firing("SeriesgateReplicaFails")],  # this may be a replica of best effort
                  [firing("SeriesgateStoreRejects"), firing("SeriesgateStoreFails")]):  # a few 400 beside an outage
        assert not is_inhibited(lost, [lost, *other])


def test_another_fault_is_another_notification():
    """Whoever has put one aside for days hears of the next."""
    assert len(notifications([firing("SeriesgateRequestsMalformed"), firing("SeriesgateStoreUnreachable")])) == 2


def test_samples_are_called_not_stored_no_longer_than_the_store_is_called_away(tmp_path):
    """Else the second alert would be told when all is well again."""
    errors, failed = (f"{name}{{{GATE}{label}}}" for name, label in (
        ("seriesgate_upstream_errors_total", ',reason="dns"'), ("seriesgate_samples_failed_total", "")))
    series = {errors: "0x5 1+1x80 81x60", failed: "0x5 1+1x80 81x60", f"seriesgate_samples_stored_ratio{{{GATE}}}": "1x5 0x100 1x40"}
    names = ("SeriesgateNotStored", "SeriesgateStoreUnreachable")
    lost, away = (f'ALERTS{{alertname="{name}",alertstate="firing"}}' for name in names)
    status, text = rule_tests.run(tmp_path, [rule_tests.scenario(
        "20 minutes", series, rule_tests.asks(f"count({lost})", 15, ("{}", 1)),
        rule_tests.asks(f"count_over_time(({lost} unless on (job, instance) {away})[35m:15s])", 35), interval="15s")],
        alerts=set(names), every="15s")
    assert status == 0, text


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
    amtool = shutil.which("amtool", path=f"{servers.FOLDER}:/usr/bin")
    if not amtool:
        pytest.skip("no amtool")
    checked = subprocess.run([amtool, "check-config", FILE], capture_output=True, text=True, timeout=30)
    assert checked.returncode == 0, checked
