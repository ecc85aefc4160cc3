"""monitoring/dashboard.json is well formed, and what its variables stand for is what Grafana makes of them."""

import re

import pytest

import dashboards
import documents
import rule_tests
from dashboards import DASHBOARD, PANELS, ROWS, TARGETS, VARIABLES
from gate import REPOSITORY
from rule_tests import ALERTS, RECORDS
from tables import check_rows

pytestmark = pytest.mark.text

BY_TITLE = {panel["title"]: panel for panel in PANELS}  # their titles differ, see the first test


def test_panels_are_told_apart_and_each_has_its_place():
    everything = [*ROWS, *PANELS]
    assert len({panel["id"] for panel in everything}) == len(everything)
    assert len({panel["title"] for panel in everything}) == len(everything)
    taken = {}
    for panel in everything:
        at = panel["gridPos"]
        assert 0 <= at["x"] and at["x"] + at["w"] <= 24 and at["w"] > 0 and at["h"] > 0, panel["title"]
        for cell in [(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])]:
            assert cell not in taken, (panel["title"], taken[cell])
            taken[cell] = panel["title"]


def test_rows_come_in_the_order_of_an_operators_questions():
    assert [row["title"] for row in ROWS] == [
        "Is anything refused?", "Who?", "The hour and the day", "Time to exhaustion", "Data path: senders",
        "Data path: the store", "The gate itself", "Fleet: gates that share their limits"]
    places = [(panel["gridPos"]["y"], panel["gridPos"]["x"]) for panel in DASHBOARD["panels"]]
    assert places == sorted(places)


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


def families(gate):
    """Names of all families of a gate in a fleet, also of those that have nothing to show."""
    text = gate.get("/metrics").body.decode()
    pinned = (REPOSITORY / "tests/fleet/fleet_exposition_test.cpp").read_text().split("TEST_CASE")[1]
    shared = {name.removesuffix("_count") for name in re.findall(r'"(seriesgate_shared_\w+)', pinned)}
    return set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE)) | shared


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


# --- values in expressions

def test_values_are_escaped_as_grafana_does():
    written = {"shop": "shop", "a.b": r"a\\.b", "a+(b)|c": r"a\\+\\(b\\)\\|c", "back\\slash": "back\\\\\\\\slash",
               "[x]{2}^$*?": r"\\[x\\]\\{2\\}\\^\\$\\*\\?"}
    assert {value: dashboards.escaped(value) for value in written} == written


def test_variables_are_replaced_as_grafana_does():
    text, offered = 'm{job=~"$job",tenant=~"${tenant}"}[$__rate_interval]', {"job": ["a", "b.c"]}
    assert dashboards.substituted(text, {}, offered) == r'm{job=~"(a|b\\.c)",tenant=~".*"}[5s]'
    assert dashboards.substituted(text, {"job": ["b.c"], "tenant": ["x", "y"]}, offered) == r'm{job=~"b\\.c",tenant=~"(x|y)"}[5s]'
