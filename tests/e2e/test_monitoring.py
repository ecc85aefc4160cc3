"""monitoring/ beside a gate: every expression asks for what there is and has data, and what happens fires."""

import json
import re
import urllib.error

import pytest

import dashboards
import rule_tests
import traffic
import wire
import wire_v2
from dashboards import TARGETS, VARIABLES
from gate import REPOSITORY
from rule_tests import ALERTS, RECORDS
from servers import Prometheus
from test_alerts import CASES, DROPPED_WITH, MORE_CASES
from test_exhaustion import PANELS as EXHAUSTION
from upstream import Answer
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
def test_every_metric_that_is_asked_for_is_one_of_the_gates(gate):
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
    # The full hour is far away, and nobody was there in the one before.
    "Claims without an answer, by reason: hour over", "To be told: at an hour's edge",
    "Told afterwards, by answer: at an hour's edge: {{outcome}}", "Gates ready for an outage: at once",
    "Nobody was asked: struck: another has told",
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
    """An alert's expression with its comparisons telling 0 or 1 in place of leaving out."""
    return re.sub(r"(?<=\s)(>=|<=|==|>|<)(?=\s)", r"\1 bool", expression)


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


# --- what happens fires, in a real Prometheus

CONFIG = """
global: {{scrape_interval: 250ms, evaluation_interval: 500ms}}
rule_files: {rules}
scrape_configs:
  - job_name: gate
    static_configs: [{{targets: ['127.0.0.1:{port}']}}]
"""


@pytest.fixture
def watched(limited, tmp_path):
    """A gate whose state cannot be kept, and a Prometheus that has scraped it."""
    state = tmp_path / "state"
    (state / "state" / "in the way").mkdir(parents=True)
    gate = limited("maxHourlySeries: 3\nserver: {maxRequestBytes: 64KiB, maxDecodedBytes: 64KiB}\n"
                   "tenants: {default: {maxHourlySeries: 2}}\n"
                   "limits: [{name: per-job, each: [job], mode: observe, maxHourlySeries: 1}]\n"
                   f"state: {{dir: {state}, interval: 500ms}}\n")
    server = Prometheus(tmp_path, CONFIG.format(rules=[str(file) for file in rule_tests.FILES], port=gate.address[1]))
    try:
        eventually(lambda: value(server, "seriesgate_build_info") == 1, "it has been scraped", 30)
        yield gate, server
    finally:
        server.stop()


def value(server, query):
    result = json.loads(server.get("/api/v1/query", query=query))["data"]["result"]
    return float(result[0]["value"][1]) if result else None


def alerts(server):
    return json.loads(server.get("/api/v1/alerts"))["data"]["alerts"]


def rules_of(server):
    groups = json.loads(server.get("/api/v1/rules"))["data"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


def provoke(gate, upstream):
    """Each of these, and nothing else."""
    series = [{"__name__": f"m{n}", "job": "j"} for n in range(5)]
    gate.send(traffic.body(series[:3]), [("X-Scope-OrgID", "shop")])
    gate.send(b"\x04bad")
    gate.send(bytes(70_000))
    gate.send(traffic.body(series), [("Content-Type", "text/plain")])
    gate.send(traffic.body(series[:1]), [("Via", ", ".join(f"1.1 seriesgate-{n:016x}" for n in range(4)))])
    upstream.default = Answer(400, [], b"out of order\n")
    gate.send(traffic.body(series[:1]), [("X-Scope-OrgID", "shop")])
    upstream.default = Answer(503)
    gate.send(traffic.body(series[:1]), [("X-Scope-OrgID", "shop")])
    upstream.default = Answer(204)
    gate.send(wire.pack(wire_v2.request(series[0])), [*wire_v2.HEADERS, ("X-Scope-OrgID", "shop")])
    upstream.default = Answer(204, [("X-Prometheus-Remote-Write-Samples-Written", "0")])
    gate.send(wire.pack(wire_v2.request(series[0])), [*wire_v2.HEADERS, ("X-Scope-OrgID", "shop")])
    assert gate.reload("maxHourlySeries: many\n").status == 400
    upstream.stop()
    assert gate.send(traffic.body(series[:1]), [("X-Scope-OrgID", "shop")]).status == 502


FIRING = {"SeriesgateRequestsMalformed", "SeriesgateRequestsTooLarge", "SeriesgateMediaUnsupported", "SeriesgateLoop",
          "SeriesgateStoreRejects", "SeriesgateWriteUnconfirmed", "SeriesgatePartlyWritten", "SeriesgateSeriesRefused",
          "SeriesgateTenantRefused", "SeriesgateWouldRefuse", "SeriesgateReloadFailed", "SeriesgateStateNotSaved"}
PENDING = {"SeriesgateStoreFails", "SeriesgateStoreUnreachable", "SeriesgateStoreDoorDown", "SeriesgateTenantNear",
           "SeriesgateBudgetNear"}


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_real_prometheus_evaluates_them_and_what_happens_fires(watched, upstream):
    gate, server = watched
    provoke(gate, upstream)

    def all_seen():
        seen = {(alert["labels"]["alertname"], alert["state"]) for alert in alerts(server)}
        return {*((name, "firing") for name in FIRING), *((name, "pending") for name in PENDING)} <= seen and seen

    try:
        seen = eventually(all_seen, "the alerts", 60, every=0.2)
    except AssertionError:
        raise AssertionError(sorted((alert["labels"]["alertname"], alert["state"]) for alert in alerts(server))) from None
    assert {name for name, _ in seen} == FIRING | PENDING
    assert all(rule["health"] == "ok" for rule in rules_of(server)), rules_of(server)
    assert len(rules_of(server)) == len(ALERTS) + len(RECORDS)
    for alert in alerts(server):
        for text in alert["annotations"].values():
            assert "<error" not in text and "<no value>" not in text and "{{" not in text, alert
    said = {alert["annotations"]["summary"] for alert in alerts(server)}
    instance = f"127.0.0.1:{gate.address[1]}"
    assert f"{instance}: the store answers 400, senders drop that data" in said
    assert f"{instance}: no answer from the store (connection_refused), senders keep the data and come again" in said
    assert f'{instance}: enforced, per-job {{job="j"}} would refuse 2 series' in said, said
    assert f"{instance}: tenant shop has spent its hourly limit, 1 new series are refused" in said
