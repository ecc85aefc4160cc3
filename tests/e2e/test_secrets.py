"""Secrets in what the binary says of a mistake, and in what the system shows of its process."""

import pytest

import wire
from gate import run
from tables import check_rows, named

pytestmark = pytest.mark.one_thread

TOKEN = "opensesame"
URL = f"http://127.0.0.1:1/write?extra_label=a=b&token={TOKEN}"


def test_no_secret_is_on_the_command_line_or_said_of_a_good_file(start_gate, upstream, tmp_path):
    (tmp_path / "password").write_text("hunter2")
    gate = start_gate(config=f"""upstream:
  url: '{upstream.url}?key=hunter2'
  basicAuth: {{username: gate, passwordFile: {tmp_path / 'password'}}}
  headers: {{X-Key: hunter2}}
""")
    assert gate.send(wire.pack(wire.sampled("up"))).status == 204
    assert upstream.requests[0].get("X-Key") == "hunter2"
    with open(f"/proc/{gate.pid}/cmdline") as shown:
        assert "hunter2" not in shown.read()
    checked = run(f"--config.file={gate.config_file}", "--check-config")
    assert checked.returncode == 0 and "hunter2" not in checked.stdout + checked.stderr


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
    f"upstream: {{url: '{URL}', headers: {{'bad name': {TOKEN}}}}}\n",
    f"upstream: {{url: '{URL}', bearerToken: {TOKEN}}}\n",
    f"upstream: {{url: '{URL}', replicateTo: [{{url: 'http://gate:{TOKEN}@b/w'}}]}}\n",
    f"upstream: {{url: '{URL}', replicateTo: ['http://b/w?key={TOKEN}']}}\n",
    f"upstream: {{url: '{URL}', replicateTo: 'http://b/w?key={TOKEN}'}}\n",
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
