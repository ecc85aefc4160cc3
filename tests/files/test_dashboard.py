"""monitoring/dashboard.json is well formed, its variables are those of Grafana, and README.md says what it shows."""

import itertools
import json
import re
import shutil
import subprocess

import pytest

import dashboards
import documents
import rule_tests
from dashboards import DASHBOARD, PANELS, ROWS, TARGETS, VARIABLES
from gate import REPOSITORY
from rule_tests import ALERTS, RECORDS
from tables import check_rows

pytestmark = pytest.mark.text

README = REPOSITORY / "monitoring/README.md"
BY_TITLE = {panel["title"]: panel for panel in PANELS}  # their titles differ, see the first test


def test_panels_are_told_apart_and_each_has_its_place_in_the_order_in_which_they_are_read():
    everything = [*ROWS, *PANELS]
    assert len({panel["id"] for panel in everything}) == len(everything)
    assert len({panel["title"] for panel in everything}) == len(everything)
    for panels in (DASHBOARD["panels"], *([row, *row["panels"]] for row in ROWS)):  # what is seen, and each row once it is unfolded
        assert panels == sorted(panels, key=lambda panel: (panel["gridPos"]["y"], panel["gridPos"]["x"]))
        taken = {}
        for panel in panels:
            at = panel["gridPos"]
            assert 0 <= at["x"] and at["x"] + at["w"] <= 24 and at["w"] > 0 and at["h"] > 0, panel["title"]
            for cell in itertools.product(range(at["x"], at["x"] + at["w"]), range(at["y"], at["y"] + at["h"])):
                assert taken.setdefault(cell, panel["title"]) == panel["title"]


def test_the_first_three_rows_are_open_and_the_others_ask_nothing_until_they_are():
    """Grafana keeps the panels of a folded row in the row, and those of an open one behind it."""
    assert [row["collapsed"] for row in ROWS] == [False] * 3 + [True] * 5
    assert all(bool(row["panels"]) == row["collapsed"] for row in ROWS)
    assert sum(len(row["panels"]) for row in ROWS) > len(PANELS) / 2
    for row in ROWS[3:]:
        assert row["panels"][0]["gridPos"]["y"] == row["gridPos"]["y"] + row["gridPos"]["h"]


def test_a_panel_says_what_it_shows_and_in_what():
    def says_it(panel):
        assert re.match(r"[A-Z`].*[.]$", panel["description"], re.DOTALL), panel["description"]
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"] in ("short", "percentunit", "s", "bytes", "Bps", "cps", "reqps", "dateTimeFromNow")
        assert defaults["thresholds"]["steps"][0]["value"] is None
        assert panel["links"]

    check_rows(BY_TITLE, says_it)


def test_a_target_has_an_expression_and_the_chosen_data_source():
    def has_them(panel):
        assert panel["targets"]
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
        for part in (panel, *panel["targets"]):
            assert part["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        for target in panel["targets"]:
            assert target["expr"].strip()
            assert dashboards.variables_in(target["expr"]) <= {*VARIABLES, *dashboards.BUILT_IN}

    check_rows(BY_TITLE, has_them)


def test_links_lead_to_documents_that_there_are():
    links = [link["url"] for part in (DASHBOARD, *PANELS) for link in part["links"]]
    for url in links:
        file, _, anchor = url.removeprefix("${docs}/").partition("#")
        assert url.startswith("${docs}/docs/")
        assert not anchor or anchor in documents.anchors((REPOSITORY / file).read_text()), url


def test_variables_are_those_of_the_gates():
    assert list(VARIABLES) == ["datasource", "job", "instance", "tenant", "limit", "docs"]
    for name in ("job", "instance", "tenant", "limit"):
        variable = VARIABLES[name]
        assert dashboards.label_values(name)[1] == name
        assert variable["multi"] and variable["includeAll"] and variable["definition"] == variable["query"]["query"]
    # Of jobs All is no more than those of gates: process_* and up are everybody's.
    assert "allValue" not in VARIABLES["job"]
    for target in TARGETS:
        if re.search(r"\b(process_\w+|up)\b", target.text):
            assert 'job=~"$job"' in target.text, target.name


# --- values in expressions

def test_values_are_escaped_as_grafana_does():
    written = {"shop": "shop", "a.b": r"a\\.b", "a+(b)|c": r"a\\+\\(b\\)\\|c", "back\\slash": "back\\\\\\\\slash",
               "[x]{2}^$*?": r"\\[x\\]\\{2\\}\\^\\$\\*\\?"}
    assert {value: dashboards.escaped(value) for value in written} == written


def test_variables_are_replaced_as_grafana_does():
    text, offered = 'm{job=~"$job",tenant=~"${tenant}"}[$__rate_interval]', {"job": ["a", "b.c"]}
    assert dashboards.substituted(text, {}, offered) == r'm{job=~"(a|b\\.c)",tenant=~".*"}[5s]'
    assert dashboards.substituted(text, {"job": ["b.c"], "tenant": ["x", "y"]}, offered) == r'm{job=~"b\\.c",tenant=~"(x|y)"}[5s]'


# --- what they show

#: What is in neither an alert nor a panel.
NOT_WATCHED = {
    "seriesgate_connections_accepted_total",  # the panel "Connections" has those that are open
    "seriesgate_markers_written_total", "seriesgate_markers_failed_total",  # no data of senders
    "seriesgate_proxy_headers_total",  # the log names those that fail
    "seriesgate_query_arguments_dropped_total", "seriesgate_warm_start_series_total",
}


def test_every_counter_is_in_an_alert_or_a_panel():
    counters = set(re.findall(r"`(seriesgate_\w+_total)`", (REPOSITORY / "docs/stats.md").read_text()))
    texts = [*(target.text for target in TARGETS), *(rule["expr"] for rule in [*ALERTS.values(), *RECORDS])]
    watched = set().union(*map(rule_tests.metric_names, texts))
    assert len(counters) > 50 and counters - watched == NOT_WATCHED


def test_of_no_samples_no_share_is_refused(tmp_path):
    text, = (dashboards.substituted(target.text, {}, {"job": ["gate"]}) for target in TARGETS
             if target.panel == "Share of samples refused")

    def gate(received, refused):
        return {f'seriesgate_samples_{name}_total{{job="gate",instance="a"}}': values
                for name, values in (("received", received), ("refused_by_limits", refused))}

    rule_tests.check(tmp_path, *(
        rule_tests.scenario(name, series, rule_tests.asks(text, 1, ("{}", share)), interval="1s")
        for name, series, share in (("idle", gate("7x90", "2x90"), 0), ("a tenth", gate("0+100x90", "0+10x90"), 0.1))))


def test_each_reload_is_marked_with_scrapes_of_a_minute(tmp_path):
    """Wherever scrapes lie between the moments that Grafana asks for."""
    reloads, = (each for each in DASHBOARD["annotations"]["list"] if each["name"] == "Reloads")
    text = dashboards.substituted(reloads["expr"], {}, {"job": ["gate"]})
    scrapes = range(1, 20)
    series = {f'seriesgate_config_last_reload_success_timestamp_seconds{{job="gate",instance="{at}"}}': f"1x{at - 1} 2x{40 - at}"
              for at in scrapes}
    rule_tests.check(tmp_path, rule_tests.scenario("reloads", series, rule_tests.asks(
        f"count(count_over_time(({text})[30m:{reloads['step']}]))", 30, ("{}", len(scrapes))), interval="59s"))


# --- what the README says

def test_the_readme_says_what_each_panel_answers():
    text = README.read_text().partition("\n## The dashboard\n")[2]
    rows = re.findall(r"^- \*\*(.+?)\*\*: (\S.*)$", text, re.MULTILINE)
    assert [title for title, _ in rows] == [panel["title"] for panel in PANELS]
    assert re.findall(r"^### (.*)$", text, re.MULTILINE) == [row["title"] for row in ROWS]


def test_the_readmes_configuration_and_its_rules_are_those_of_a_prometheus(tmp_path):
    block, = re.findall(r"^```yaml\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "prometheus.yml").write_text(block)
    (tmp_path / "seriesgate").symlink_to(REPOSITORY / "monitoring")
    for asked in (("config", tmp_path / "prometheus.yml"), ("rules", *rule_tests.FILES)):
        status, text = rule_tests.promtool("check", *asked)
        assert status == 0 and all(f"{len(rules)} rules found" in text for rules in (RECORDS, ALERTS)), text


def test_links_lead_to_the_documents_of_the_package_until_they_are_set():
    assert VARIABLES["docs"]["query"] == VARIABLES["docs"]["current"]["value"] == VARIABLES["docs"]["current"]["text"] == rule_tests.DOCUMENTS
    installed = (REPOSITORY / "debian/docs").read_text().split()
    assert {"README.md", "docs"} <= set(installed)  # into /usr/share/doc/seriesgate
    source = re.search(r"^Package: (\S+)$", (REPOSITORY / "debian/control").read_text(), re.MULTILINE)[1]
    assert rule_tests.DOCUMENTS == f"file:///usr/share/doc/{source}"


def test_one_command_of_the_readme_sets_all_links(tmp_path):
    shutil.copytree(REPOSITORY / "monitoring", tmp_path / "monitoring")
    command, = re.findall(r"^sed .*$", README.read_text(), re.MULTILINE)
    subprocess.run(["bash", "-ec", command], cwd=tmp_path, check=True, timeout=10)
    place = "https://git.example/seriesgate/blob/main"
    urls = [rule["annotations"]["runbook_url"] for rule in rule_tests.rules(tmp_path / "monitoring/alerts.yaml")]
    assert urls == [rule["annotations"]["runbook_url"].replace(rule_tests.DOCUMENTS, place) for rule in ALERTS.values()]
    assert all(url.startswith(f"{place}/docs/runbook.md#") for url in urls)
    changed = json.loads((tmp_path / "monitoring/dashboard.json").read_text())["templating"]["list"][-1]
    assert changed["query"] == changed["current"]["value"] == place
    for file in (tmp_path / "monitoring").glob("*.[yj]*"):
        assert rule_tests.DOCUMENTS not in file.read_text(), file
