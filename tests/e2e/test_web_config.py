"""--web.config.file: what is wrong with it before the start (key by key: tests/config/load_web_test.cpp); curl, and
what a password costs. The rest: tests/scenes/test_authentication.py."""

import os
import subprocess

import documents
from bounds import cpu_seconds
from certificates import Authority
from gate import run
from tables import check_rows
from web_files import ALICE, basic, users


def check(tmp_path, text):
    """@return exit status, and the lines about the file"""
    file = tmp_path / "web.yml"
    file.write_text(text)
    done = run("--upstream.url=discard:", f"--web.config.file={file}", "--check-config")
    return done.returncode, [line.replace(str(file), "web.yml") for line in done.stderr.splitlines()]


NO_TOKEN = "names a file that holds no token: a token has no spaces, and nothing but ASCII"
TOKENS = {"none": (None, "cannot be read: No such file or directory"), "empty": (b"", "names an empty file"),
          "an empty line": (b"\n", "names an empty file"), "5000 bytes": (b"x" * 5000, "names a file with more than 4096 bytes"),
          "two words": (b"hunter2 hunter2", NO_TOKEN), "no ASCII": (b"hunter2\xff", NO_TOKEN)}


def test_a_file_that_holds_no_token_is_told_without_what_it_holds(tmp_path):
    def is_told(content, what):
        if content is not None:
            (tmp_path / "t").write_bytes(content)
        assert check(tmp_path, "bearer_tokens:\n- name: ci\n  token_file: t\n") == (
            1, [f"web.yml:3: bearer_tokens[0].token_file: {what}"])

    check_rows(TOKENS, is_told)


def test_the_example_of_the_document_passes(tmp_path):
    example, = documents.blocks("yml")
    (tmp_path / "web.yml").touch(0o600), (tmp_path / "shop.token").touch(0o600)
    (tmp_path / "shop.token").write_text("t0ken\n")
    issued = Authority(tmp_path).issue("localhost")
    issued.certificate.rename(tmp_path / "server.crt"), issued.key.rename(tmp_path / "server.key")
    assert check(tmp_path, example.text) == (0, [])


def test_a_file_that_is_not_there_or_cannot_be_read_again_keeps_the_gate_from_starting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    devices = dict.fromkeys(("/dev/stdin", "/dev/null", tmp_path / "pipe"),
                            "is not a regular file: what comes from a pipe or a device cannot be read again")
    for file, why in {tmp_path / "web.yml": "cannot be read: No such file or directory", **devices}.items():
        done = run("--upstream.url=discard:", "--listen=127.0.0.1:0", f"--web.config.file={file}", input=users(ALICE))
        assert (done.returncode, done.stderr) == (1, f"{file}: {why}\n")


# --- who may ask

def test_curl_is_let_in(guarded):
    gate = guarded(users(ALICE))

    def curl(*flags):
        done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", *flags, gate.url + "/stats"],
                              capture_output=True, text=True, timeout=30, check=True)
        return done.stdout

    assert curl("-u", "alice:secret") == "200"
    assert curl("-u", "alice:wrong") == "401"
    assert curl("--anyauth", "-u", "alice:secret") == "200"
    assert curl() == "401"


def test_a_user_that_there_is_not_takes_as_much_as_one_that_there_is(guarded):
    gate = guarded(users(ALICE))

    def ask(header):
        with gate.client() as client:
            return client.request("GET", "/stats", headers=[header]).status

    def cost(user, at):
        began = cpu_seconds(gate)
        assert ask(basic(user, f"wrong{at}")) == 401
        return cpu_seconds(gate) - began

    assert ask(basic(ALICE)) == 200
    rounds = [{user: cost(user, at) for user in ("alice", "eve")} for at in range(5)]
    spent = {user: sum(each[user] for each in rounds) for user in ("alice", "eve")}
    assert spent["eve"] > 0 and 0.5 < spent["alice"] / spent["eve"] < 2, spent


# --- files with passwords and tokens for stores that are no good

def test_files_that_are_no_good_are_told_before_the_start(tmp_path):
    file = tmp_path / "gate.yaml"
    missing = tmp_path / "missing"
    (tmp_path / "empty").write_text("\n")
    file.write_text(f"""upstream:
  url: http://127.0.0.1:1/w
  basicAuth: {{username: gate, passwordFile: {missing}}}
  replicateTo:
    - {{url: 'http://127.0.0.1:1/w', bearerTokenFile: {tmp_path / 'empty'}}}
    - {{url: 'https://127.0.0.1:2/w', tls: {{caFile: {missing}}}}}
""")
    lines = [f"{file}: upstream.basicAuth.passwordFile: cannot read {missing}: No such file or directory",
             f"{file}: upstream.replicateTo[0].bearerTokenFile: {tmp_path / 'empty'} is empty",
             f"{file}: upstream.replicateTo[1].tls: cannot read {missing}: No such file or directory"]
    for flags in ([], ["--check-config"]):
        result = run(f"--config.file={file}", *flags)
        assert (result.returncode, result.stdout, result.stderr.splitlines()) == (1, "", lines)
