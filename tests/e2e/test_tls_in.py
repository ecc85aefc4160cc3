"""TLS that only the real gate speaks: at unix sockets; and bad files at the start. More: test_tls_servers.py."""

import pytest

import client
import recorded
from gate import run
from secure import Secured, connection, write
from world import secure

GOOD = recorded.bodies("metadata-v1")[0]


@pytest.fixture
def secured(tmp_path):
    return Secured(tmp_path)


def test_both_addresses_speak_tls_and_unix_sockets_do_too(start_gate, secured, upstream, tmp_path_factory):
    path = tmp_path_factory.mktemp("s") / "s"
    gate = start_gate(f"--upstream.url={upstream.url}", secured.web(), f"--admin.listen=unix:{path}")
    one = connection(gate.address, secured.trusting())
    assert write(one, GOOD) == 204
    with secure(secured.trusting(), client.connect(str(path)), server_hostname="localhost") as made:
        made.sendall(client.head("GET", "/-/healthy"))
        assert made.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
    assert gate.said("seriesgate is up", tls="yes", authentication="none")


def test_a_bad_file_at_the_start_is_a_mistake_of_the_configuration(secured):
    flag = secured.web()
    secured.key.write_text("no key")
    for more in ([], ["--check-config"]):
        ended = run("--upstream.url=discard:", "--listen=127.0.0.1:0", flag, *more)
        assert ended.returncode == 1
        assert str(secured.key) in ended.stderr and len(ended.stderr.splitlines()) == 1, ended.stderr
