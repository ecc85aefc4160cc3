"""What senders had and have no more, on connections that are open: a user is asked for with each request, a certificate with
each handshake."""

import os
import ssl

import pytest

import client
from client import WRITE
from secure import Secured, connection, write
from traffic import body, numbered
from waiting import eventually
from web_files import ALICE, ALICE_CHANGED, BOB, basic, bearer, users
from world import secure

GOOD = body(numbered(1))
TOKENS = "bearer_tokens: [{name: shop, token_file: token}, {name: other, token_file: other}]\n"
BOTH = users(ALICE, BOB)

# the web configuration and the token before, and after; what the sender shows, and what it is answered then
WAYS = {
    "a user": ((BOTH, "t1"), (users(BOB), "t1"), basic(ALICE), 401),
    "a password": ((BOTH, "t1"), (users(ALICE_CHANGED, BOB), "t1"), basic(ALICE), 401),
    "a token": ((TOKENS, "t1"), (TOKENS, "t2"), bearer("t1"), 401),
    "the right to write": ((BOTH + "ingestion_users: [alice, bob]\n", "t1"), (BOTH + "ingestion_users: [bob]\n", "t1"),
                           basic(ALICE), 403),
    "the choice of a tenant": ((BOTH, "t1"), (BOTH + "tenants: {alice: shop}\n", "t1"), basic(ALICE), 403),
}


def replace(file, text):
    """At once, as a careful editor does."""
    fresh = file.with_suffix(".new")
    fresh.write_text(text)
    os.replace(fresh, file)


@pytest.mark.parametrize("what", WAYS)
def test_the_next_request_is_without_it(start_gate, upstream, tmp_path, what):
    before, after, shown, status = WAYS[what]
    files = tmp_path / "web.yml", tmp_path / "token"
    (tmp_path / "other").write_text("other")
    for file, text in zip(files, before):
        file.write_text(text)
    gate = start_gate(f"--upstream.url={upstream.url}", f"--web.config.file={files[0]}")
    with gate.raw() as sender:
        def answer():
            sender.send(client.post(GOOD, headers=[shown, ("X-Scope-OrgID", "mine")]))
            return sender.reply().status

        assert answer() == 204
        for file, text in zip(files, after):
            if file.read_text() != text:
                replace(file, text)
        eventually(lambda: answer() == status, "who was let in is turned away", 30, 0.1)


def test_a_certificate_is_shut_out_by_its_name(start_gate, upstream, tmp_path):
    """On the connection on which it was verified."""
    secured = Secured(tmp_path)
    keys = {"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": str(secured.authority.certificate)}
    gate = start_gate(f"--upstream.url={upstream.url}", secured.web("ingestion_users: [agent-1, agent-2]\n", **keys))
    one, other = [connection(gate.address, secured.trusting(secured.authority.issue(f"agent-{n}"))) for n in (1, 2)]
    assert write(one, GOOD) == write(other, GOOD) == 204
    verified = one.sock
    web = tmp_path / "web.yml"
    replace(web, web.read_text().replace("[agent-1, agent-2]", "[agent-2]"))

    def is_turned_away():
        assert one.sock is verified
        return write(one, GOOD) == 403

    eventually(is_turned_away, "the one is turned away", 30, 0.1)
    assert write(other, GOOD) == 204


@pytest.mark.parametrize("kind, resumes", [("NoClientCert", True), ("RequireAndVerifyClientCert", False)])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def test_whose_certificate_was_verified_does_not_resume(start_gate, upstream, tmp_path, kind, resumes, version):
    secured = Secured(tmp_path)
    authority = {"client_ca_file": str(secured.authority.certificate)} if not resumes else {}
    gate = start_gate(f"--upstream.url={upstream.url}", secured.web(client_auth_type=kind, **authority))
    context = secured.trusting(secured.authority.issue("agent-1"), maximum_version=version)

    def connect(session=None):
        made = secure(context, client.connect(gate.address), server_hostname="localhost", session=session)
        made.sendall(client.post(GOOD, path=WRITE))
        assert made.recv(1000).startswith(b"HTTP/1.1 204")  # with TLS 1.3 tickets come before it
        return made

    with connect() as first, connect(first.session) as second:
        assert second.session_reused is resumes
