"""monitoring/ beside a gate: every expression asks for what there is and has data, and what happens fires."""

import json
import re
import urllib.error

import pytest

import dashboards
import rule_tests
from dashboards import TARGETS, VARIABLES
from gate import REPOSITORY
from rule_tests import ALERTS, RECORDS
from test_alerts import CASES, DROPPED_WITH, MORE_CASES
from test_exhaustion import PANELS as EXHAUSTION
from waiting import eventually
from watched_gates import WatchedGates


# --- what they ask for

def families(gate):
    """Names of all families of a gate in a fleet, also of those that have nothing to show."""
    text = gate.get("/metrics").body.decode()
    pinned = (REPOSITORY / "tests/fleet/fleet_exposition_test.cpp").read_text().split("TEST_CASE")[1]
    shared = {name.removesuffix("_count") for name in re.findall(r'"(seriesgate_shared_\w+)', pinned)}
    return set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE)) | shared


@pytest.mark.text
def test_every_metric_that_is_asked_for_is_one_of_the_gates(limited):
    gate = limited("warmStart: {url: 'http://127.0.0.1:9', timeout: 1s}\n")
    known = families(gate) | {rule["record"] for rule in RECORDS} | {"ALERTS", "up"}
    assert len(known) > 100
    texts = [*(target.text for target in TARGETS), *(rule["expr"] for rule in [*ALERTS.values(), *RECORDS]),
             *(VARIABLES[name]["query"]["query"] for name in ("job", "instance"))]
    for name in sorted(set().union(*map(rule_tests.metric_names, texts))):
        assert re.sub("_bucket$", "", name) in known, name
    for name in ("tenant", "limit"):
        selector = re.search(r'__name__=~"([^"]*)"', VARIABLES[name]["query"]["query"])[1]
        assert set(selector.split("|")) <= known


def test_every_code_of_a_case_is_there_from_the_start(gate):
    cases = [*(series for both in CASES.values() for series in both), *(series for _, series, _ in MORE_CASES)]
    named = " ".join(name for series in cases for name in series)
    codes = set(re.findall(r'seriesgate_upstream_responses_total\{[^}]*code="(\w+)"', named))
    assert set(DROPPED_WITH) <= codes
    for code in codes:
        assert gate.metric("seriesgate_upstream_responses_total", code=code) == 0, code


# --- all have data, in a real Prometheus

#: What stays at nothing in these minutes, for good reasons. All others have to have moved.
AT_REST = {
    "Clock: {{instance}}",  # it does not leap
    "Log lines lost: {{instance}}",  # somebody reads it
    "Waiting for a connection: waiting {{store}}", "Waiting for a connection: had to, a second {{store}}",  # there are enough
    "Success in doubt: abandoned", "TLS handshakes, by outcome: running", "Questions: waiting",  # a matter of milliseconds
    "Claims without an answer, by reason: late replies",  # the store goes away, and is not slow
    "Claims without an answer, by reason: hour over",  # the full hour is far away
    # Gates join before Prometheus looks, and stay.
    "Lost and found: read: {{result}}", "Lost and found: series read", "Lost and found: gaps",
}

#: What there is only after half an hour: test_exhaustion.py has it.
RECORDED_LATER = {"seriesgate:budget_series:growth_ratio", "seriesgate:budget_series:full_in_seconds"}
FIRING_LATER = {"SeriesgateBudgetFullSoon"}
#: What there is only while nothing is scraped.
BEFORE = {"SeriesgateAbsent"}


@pytest.fixture
def scene(start_gate, tmp_path):
    made = WatchedGates(start_gate, tmp_path)
    yield made
    made.stop()


def asked(scene, expression, **further):
    try:
        return scene.query(expression, **further)
    except urllib.error.HTTPError as error:
        raise AssertionError(f"{expression}: {error.read().decode()}") from None


def numbers(result):
    values = [float(sample["value"][1]) for sample in result]
    return [value for value in values if value == value]


def always(expression):
    """An alert's expression with its comparisons telling 0 or 1 in place of leaving out, and what it leaves to another alert."""
    return re.sub(r"(?<=\s)(>=|<=|==|>|<)(?=\s)", r"\1 bool", re.sub(r" unless on \(job, instance\) .*", "", expression))


class Missing:
    """What has not been seen yet, of each target: any data, a figure but nought, and the labels that its legend names."""

    def __init__(self):
        targets = [target for target in TARGETS if target.panel not in EXHAUSTION]
        self.data = {target.name: target for target in targets}
        self.figures = {target.name: target for target in targets if target.name not in AT_REST}
        self.labels = {target.name: (target, set(re.findall(r"\{\{(\w+)\}\}", target.legend))) for target in targets}
        self.rules = {alert: always(rule["expr"]) for alert, rule in ALERTS.items() if alert not in FIRING_LATER | BEFORE}
        self.rules |= {rule["record"]: rule["record"] for rule in RECORDS if rule["record"] not in RECORDED_LATER}
        self.variables = {name for name in VARIABLES if VARIABLES[name]["type"] == "query"}

    def look(self, scene):
        scene.goes_on()
        offered = {"job": scene.values_of(*dashboards.label_values("job"))}
        labels = {name: target for name, (target, absent) in self.labels.items() if absent}
        for name, target in {**self.data, **self.figures, **labels}.items():
            result = asked(scene, dashboards.substituted(target.text, {}, offered))
            if numbers(result):
                self.data.pop(name, None)
            if any(numbers(result)):
                self.figures.pop(name, None)
            self.labels[name][1].difference_update(*(sample["metric"] for sample in result))
        self.rules = {name: text for name, text in self.rules.items() if not numbers(asked(scene, text))}
        self.variables = {name for name in self.variables if not scene.values_of(
            dashboards.substituted(dashboards.label_values(name)[0], {}, offered), name)}
        return not self.all()

    def all(self):
        labels = {(name, label) for name, (_, absent) in self.labels.items() for label in absent}
        return {*self.data, *self.figures, *labels, *self.rules, *self.variables}


#: What happens there all the time. All alerts, by what makes them fire: tests/files/test_alerts.py.
FIRING = {"SeriesgateRequestsMalformed", "SeriesgateStoreRejects", "SeriesgateWriteUnconfirmed",
          "SeriesgatePartlyWritten", "SeriesgateSeriesRefused", "SeriesgateTenantRefused",
          "SeriesgateWouldRefuse", "SeriesgateReloadFailed", "SeriesgateStateNotSaved"}


def check_alerts(scene):
    """They fire, or wait whether it lasts; and Prometheus has nothing to object to any rule or template."""
    def alerts():
        return json.loads(scene.server.get("/api/v1/alerts"))["data"]["alerts"]

    def has_seen_it(alert):
        return alert["state"] == "firing" or "for" in ALERTS[alert["labels"]["alertname"]]

    eventually(lambda: FIRING <= {each["labels"]["alertname"] for each in alerts() if has_seen_it(each)},
               "they fire", 60, every=0.5)
    for alert in alerts():
        for text in alert["annotations"].values():
            assert "<error" not in text and "<no value>" not in text and "{{" not in text, alert
    groups = json.loads(scene.server.get("/api/v1/rules"))["data"]["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len(rules) == len(ALERTS) + len(RECORDS)
    assert all(rule["health"] == "ok" for rule in rules), rules


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_every_expression_has_data_where_there_is_something_to_tell(scene):
    assert len(scene.query(ALERTS["SeriesgateAbsent"]["expr"], time=1)) == 1  # long ago nothing was scraped
    assert AT_REST <= {target.name for target in TARGETS}
    missing = Missing()
    try:
        eventually(lambda: missing.look(scene), "all have data", 120, every=0.5)
    except AssertionError:
        scene.goes_on()
        raise AssertionError(f"nothing seen of {sorted(missing.all(), key=str)}") from None
    check_alerts(scene)

    # A choice of tenants and limits is one of these and no others, whatever their names are made of.
    offered, chosen = {"job": ["seriesgate"]}, {"tenant": ["team.a+b", "grows"], "limit": ["per-team", "per-job", "tenant"]}
    seen = {"tenant": set(), "limit": set()}
    for target in TARGETS:
        if {"tenant", "limit"} & dashboards.variables_in(target.text):
            for sample in asked(scene, dashboards.substituted(target.text, chosen, offered)):
                for name in seen.keys() & sample["metric"].keys() & dashboards.variables_in(target.text):
                    seen[name].add(sample["metric"][name])
    assert seen == {"tenant": {"team.a+b", "grows"}, "limit": {"per-team", "per-job", "tenant"}}
    # Other jobs have processes, too.
    texts = [target.text for target in TARGETS if "process_" in target.text]
    assert len(texts) == 4
    eventually(lambda: len(asked(scene, "process_open_fds")) == 6, "all processes", 20, every=0.5)
    for text in texts:
        chosen_jobs = dashboards.substituted(text, {}, {"job": ["secured", "seriesgate"]})
        eventually(lambda: len(asked(scene, chosen_jobs)) == 5, text, 20, every=0.5)
