"""config/alerts.yml: every alert fires when it should and not when it should not, and a real Prometheus evaluates all."""

import json
import re
import subprocess

import pytest

import traffic
import wire
import wire_v2
from exposition import parse
from gate import REPOSITORY
from servers import Prometheus, binary
from upstream import Answer
from waiting import eventually

FILE = REPOSITORY / "config/alerts.yml"
TEXT = FILE.read_text()
ALERTS = re.findall(r"^ +- alert: (\w+)$", TEXT, re.MULTILINE)
GATE = 'job="gate",instance="a"'


def rejected(reason, quiet="malformed"):
    """An alert for one reason, and not for another."""
    name = "seriesgate_requests_rejected_total"
    return {f'{name}{{{GATE},reason="{reason}"}}': "0x4 1x20"}, {f'{name}{{{GATE},reason="{quiet}"}}': "0x4 1x20"}


def lasting(reason):
    """One that waits whether it lasts."""
    series = f'seriesgate_requests_rejected_total{{{GATE},reason="{reason}"}}'
    return {series: "0+1x20"}, {series: "0x4 1x20"}


def one(series, firing, quiet):
    name, _, labels = series.partition("{")
    full = f"{name}{{{GATE}" + (f",{labels}" if labels else "}")
    return {full: firing}, {full: quiet}


def beside(bound, current, labels, firing, quiet):
    """A figure and the bound that it is held against, ten."""
    both = [{f"{bound}{{{GATE},{labels}}}": f"{most}x20", f"{current}{{{GATE},{labels}}}": f"{now}x20"}
            for most, now in (firing, quiet)]
    return both[0], both[1]


TENANT = 'tenant="shop",mode="enforce",window="hourly"'
GROUP = 'limit="per-ns",group="{namespace=\\"a\\"}",tenant="",mode="enforce",window="daily"'

# Series that make an alert fire, and series that do not; each a value a minute, looked at in minute 8.
CASES = {
    "SeriesgateRequestsMalformed": rejected("malformed", quiet="too_large"),
    "SeriesgateRequestsTooLarge": rejected("too_large"),
    "SeriesgateMediaUnsupported": rejected("unsupported_media"),
    "SeriesgateRequestsMisdirected": one('seriesgate_requests_rejected_total{reason="unknown_path"}', "0+3x20", "0+2x20"),
    "SeriesgateUntranslated": rejected("untranslated"),
    "SeriesgateOverloaded": lasting("overloaded"),
    "SeriesgateSendersSlow": lasting("timeout"),
    "SeriesgateLoop": rejected("loop"),
    "SeriesgateConnectionsTurnedAway": one('seriesgate_connections_turned_away_total{reason="max_connections"}',
                                           "0x4 1x20", "7x20"),
    "SeriesgateStoreRejects": ({f'seriesgate_upstream_responses_total{{{GATE},code="400"}}': "0x4 1x20"},
                               {f'seriesgate_upstream_responses_total{{{GATE},code="{code}"}}': "0+1x20"
                                for code in ("200", "204", "429", "500")}),
    "SeriesgateStoreFails": ({f'seriesgate_upstream_responses_total{{{GATE},code="429"}}': "0+1x20"},
                             {f'seriesgate_upstream_responses_total{{{GATE},code="400"}}': "0+1x20",
                              f'seriesgate_upstream_responses_total{{{GATE},code="503"}}': "0x4 1x20"}),
    "SeriesgateStoreUnreachable": one('seriesgate_upstream_errors_total{reason="dns"}', "0+1x20", "0x4 1x20"),
    "SeriesgateWriteUnconfirmed": one("seriesgate_unconfirmed_requests_total{", "0x4 1x20", "67x20"),
    "SeriesgatePartlyWritten": one("seriesgate_partly_written_requests_total{", "0x4 1x20", "67x20"),
    "SeriesgateSeriesRefused": one("seriesgate_samples_refused_total{", "0x4 100x20", "100x20"),
    "SeriesgateLimitNear": beside("seriesgate_series_max", "seriesgate_series_current", 'window="hourly"',
                                  (100, 91), (0, 91)),
    "SeriesgateTenantNear": beside("seriesgate_tenant_series_max", "seriesgate_tenant_series_current", TENANT,
                                   (100, 81), (100, 80)),
    "SeriesgateTenantRefused": one(f"seriesgate_tenant_series_refused{{{TENANT}}}", "0x4 1x20", "0x20"),
    "SeriesgateBudgetNear": beside("seriesgate_limit_series_max", "seriesgate_limit_series_current", GROUP,
                                   (100, 81), (100, 80)),
    "SeriesgateBudgetRefused": (one(f"seriesgate_limit_series_refused{{{GROUP}}}", "0x4 1x20", "")[0],
                                one(f"seriesgate_limit_series_refused{{{GROUP.replace('enforce', 'observe')}}}",
                                    "0x4 1x20", "")[0]),
    "SeriesgateWouldRefuse": (one(f"seriesgate_limit_series_refused{{{GROUP.replace('enforce', 'observe')}}}",
                                  "0x4 1x20", "")[0],
                              one(f"seriesgate_limit_series_refused{{{GROUP}}}", "0x4 1x20", "")[0]),
    "SeriesgateAbsent": ({"up{}": "0x20"}, {f"seriesgate_build_info{{{GATE}}}": "1x20"}),
    "SeriesgateReloadFailed": one("seriesgate_config_last_reload_successful{", "1x4 0x20", "1x20"),
    "SeriesgateStateNotSaved": one("seriesgate_state_save_failures_total{", "0x4 1x20", "3x20"),
    "SeriesgateClockInDoubt": one("seriesgate_clock_in_doubt{", "0x4 1x20", "0x20"),
    "SeriesgateLogLost": one("seriesgate_log_lines_lost_total{", "0x4 5x20", "5x20"),
}
MINUTE = 8

OBSERVED = TENANT.replace("enforce", "observe")
REFUSED = f'seriesgate_series_refused{{{GATE},window="daily"}}'
BY_LIMIT = f"seriesgate_limit_samples_would_refuse_total{{{GATE},limit=\"%s\",tenant=\"a\"}}"

# More of the same: (alert, series, whether it fires).
MORE_CASES = [
    ("SeriesgateWouldRefuse", {f"seriesgate_tenant_series_refused{{{GATE},{OBSERVED}}}": "0x4 1x20"}, True),
    ("SeriesgateWouldRefuse", {REFUSED: "0x4 1x20", BY_LIMIT % "global": "1x20"}, True),
    ("SeriesgateWouldRefuse", {REFUSED: "0x4 1x20", BY_LIMIT % "per-job": "1x20"}, False),
    ("SeriesgateLimitNear", {REFUSED.replace("refused", "max"): "100x20", REFUSED.replace("refused", "current"): "90x20"},
     False),
    ("SeriesgateStoreRejects", {f'seriesgate_upstream_responses_total{{{GATE},code="302"}}': "0x4 1x20"}, True),
    ("SeriesgateRequestsMisdirected", {f'seriesgate_requests_rejected_total{{{GATE},reason="{reason}"}}': "0+2x20"
                                       for reason in ("unknown_path", "method_not_allowed")}, True),
]


def test_each_alert_has_a_case():
    assert list(CASES) == ALERTS


@pytest.mark.text
def test_the_document_lists_them_with_their_severities():
    severities = dict(re.findall(r"- alert: (\w+)\n(?:(?! +- ).*\n)*? +labels: {severity: (\w+)}", TEXT))
    assert list(severities) == ALERTS
    rows = re.findall(r"^\| `(Seriesgate\w+)` \| (\w+) \|", (REPOSITORY / "docs/operation.md").read_text(), re.MULTILINE)
    assert rows == list(severities.items())


def promtool(*arguments, folder=None):
    result = subprocess.run([binary("promtool"), *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
    return result.returncode, result.stdout + result.stderr


def test_the_rules_are_valid():
    status, text = promtool("check", "rules", FILE)
    assert status == 0 and f"{len(ALERTS) + 2} rules found" in text, text


def unit_test(alert, series, fires):
    """One test of promtool: whether the alert fires in minute 8. JSON is YAML."""
    return {"interval": "1m", "name": f"{alert}: {'fires' if fires else 'is quiet'}",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [{"expr": f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})',
                                  "eval_time": f"{MINUTE}m",
                                  "exp_samples": [{"labels": "{}", "value": 1}] if fires else []}]}


def run_unit_tests(folder, tests):
    file = folder / "alerts_test.yml"
    file.write_text(json.dumps({"rule_files": [str(FILE)], "evaluation_interval": "1m", "tests": tests}))
    return promtool("test", "rules", file)


def test_every_alert_fires_when_it_should_and_not_when_it_should_not(tmp_path):
    status, text = run_unit_tests(tmp_path, [unit_test(alert, series, fires) for alert, both in CASES.items()
                                             for series, fires in zip(both, (True, False), strict=True)]
                                  + [unit_test(*case) for case in MORE_CASES])
    assert status == 0, text


@pytest.mark.parametrize("alert", CASES)
def test_these_cases_would_notice(alert, tmp_path):
    firing, quiet = CASES[alert]
    for series, fires in ((quiet, True), (firing, False)):
        status, text = run_unit_tests(tmp_path, [unit_test(alert, series, fires)])
        assert status == 1 and "FAILED" in text, text


def test_every_figure_and_label_that_an_alert_asks_for_is_there(limited):
    gate = limited("mode: observe\nmaxHourlySeries: 1\ntenants: {default: {maxHourlySeries: 2}}\n"
                   "limits: [{name: a, each: [job], maxHourlySeries: 2}]\n")
    gate.send(traffic.body(traffic.numbered(2, job="x")), [("X-Scope-OrgID", "shop")])
    metrics = parse(gate.get("/metrics").body)
    there = {name for name, _ in metrics}
    asked = set(re.findall(r"\bseriesgate_\w+", "\n".join(re.findall(r"expr: ((?:.|\n)*?)\n +(?:labels|for|- )", TEXT))))
    assert len(asked) == 22
    assert asked <= there, asked - there
    for name, label, value in re.findall(r'(seriesgate_\w+)\{(\w+)="([^"]*)"\}', TEXT):
        values = {dict(labels)[label] for family, labels in metrics if family == name}
        assert value in values or label == "mode", (name, label, value)


# --- in a real Prometheus

CONFIG = """
global: {{scrape_interval: 250ms, evaluation_interval: 500ms}}
rule_files: ['{rules}']
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
    server = Prometheus(tmp_path, CONFIG.format(rules=FILE, port=gate.address[1]))
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


def rules(server):
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
PENDING = {"SeriesgateStoreFails", "SeriesgateStoreUnreachable", "SeriesgateTenantNear", "SeriesgateBudgetNear"}


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
    assert all(rule["health"] == "ok" for rule in rules(server)), rules(server)
    assert len(rules(server)) == len(ALERTS) + 2
    for alert in alerts(server):
        for text in alert["annotations"].values():
            assert "<error" not in text and "<no value>" not in text and "{{" not in text, alert
    said = {alert["annotations"]["summary"] for alert in alerts(server)}
    instance = f"127.0.0.1:{gate.address[1]}"
    assert f"{instance}: the store answers 400, senders drop that data" in said
    assert f"{instance}: no answer from the store (connection_refused), senders keep the data and come again" in said
    assert f'{instance}: enforced, per-job {{job="j"}} would refuse 2 series' in said, said
    assert f"{instance}: tenant shop has spent its hourly limit, 1 new series are refused" in said
