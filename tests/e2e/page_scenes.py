"""What the tests of the status page in a browser share."""

import pytest

from browser import Browser
from traffic import TENANT, body

NAME = "http_requests_total"
#: With some budgets beside the limit.
LIMITED = "maxHourlySeries: 500\nlimits: [{name: per-job, each: [job], maxHourlySeries: 1000}]\n"


@pytest.fixture
def open_page(tmp_path):
    """open_page(gate, **how): a browser that shows the gate's page, and at the end has complained of nothing."""
    opened = []

    def start(gate, path="/", **how):
        shown = Browser(tmp_path / f"browser-{len(opened)}", **how)
        opened.append(shown)
        shown.open(f"http://127.0.0.1:{gate.admin_address[1]}{path}")
        return shown

    yield start
    try:
        for shown in opened:
            assert [each for each in shown.complaints() if not shown.may_complain(each)] == []
    finally:
        for shown in opened:
            shown.stop()


def explode(gate, count=3000, tenant=None, agent="Prometheus/3.5.0", **labels):
    headers = [("User-Agent", agent)] + ([(TENANT, tenant)] if tenant else [])
    for start in range(0, count, 1000):
        series = [{"__name__": NAME, "job": "shop", "instance": f"10.1.0.{i % 5}:80", "trace_id": f"{i:032x}", **labels}
                  for i in range(start, min(start + 1000, count))]
        assert gate.send(body(series), headers).status == 204


def rows(shown):
    return shown.run("return [...document.querySelectorAll('#budget-rows tr')]"
                     ".map((row) => [...row.cells].map((cell) => cell.textContent))")
