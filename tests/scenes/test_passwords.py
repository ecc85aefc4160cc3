"""Credentials that are none. A flood of wrong passwords: tests/attacks/test_passwords.py."""

import pytest

from client import RawConnection
from web_files import ALICE, BOB, users


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
