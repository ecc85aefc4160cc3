"""The tables of failure modes in docs/operation.md name lines, metrics, alerts and reasons that there are."""

import re

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
