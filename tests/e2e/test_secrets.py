"""Secrets in what the binary says of a mistake, and in what the system shows of its process."""

import wire
from gate import run
from tables import check_rows


def test_no_secret_is_on_the_command_line(start_gate, upstream, tmp_path):
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


MISTAKES = [
    ("headers: {X-Key: HIDDEN}", "headers: {'bad name': HIDDEN}"),
    ("headers: {X-Key: HIDDEN}", "headers: 'X-Key: HIDDEN'"),
    ("headers: {X-Key: HIDDEN}", "headers: [HIDDEN]"),
    ("headers: {X-Key: HIDDEN}", "headers: {Host: HIDDEN}"),
    ("headers: {X-Key: HIDDEN}", "headers: {X-Key: \"HIDDEN\\n\"}"),
    ("headers: {X-Key: HIDDEN}", "headers: {X-Key: [HIDDEN]}"),
    ("headers: {X-Key: HIDDEN}", "basicAuth: 'gate:HIDDEN'"),
    ("headers: {X-Key: HIDDEN}", "basicAuth: {username: gate, password: HIDDEN}"),
    ("headers: {X-Key: HIDDEN}", "bearerToken: HIDDEN"),
    ("headers: {X-Key: HIDDEN}", "replicateTo: [{url: 'http://gate:HIDDEN@b/w'}]"),
    ("headers: {X-Key: HIDDEN}", "replicateTo: ['http://b/w?key=HIDDEN']"),
    ("headers: {X-Key: HIDDEN}", "replicateTo: 'http://b/w?key=HIDDEN'"),
]


def test_no_secret_is_said_of_a_mistake(tmp_path):
    file = tmp_path / "gate.yaml"

    def is_not_said(good, bad):
        whole = f"upstream:\n  url: http://a/w?key=HIDDEN\n  {good}\n"
        for text, status in ((whole, 0), (whole.replace(good, bad), 1)):
            file.write_text(text.replace("HIDDEN", "hunter2"))
            result = run(f"--config.file={file}", "--check-config")
            assert result.returncode == status, result
            assert "hunter2" not in result.stdout + result.stderr

    check_rows({bad: (good, bad) for good, bad in MISTAKES}, is_not_said)
