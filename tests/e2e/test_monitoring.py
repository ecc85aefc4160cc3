"""monitoring/ beside a gate: every expression asks for what there is and has data, and what happens fires."""

import http.client
import json
import re
import urllib.error

import pytest

import client
import dashboards
import rule_tests
import traffic
import wire
import wire_v2
from dashboards import TARGETS, VARIABLES
from gate import REPOSITORY
from rule_tests import ALERTS, RECORDS
from secure import Secured
from servers import Prometheus, free_port
from shared_fleets import SharedFleet
from shared_stores import SharedStore
from test_alerts import CASES, DROPPED_WITH, MORE_CASES
from test_exhaustion import PANELS as EXHAUSTION
from upstream import Answer, Upstream
from waiting import eventually
from world import threading, time


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


# --- gates of every kind under load that does all to them that figures tell of, and a Prometheus that watches them

RULES = [REPOSITORY / "monitoring" / name for name in ("rules.yaml", "alerts.yaml")]
TENANTS = ("shop", "team.a+b", "one-more", "and-another")

LIMITED = """
upstream: {{urls: ['{store}', 'http://127.0.0.1:{nobody}/api/v1/write'], replicateTo: [{{url: '{replica}', bestEffort: true}}]}}
maxHourlySeries: 1000000
maxDailySeries: 1000000
wholeHistograms: true
tenants:
  maxTenants: 3
  default: {{maxHourlySeries: 20}}
  overrides: {{grows: {{maxHourlySeries: 1000000, maxDailySeries: 1000000}}}}
limits:
  - {{name: per-job, match: '{{job!=""}}', each: [job], maxHourlySeries: 1000000, 
     overrides: [{{group: {{job: sick}}, maxHourlySeries: 30, maxDailySeries: 25}}]}}
  - {{name: per-team, match: '{{job!=""}}', each: [job], perTenant: true, maxHourlySeries: 1000000}}
  - {{name: per-metric, each: [__name__], mode: observe, maxHourlySeries: 5}}
exempt: [up]
ignoreLabels: [replica]
state: {{dir: {state}, interval: 500ms}}
"""

OBSERVING = """
mode: observe
maxHourlySeries: 10
seriesSet: exact
maxActiveSeries: 10
warmStart: {{url: 'http://127.0.0.1:{nobody}', timeout: 1s}}
upstream: {{url: '{store}', protocol: v1}}
server: {{maxConnections: 4, idleTimeout: 1s}}
admin: {{listen: '127.0.0.1:0'}}
state: {{dir: {state}, interval: 500ms}}
"""

FLEET = """
maxHourlySeries: 32000
limits: [{name: few, match: '{kind="few"}', each: [turn], maxHourlySeries: 50}]
"""

CONFIG = """
global: {{scrape_interval: 500ms, evaluation_interval: 500ms}}
rule_files: {rules}
scrape_configs:
  - job_name: seriesgate
    static_configs: [{{targets: {targets}}}]
  - job_name: secured
    scheme: https
    tls_config: {{ca_file: {authority}}}
    static_configs: [{{targets: ['127.0.0.1:{secured}']}}]
  - job_name: other
    static_configs: [{{targets: ['127.0.0.1:{own}']}}]
"""


class WatchedGates:
    """Three gates of their own (one with limits, one that observes and has everything against it, one with TLS) and two that
    share their limits. `start_gate` and `keep` are those of fixtures.py; stop() ends the load."""

    def __init__(self, start_gate, keep, folder):
        self._ended, self._failure = threading.Event(), None
        self._cycle, self._idle, self._began, self._is_away = 0, None, time.monotonic(), False
        self._stores = [keep(Upstream(handler=self._answer)), keep(Upstream(handler=self._replica_answer))]
        urls = {"store": self._stores[0].url, "replica": self._stores[1].url, "nobody": free_port()}
        self.limited = start_gate(config=LIMITED.format(state=folder / "state", **urls))
        (folder / "blocked" / "state" / "in the way").mkdir(parents=True)
        self.observing = start_gate(config=OBSERVING.format(state=folder / "blocked", **urls))
        secured = Secured(folder)
        self.secured = start_gate(secured.web(), "--upstream.url=discard:", "--maxHourlySeries=10",
                                  authority=str(secured.authority.certificate))
        self.shared_store = keep(SharedStore("redis", folder))
        self.fleet = keep(SharedFleet(start_gate, folder, self.shared_store, FLEET, gates=2, timeout="500ms",
                                      onUnavailable="local", reserve="5%"))
        gates = [self.limited, self.observing, *self.fleet.gates]
        targets = [f"127.0.0.1:{gate.admin_address[1]}" for gate in gates] + [f"127.0.0.1:{urls['nobody']}"]
        self.server = keep(Prometheus(folder, lambda own: CONFIG.format(
            rules=json.dumps([str(file) for file in RULES]), targets=json.dumps(targets), own=own,
            authority=secured.authority.certificate, secured=self.secured.address[1])))
        eventually(lambda: len(self.query("seriesgate_build_info")) == 5, "all are scraped", 30)
        self._sender = threading.Thread(target=self._load, daemon=True)
        self._sender.start()

    # --- what is asked

    def query(self, expression, **further):
        """The result of an instant query: a list of {metric, value}."""
        return json.loads(self.server.get("/api/v1/query", query=expression, **further))["data"]["result"]

    def values_of(self, selector, label):
        found = json.loads(self.server.get("/api/v1/series", **{"match[]": selector}))["data"]
        return sorted({series[label] for series in found if label in series})

    def goes_on(self):
        """Fails if the load has ended."""
        if self._failure:
            raise AssertionError("the load has failed") from self._failure

    # --- the load

    def _load(self):
        try:
            while not self._ended.is_set():
                self._cycle += 1
                self._write_to_limited()
                self._write_to_observing()
                self._write_to_secured()
                self._write_to_fleet()
        except BaseException as failure:
            if not self._ended.is_set():
                self._failure = failure

    def _fresh(self, count, **labels):
        """Series that have not been before."""
        return traffic.numbered(count, start=self._cycle * 100, **labels)

    def _write_to_limited(self):
        gate, n = self.limited, self._cycle
        for tenant in TENANTS:
            gate.send(traffic.body(self._fresh(6)), [(traffic.TENANT, tenant)])
        grows = [(traffic.TENANT, "grows")]
        gate.send(traffic.body(self._fresh(5, job="well", name=f"n{n}")), grows)
        gate.send(traffic.body(self._fresh(5, job="sick", name=f"n{n}")), grows)
        gate.send(traffic.body([{"__name__": "up", "instance": str(n), "replica": "a"}]), grows)
        begun = [{"__name__": "latency_bucket", "job": "sick", "le": str(bound)} for bound in range(n + 1)]
        gate.send(traffic.body(begun), grows)
        gate.send(wire.pack(wire.metadata("m")), grows)
        symbols = wire_v2.Symbols()
        exemplar = wire_v2.exemplar(symbols, trace="t")
        native = wire_v2.series(symbols, {"__name__": "native", "n": str(n)}, wire_v2.histogram(), exemplar)
        gone = wire_v2.series(symbols, {"__name__": "gone", "n": str(n)}, exemplar)
        gate.send(wire.pack(symbols.encode() + native + gone), [*wire_v2.HEADERS, *grows])
        gate.send(b"\x04bad", grows)
        gate.send(traffic.body([{"__name__": "broken", "": "label"}]), grows)
        gate.send(traffic.body(self._fresh(1)), [*grows, ("Sec-Fetch-Site", "cross-site")])

    def _write_to_observing(self):
        gate = self.observing
        gate.send(traffic.body(self._fresh(5)))
        symbols = wire_v2.Symbols()
        custom = wire.field(wire_v2.HISTOGRAMS, wire.number_field(1, 1) + wire.number_field(4, 105))
        body = b"".join(wire_v2.series(symbols, labels, entry) for labels, entry in [
            ({"__name__": "custom"}, custom), ({"job": "nameless"}, wire_v2.sample()),
            ({"__name__": "m", "n": str(self._cycle)}, wire_v2.sample())])
        gate.send(wire.pack(symbols.encode() + body), wire_v2.HEADERS)
        if self._cycle % 10 == 1:
            gate.reload("maxHourlySeries: many\n")
            self.limited.reload(self.limited.config_file.read_text())
        if self._cycle % 20 == 5:
            self._fill(gate)
        elif self._cycle % 20 == 10:
            self._idle = gate.client()
            self._idle.write(traffic.body(self._fresh(1)))

    @staticmethod
    def _fill(gate):
        """More connections than it takes: idle ones make room for others, and who comes while all are at work is turned away."""
        idle, working = ([gate.raw() for _ in range(5)] for _ in range(2))
        for each in working:
            each.send_what_it_takes(client.head(headers=[("Content-Length", "1000")]))
        time.sleep(0.1)
        for each in [*idle, *working]:
            each.close()

    def _write_to_secured(self):
        self.secured.send(traffic.body(self._fresh(5)))
        try:
            client.get(self.secured.address, "/")
        except (OSError, http.client.HTTPException):
            pass  # plain HTTP: told so, or closed

    def _write_to_fleet(self):
        seconds = int(time.monotonic() - self._began)  # a cycle may take a tenth of one
        if self._is_away != (seconds % 30 >= 25):
            self._is_away = not self._is_away
            self.shared_store.kill() if self._is_away else self.shared_store.restart()
        for ordinal in range(2):
            self.fleet.offer(ordinal, self._fresh(5))
            # Each budget is spent after five cycles; then nobody asks for it until the next one.
            self.fleet.offer(ordinal, self._fresh(5, gate=str(ordinal), kind="few", turn=str(seconds // 10)))

    def _answer(self, request):
        """Of the store: mostly success."""
        if self._cycle % 5 == 0:
            return (Answer(400, body=b"out of order\n"), Answer(503), Answer(cut=0))[self._cycle // 5 % 3]
        written = request.get("X-Prometheus-Remote-Write-Version") == "2.0.0" and self._cycle % 2
        return Answer(204, [("X-Prometheus-Remote-Write-Samples-Written", "0")] if written else [])

    def _replica_answer(self, _request):
        return Answer(cut=0) if self._cycle % 3 == 0 else Answer((204, 500)[self._cycle % 2])

    # --- its life

    def stop(self):
        self._ended.set()
        self._sender.join(60)


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
def scene(start_gate, keep, tmp_path):
    return keep(WatchedGates(start_gate, keep, tmp_path))


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
          "SeriesgatePartlyWritten", "SeriesgateSeriesRefused", "SeriesgateGlobalRefused", "SeriesgateTenantRefused",
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

    def seen():
        found = {"tenant": set(), "limit": set()}
        for target in TARGETS:
            if {"tenant", "limit"} & dashboards.variables_in(target.text):
                for sample in asked(scene, dashboards.substituted(target.text, chosen, offered)):
                    for name in found.keys() & sample["metric"].keys() & dashboards.variables_in(target.text):
                        found[name].add(sample["metric"][name])
        return found

    expected = {"tenant": {"team.a+b", "grows"}, "limit": {"per-team", "per-job", "tenant"}}
    eventually(lambda: seen() == expected, f"{expected}, and no others", 30, every=0.5)
    # Other jobs have processes, too.
    texts = [target.text for target in TARGETS if "process_" in target.text]
    assert len(texts) == 4
    eventually(lambda: len(asked(scene, "process_open_fds")) == 6, "all processes", 20, every=0.5)
    for text in texts:
        chosen_jobs = dashboards.substituted(text, {}, {"job": ["secured", "seriesgate"]})
        eventually(lambda: len(asked(scene, chosen_jobs)) == 5, text, 20, every=0.5)
