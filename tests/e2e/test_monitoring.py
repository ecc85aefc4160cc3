"""monitoring/: every expression of the dashboard, of the alerts and of the recording rules has data; what its README says."""

import json
import re
import shutil
import subprocess
import urllib.error

import pytest

import dashboards
import rule_tests
from dashboards import PANELS, ROWS, TARGETS, VARIABLES
from gate import REPOSITORY
from rule_tests import ALERTS, RECORDS
from test_exhaustion import PANELS as EXHAUSTION
from waiting import eventually
from watched_gates import WatchedGates

pytestmark = pytest.mark.text

README = REPOSITORY / "monitoring/README.md"


# --- what the README says

def test_the_readme_says_what_each_panel_answers():
    text = README.read_text().partition("\n## The dashboard\n")[2]
    rows = re.findall(r"^\| \*\*(.+?)\*\* \| (\S.*) \|$", text, re.MULTILINE)
    assert [title for title, _ in rows] == [panel["title"] for panel in PANELS]
    assert re.findall(r"^### (.*)$", text, re.MULTILINE) == [row["title"] for row in ROWS]


def test_the_readmes_configuration_is_one_of_prometheus(tmp_path):
    block, = re.findall(r"^```yaml\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "prometheus.yml").write_text(block)
    (tmp_path / "seriesgate").symlink_to(REPOSITORY / "monitoring")
    status, text = rule_tests.promtool("check", "config", tmp_path / "prometheus.yml")
    assert status == 0, text
    assert f"{len(RECORDS)} rules found" in text and f"{len(ALERTS)} rules found" in text


def test_links_can_be_made_those_of_a_copy_as_the_readme_says(tmp_path):
    shutil.copytree(REPOSITORY / "monitoring", tmp_path / "monitoring")
    commands = re.findall(r"^sed .*$", README.read_text(), re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        subprocess.run(["bash", "-ec", command], cwd=tmp_path, check=True, timeout=10)
    place = "https://git.example/seriesgate/blob/main"
    urls = [rule["annotations"]["runbook_url"] for rule in rule_tests.rules(tmp_path / "monitoring/alerts.yaml")]
    assert urls == [f"{place}/{rule['annotations']['runbook_url']}" for rule in ALERTS.values()]
    changed = json.loads((tmp_path / "monitoring/dashboard.json").read_text())["templating"]["list"][-1]
    assert changed["query"] == changed["current"]["value"] == place


# --- in a real Prometheus

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
