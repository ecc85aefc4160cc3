"""What is started and what is wrong with it is told, and no secret with it. The rest: tests/scenes/test_effective.py."""

import subprocess

import pytest

from gate import BINARY, run
from tables import check_rows, named

pytestmark = pytest.mark.one_thread

FORMS = pytest.mark.parametrize("form", ["logfmt", "json"])
TOKEN = "opensesame"
URL = f"http://127.0.0.1:1/write?extra_label=a=b&token={TOKEN}"


def log_in(form):
    return f"log: {{format: {form}, level: info}}\n"


@FORMS
def test_the_first_line_says_what_was_started(start_gate, tmp_path, form):
    config = log_in(form) + f"""
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


WRONG_FILES = [
    f"upstream: '{URL}'\n",
    f"upstream: ['{URL}']\n",
    f"upstream: {{? '{URL}'}}\n",
    f"upstream: {{url: ['{URL}']}}\n",
    f"upstream: {{url: 'ftp://h/w?token={TOKEN}'}}\n",
    f"upstream: {{url: 'http://u:{TOKEN}@h/w'}}\n",
    f"upstream: {{url: 'http://u:{TOKEN}@h:99999/w?a'}}\n",
    f"upstream: {{url: 'http://h:99999/w?{TOKEN}'}}\n",
    f"upstream: {{url: 'http://h/w?{TOKEN} x#{TOKEN}'}}\n",
    f"upstream: {{url: 'h:8428/w?token={TOKEN}'}}\n",
    f"upstream: 'h:8428/w?token={TOKEN}'\n",
    f"upstream: {{uri: '{URL}'}}\n",
    f"'{URL}': x\n",
    f"remote_write: [{{url: '{URL}'}}]\n",
    f"listen: '{URL}'\nupstream: {{url: 'discard:'}}\n",
    f"upstream: {{url: '{URL}', forwardQuery: '{URL}'}}\n",
    f"upstream: {{url: '{URL}'}}\nmaxHourlySeries: many\n",
    f"upstream: {{url: '{URL}'}}\nserver: {{maxRequestBytes: 1GiB}}\n",
    f"upstream: {{url: {URL}\n",
    f"upstream:\n\turl: {URL}\n",
    f"upstream:\n  url: \"{URL}\n",
]


def test_what_is_wrong_with_a_file_is_told_without_secrets(tmp_path):
    file = tmp_path / "gate.yaml"

    def is_told(text):
        file.write_text(text)
        for flags in ((), ("--check-config",)):
            done = run(f"--config.file={file}", *flags)
            assert done.returncode == 1
            assert done.stderr and TOKEN not in done.stdout + done.stderr

    check_rows(named(WRONG_FILES), is_told)


WRONG_FLAGS = [
    (URL,), (f"--upstream.urll={URL}",), (f"--listen={URL}", "--upstream.url=discard:"),
    (f"--upstream.url={URL}", "--maxHourlySeries=x"), (f"--upstream.url=http://u:{TOKEN}@h/w",),
    (f"--upstream.url={URL}", f"--upstream.url={URL}"), (f"--upstream.url=ftp://h/w?{TOKEN}",),
    (f"--upstream.url={URL}", "--listen=240.0.0.1:1"), (f"--config.file={URL}",)]


def test_what_is_wrong_with_a_command_line_is_told_without_secrets():
    def is_told(flags):
        done = run(*flags)
        assert done.returncode != 0
        assert done.stderr and TOKEN not in done.stdout + done.stderr

    check_rows(named(WRONG_FLAGS), is_told)
