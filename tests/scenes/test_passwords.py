"""Credentials that are none. A flood of wrong passwords: tests/attacks/test_passwords.py."""

import pytest

from client import Client, RawConnection
from waiting import eventually
from web_files import ALICE, BOB, basic, users


@pytest.fixture
def gate(tmp_path, start_gate, upstream):
    web = tmp_path / "web.yml"
    web.write_text(users(ALICE, BOB) + "auth_excluded_paths: [/-/healthy]\n")
    return start_gate(f"--web.config.file={web}", f"--upstream.url={upstream.url}")


def test_credentials_of_any_bytes_are_no_trouble(gate):
    """Each of them is one answer, and the gate goes on."""
    for value in (b"Basic " + b"A" * 60_000, b"Basic \xff\xfe", b"Basic =", b"Bearer \x80", b"Basic OjpfOg", b"Basic\t",
                  b" Basic   ", b"Basic " + b"=" * 4, b"Bearer " + b"t" * 5000, b"basic AAAA"):
        with RawConnection(gate.address) as sender:
            sender.send(b"GET /stats HTTP/1.1\r\nHost: gate\r\nAuthorization: " + value + b"\r\n\r\n")
            assert sender.reply("GET").status == 401, value
    with RawConnection(gate.address) as sender:
        sender.send(b"GET /stats HTTP/1.1\r\nHost: gate\r\nAuthorization: Basic a\0b\r\n\r\n")
        assert sender.reply("GET").status == 400


def test_a_users_name_forges_no_log_line(gate):
    name = 'eve" level=error msg="forged'
    with Client(gate.address) as client:
        assert client.request("GET", "/stats", headers=[basic(name, "x")]).status == 401
        assert client.request("GET", "/stats", headers=[basic("a\nts=2026 level=error msg=forged", "x")]).status == 401
    said = eventually(lambda: gate.said("requests rejected"), "it is said")
    assert said[0]["user"] == name
    assert not gate.errors and len(gate.log.split("forged")) == 2
