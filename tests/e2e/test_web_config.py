"""--web.config.file: what is wrong with it before the start. Key by key: tests/config/load_web_test.cpp."""

import os

import documents
from certificates import Authority
from gate import run
from tables import check_rows
from web_files import ALICE, users


def check(tmp_path, text):
    """@return exit status, and the lines about the file"""
    file = tmp_path / "web.yml"
    file.write_text(text)
    done = run("--upstream.url=discard:", f"--web.config.file={file}", "--check-config")
    return done.returncode, [line.replace(str(file), "web.yml") for line in done.stderr.splitlines()]


MISTAKES = {
    "no such key": ("basic_users: {}\n", ["web.yml:1: basic_users: unknown key, did you mean 'basic_auth_users'?"]),
    "a password in place of its hash": (
        "basic_auth_users:\n  alice: hunter2\n",
        ["web.yml:2: basic_auth_users.alice: is not a bcrypt hash, as 'htpasswd -nBC 10 NAME' makes: $2y$10$ and 53 "
         "characters"]),
    "no token file": ("bearer_tokens: [{name: ci, token_file: none}]\n",
                      ["web.yml:1: bearer_tokens[0].token_file: cannot be read: No such file or directory"]),
    "a tenant for nobody": ("tenants: {bob: shop}\n",
                            ["web.yml: tenants.bob: is no user: neither of basic_auth_users nor of bearer_tokens, and no "
                             "client's certificate is verified"]),
}


def test_a_mistake_is_found_before_the_start(tmp_path):
    def is_found(text, expected):
        status, lines = check(tmp_path, text)
        assert status == 1
        assert lines == expected
        assert not any("hunter2" in line for line in lines)

    check_rows(MISTAKES, is_found)


def test_a_file_that_holds_no_token_is_told_without_what_it_holds(tmp_path):
    def is_told(content, what):
        (tmp_path / "t").write_bytes(content)
        status, lines = check(tmp_path, "bearer_tokens:\n- name: ci\n  token_file: t\n")
        assert status == 1 and len(lines) == 1
        assert lines[0].startswith(f"web.yml:3: bearer_tokens[0].token_file: {what}")
        assert "hunter2" not in lines[0] and "xxx" not in lines[0]

    check_rows({"empty": (b"", "names an empty file"), "an empty line": (b"\n", "names an empty file"),
                "5000 bytes": (b"x" * 5000, "names a file with more than 4096 bytes"),
                "two words": (b"hunter2 hunter2", "names a file that holds no token"),
                "no ASCII": (b"hunter2\xff", "names a file that holds no token")}, is_told)


def test_the_example_of_the_document_passes(tmp_path):
    example, = documents.blocks("yml")
    (tmp_path / "web.yml").touch(0o600), (tmp_path / "shop.token").touch(0o600)
    (tmp_path / "shop.token").write_text("t0ken\n")
    issued = Authority(tmp_path).issue("localhost")
    issued.certificate.rename(tmp_path / "server.crt"), issued.key.rename(tmp_path / "server.key")
    assert check(tmp_path, example.text) == (0, [])


def test_a_file_that_is_not_there_keeps_the_gate_from_starting(tmp_path):
    done = run("--upstream.url=discard:", "--listen=127.0.0.1:0", f"--web.config.file={tmp_path}/web.yml")
    assert (done.returncode, done.stderr) == (1, f"{tmp_path}/web.yml: cannot be read: No such file or directory\n")


def test_what_cannot_be_read_again_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for file in ("/dev/stdin", "/dev/null", tmp_path / "pipe"):
        done = run("--upstream.url=discard:", "--listen=127.0.0.1:0", f"--web.config.file={file}", input=users(ALICE))
        assert (done.returncode, done.stderr) == (
            1, f"{file}: is not a regular file: what comes from a pipe or a device cannot be read again\n")
