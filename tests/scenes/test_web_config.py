"""--web.config.file: what is shown of it, and how a change of it takes effect."""

import json
import os

import pytest

import client
import exposition
from secure import connection, write
from traffic import body, numbered
from waiting import eventually
from web_files import ALICE, ALICE_CHANGED, BOB, basic, bearer, users

SECRETS = [ALICE[2], ALICE_CHANGED[2], "t0ken", "n3xt"]


@pytest.fixture
def web(tmp_path, start_gate, upstream):
    """A gate with a web configuration that the test can change."""

    class Web:
        file = tmp_path / "web.yml"
        token = tmp_path / "ci.token"

        def __init__(self):
            self.file.touch(0o600)
            self.token.touch(0o600)
            self.token.write_text("t0ken\n")
            self.file.write_text(users(ALICE) + "bearer_tokens: [{name: ci, token_file: ci.token}]\n")
            self.gate = start_gate(f"--web.config.file={self.file}", f"--upstream.url={upstream.url}")

        def ask(self, header, path="/stats", method="GET"):
            with self.gate.client() as client:
                return client.request(method, path, headers=[header] if header else [])

        def status(self, header, path="/stats"):
            return self.ask(header, path).status

        def successful(self, header):
            page = self.ask(header, "/metrics").body
            return exposition.parse(page)["seriesgate_web_config_last_reload_successful", frozenset()]

        def reload(self, header):
            return self.ask(header, "/-/reload", "POST")

    return Web()


def test_the_file_is_shown_and_nothing_of_it(web):
    shown = web.ask(bearer("t0ken"), "/config")
    assert shown.status == 200
    assert f"web:\n  config: {{file: {web.file}}}\n" in shown.body.decode()
    for path in ("/config", "/stats", "/metrics", "/"):
        page = web.ask(bearer("t0ken"), path).body.decode()
        assert not [secret for secret in SECRETS if secret in page]


def test_a_change_of_the_file_takes_effect_by_itself(web):
    assert web.status(basic(ALICE)) == 200
    web.file.write_text(users(ALICE_CHANGED, BOB))
    eventually(lambda: web.status(basic(BOB)) == 200, "the new user may ask", every=0.1)
    said = eventually(lambda: web.gate.said("web configuration reread"), "it is said")
    assert [(event["level"], event["changes"]) for event in said] == [("info", "basic_auth_users, bearer_tokens")]
    assert web.status(basic(ALICE)) == 401
    assert web.status(basic(ALICE_CHANGED)) == 200
    assert web.status(bearer("t0ken")) == 401


def test_a_bad_file_changes_nothing_and_is_said_once(web):
    web.file.write_text("basic_auth_users: {alice: hunter2}\n")
    eventually(lambda: web.gate.said("web configuration not reread"), "it is said")
    reply = web.reload(bearer("t0ken"))
    assert reply.status == 400
    assert reply.body.decode() == (f"{web.file}:1: basic_auth_users.alice: is not a bcrypt hash, as 'htpasswd -nBC 10 NAME' "
                                   "makes: $2y$10$ and 53 characters\n")
    assert web.status(basic(ALICE)) == 200
    assert "hunter2" not in web.gate.log
    assert len(web.gate.said("web configuration not reread")) == 1
    web.file.write_text(users(ALICE) + "bearer_tokens: [{name: ci, token_file: ci.token}]\n")
    eventually(lambda: web.gate.said("web configuration reread", changes="none"), "it is well again")


def test_a_file_that_is_gone_changes_nothing(web):
    web.file.unlink()
    eventually(lambda: web.gate.said("web configuration not reread"), "it is said")
    assert web.status(basic(ALICE)) == 200
    assert web.status(bearer("t0ken")) == 200


LOWERED = {
    "": "is empty: {} would say that nothing is asked of anyone",
    "{}": "says nothing, and the one in force does: a restart is needed to ask nothing of anyone",
    "auth_excluded_paths: [/-/ready]\n":
        "basic_auth_users: and bearer_tokens would leave no user: that takes SIGHUP or POST /-/reload",
    users(ALICE) + "auth_excluded_paths: [/metrics]\n":
        "auth_excluded_paths./metrics: would ask nothing of anyone: that takes SIGHUP or POST /-/reload",
}


@pytest.mark.parametrize("text", LOWERED)
def test_less_protection_is_not_taken_by_itself(web, text):
    web.file.write_text(text)
    said, = eventually(lambda: web.gate.said("web configuration not reread"), "it is said")
    assert said["err"].endswith(": " + LOWERED[text])
    assert web.status(None, "/metrics") == 401
    assert web.successful(basic(ALICE)) == 0
    reply = web.reload(basic(ALICE))
    assert reply.status == (200 if "excluded" in text else 400)
    assert web.status(None, "/metrics") == (200 if "excluded" in text else 401)


def test_a_reload_takes_it_over_and_says_so(web):
    assert web.reload(bearer("t0ken")).body == b"configuration reloaded: nothing has changed\n"
    web.file.write_text(users(ALICE, BOB) + "tenants: {bob: shop}\nadmin_users: [alice]\n")
    reply = web.reload(bearer("t0ken"))
    assert (reply.status, reply.body.decode()) == (
        200, "configuration reloaded\nweb.config.file: basic_auth_users\nweb.config.file: bearer_tokens\n"
             "web.config.file: admin_users\nweb.config.file: tenants\n")
    assert web.status(basic(BOB)) == 403
    assert web.status(basic(ALICE)) == 200


def test_another_file_needs_a_restart(tmp_path, start_gate, upstream):
    first, second = tmp_path / "first.yml", tmp_path / "second.yml"
    first.write_text("http_server_config: {headers: {X-Frame-Options: deny}}\n")
    second.touch(0o600)
    second.write_text(users(BOB))
    text = f"upstream: {{url: '{upstream.url}'}}\nweb: {{config: {{file: {first}}}}}\n"
    gate = start_gate(config=text)
    reply = gate.reload(text.replace("first", "second"))
    assert reply.body.decode() == (f"configuration reloaded: nothing has changed\na restart is needed for: web.config.file {first} "
                                   f"-> {second}\n")
    assert gate.get("/stats").status == 200
    assert gate.get("/stats").all("X-Frame-Options") == ["deny"]
    assert json.loads(gate.get("/stats").body)


# --- what senders had and have no more, on connections that are open

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


def test_a_certificate_is_shut_out_by_its_name(start_gate, upstream, secured, tmp_path):
    """On the connection on which it was verified."""
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
