"""The tables of failure modes in docs/operation.md name lines, metrics, alerts and reasons that there are; and what
docs/stats.schema.json and docs/stats.md say of /stats, as far as no gate is needed to know that it is so."""

import copy
import json
import re

import jsonschema
import pytest
import yaml

from fault_list import FAULTS
from gate import REPOSITORY

pytestmark = pytest.mark.text

TEXT = (REPOSITORY / "docs/operation.md").read_text()
SECTION = TEXT.partition("## Failure modes\n")[2].partition("\n## ")[0]
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in SECTION.splitlines()
        if line.startswith("| ") and not line.startswith("| fault |")]


def named(column):
    """What stands in backquotes in a column of all rows."""
    return {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[column])}


def test_every_row_is_whole():
    assert len(ROWS) > 20
    assert all(len(row) == 6 for row in ROWS), [row for row in ROWS if len(row) != 6]


def test_lines_of_the_log_are_in_its_table():
    lines = set(re.findall(r"^\| `([^`]+)` \|", (REPOSITORY / "docs/logs.md").read_text(), re.MULTILINE))
    reasons = set(re.findall(r"^\| `(\w+)` \|", (REPOSITORY / "docs/stats.md").read_text(), re.MULTILINE))
    for name in named(2):
        if name.startswith("reason="):
            assert name.removeprefix("reason=") in reasons, name
        elif name.startswith("msg="):
            assert name[5:-1] in lines, name
        elif not name.startswith("senders="):
            assert name in reasons, name


def test_metrics_are_in_their_table():
    families = set(re.findall(r"`seriesgate_(\w+)`", (REPOSITORY / "docs/stats.md").read_text()))
    assert {name for name in named(3) if not name.startswith("process_")} <= families


def test_alerts_are_in_their_file():
    rules = yaml.safe_load((REPOSITORY / "monitoring/alerts.yaml").read_text())
    alerts = {rule.get("alert") for group in rules["groups"] for rule in group["rules"]}
    assert {f"Seriesgate{name}" for name in named(4)} <= alerts


def test_what_the_suite_provokes_has_a_row():
    for reason, status in {(fault.reason, fault.status) for fault in FAULTS if fault.reason}:
        rows = [row for row in ROWS if f"reason={reason}" in row[2]]
        assert any(row[1].startswith(str(status)) for row in rows), (reason, rows)


# --- /stats

SCHEMA = json.loads((REPOSITORY / "docs/stats.schema.json").read_text())
PAGE = (REPOSITORY / "docs/stats.md").read_text()


def test_the_part_about_a_fleet_takes_no_other_key_and_needs_each():
    validator = jsonschema.Draft202012Validator({"$defs": SCHEMA["$defs"], **SCHEMA["properties"]["shared"]})
    # As tests/admin/stats_test.cpp has it.
    part = {"state": "joined", "namespace": "shop", "gates": [{"name": "gate-1", "version": "1.2.3", "seenSecondsAgo": 0}],
            "claims": 8, "known": 100, "taken": 20, "completed": 1, "refused": 3, "unanswered": 5, "alone": 6, "untold": 4,
            "losses": 1, "waiting": 2,
            "clockOffsetSeconds": -1.5, "latencySeconds": 0.25}
    validator.validate(part)
    for there in (lambda whole: whole, lambda whole: whole["gates"][0]):
        more = copy.deepcopy(part)
        there(more)["another"] = 0
        assert not validator.is_valid(more), more
        for key in there(part):
            less = copy.deepcopy(part)
            del there(less)[key]
            assert not validator.is_valid(less), key
    for state in ("joining", "away"):
        validator.validate(part | {"state": state})
    assert not validator.is_valid(part | {"state": "gone"})


# --- the documentation

def keys_of(schema, path=""):
    """Every key that is no object with keys of its own, as the table has it: `windows.*.start`, `tenants[].mode`."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "items" in schema:
        return keys_of(schema["items"], path + "[]")
    if "properties" not in schema:
        return {path}
    return {key for name, inner in schema["properties"].items()
            for key in keys_of(inner, f"{path}.{'*' if name in ('hourly', 'daily', 'active') else name}".lstrip("."))}


def keys_documented():
    table = PAGE[PAGE.index("| key |"):].split("\n\n")[0]
    return [key for row in table.splitlines()[2:] for key in re.findall(r"`([^`]+)`", row.split("|")[1])]


def test_every_key_is_documented_once_and_nothing_else_is():
    assert sorted(keys_documented()) == sorted(keys_of(SCHEMA))
