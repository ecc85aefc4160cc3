"""The first line of the log says what was started. The rest: tests/scenes/test_effective.py, test_secrets.py."""

import subprocess

import pytest

from gate import BINARY

pytestmark = pytest.mark.one_thread


@pytest.mark.parametrize("form", ["logfmt", "json"])
def test_the_first_line_says_what_was_started(start_gate, tmp_path, form):
    config = f"""
log: {{format: {form}, level: info}}
upstream: {{url: "http://127.0.0.1:1/write?token=sesame"}}
maxHourlySeries: 1000
mode: observe
tenants: {{default: {{maxDailySeries: 70}}, overrides: {{a: {{}}, b: {{}}}}}}
limits: [{{name: per-job, each: [job]}}, {{name: other, mode: observe}}]
state: {{dir: {tmp_path}/state}}
server: {{threads: 3}}
"""
    gate = start_gate(config=config)
    event, = gate.said("seriesgate is up")
    threads = 3 if form == "json" else "3"
    assert {key: value for key, value in event.items() if key not in ("ts", "version")} == {
        "level": "info", "msg": "seriesgate is up", "listen": f"127.0.0.1:{gate.address[1]}",
        "admin_listen": f"127.0.0.1:{gate.address[1]}", "tls": "no", "authentication": "none",
        "upstream": "http://127.0.0.1:1/write?<secret>", "protocol": "passthrough", "mode": "observe",
        "max_hourly_series": "1000", "max_daily_series": "no limit",
        "tenants": "each 70 a day; 2 overrides", "limits": "2: per-job, other (observe)",
        "state": f"{tmp_path}/state", "threads": threads, "config_file": str(gate.config_file)}
    assert event["version"] == subprocess.run([BINARY, "--version"], capture_output=True, text=True,
                                              check=True).stdout.split()[1]
