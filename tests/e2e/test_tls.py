"""TLS that depends on the system: unix sockets, authorities and names; bad files at the start. More: tests/scenes."""

import pytest

import client
import recorded
from certificates import Authority, served_with
from gate import run
from secure import Secured, connection, write
from stores_behind_tls import BODY, config, failure, start_store  # noqa: F401 (a fixture)
from waiting import eventually
from world import secure

GOOD = recorded.bodies("metadata-v1")[0]


@pytest.fixture
def secured(tmp_path):
    return Secured(tmp_path)


def test_both_addresses_speak_tls_and_unix_sockets_do_too(start_gate, secured, upstream, tmp_path):
    path = tmp_path / "s"
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


def test_a_reload_names_files_that_are_no_good(start_gate, secured, upstream, tmp_path):
    token = tmp_path / "token"
    token.write_text("first\n")
    gate = start_gate(secured.web(), config=f"upstream: {{url: '{upstream.url}', bearerTokenFile: {token}}}\n",
                      authority=secured.authority.certificate)
    token.unlink()
    reply = gate.post("/-/reload")  # it goes on with the token that it has
    assert (reply.status, reply.body.decode().splitlines()[-1]) == (
        200, f"{gate.config_file}: warning: upstream.bearerTokenFile: cannot read {token}: No such file or directory")
    secured.key.write_text("no key")
    reply = gate.post("/-/reload")
    assert reply.status == 200 and f"warning: tls_server_config: {secured.key}" in reply.body.decode(), reply
    assert gate.metric("seriesgate_config_last_reload_successful") == 1
    eventually(lambda: gate.metric("seriesgate_web_config_last_reload_successful") == 0, "the files are not in force")


# --- stores

@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"))


def test_the_systems_authorities_do_not_know_ours(start_gate, start_store, authority):
    store = start_store(served_with(authority.issue("localhost", "127.0.0.1")))
    gate = start_gate(f"--upstream.url={store.url}")
    assert "certificate" in failure(gate, store)


def test_a_name_in_the_url_is_asked_for_and_looked_for(start_gate, start_store, authority):
    asked = []
    context = served_with(authority.issue("localhost"))
    context.sni_callback = lambda _, name, __: asked.append(name)
    store = start_store(context)
    gate = start_gate(config=config(store, f"caFile: {authority.certificate}",
                                    url=f"https://localhost:{store.port}/api/v1/write"))
    assert gate.send(BODY).status == 204
    assert asked == ["localhost"]
