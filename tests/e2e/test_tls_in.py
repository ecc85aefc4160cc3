"""TLS that only the real gate speaks: at unix sockets, with openssl; and bad files. More: test_tls_servers.py."""

import pytest

import client
import recorded
from gate import run
from secure import Secured, connection, s_client, write
from waiting import eventually
from world import secure

GOOD = recorded.bodies("metadata-v1")[0]


@pytest.fixture
def secured(tmp_path):
    return Secured(tmp_path)


@pytest.fixture
def start(start_gate, upstream, secured):
    """start(key=value, …): a gate with these keys of tls_server_config."""
    def started(*flags, config=None, **keys):
        return start_gate(f"--upstream.url={upstream.url}", secured.web(**keys), *flags, config=config)

    return started


def said(gate, outcome, err):
    """Whether the log has told of a handshake that failed."""
    return [event for event in gate.said("TLS handshakes failed", outcome=outcome) if err in event["err"]]


def test_both_addresses_speak_tls_and_unix_sockets_do_too(start, secured, upstream, tmp_path_factory):
    path = tmp_path_factory.mktemp("s") / "s"
    gate = start("--listen=127.0.0.1:0", f"--admin.listen=unix:{path}")
    one = connection(gate.address, secured.trusting())
    assert write(one, GOOD) == 204
    with secure(secured.trusting(), client.connect(str(path)), server_hostname="localhost") as made:
        made.sendall(client.head("GET", "/-/healthy"))
        assert made.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")
    assert gate.said("seriesgate is up", tls="yes", authentication="none")


def test_old_versions_are_refused(start, secured):
    only_new = start(min_version="TLS13")
    assert s_client(only_new.address, "-tls1_2")[0] != 0
    assert s_client(only_new.address, "-tls1_3")[0] == 0
    eventually(lambda: said(only_new, "failed", "no common protocol version"), "the log says why")


def test_a_bad_file_at_the_start_is_a_mistake_of_the_configuration(secured):
    flag = secured.web()
    secured.key.write_text("no key")
    for more in ([], ["--check-config"]):
        ended = run("--upstream.url=discard:", "--listen=127.0.0.1:0", flag, *more)
        assert ended.returncode == 1
        assert str(secured.key) in ended.stderr and len(ended.stderr.splitlines()) == 1, ended.stderr
