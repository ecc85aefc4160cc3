"""Who the gate is to its stores: headers, passwords and tokens that stand in files, and what a 401 means then."""

import base64

import pytest

import wire
from certificates import Authority, served_with
from upstream import Answer, Upstream
from waiting import eventually

BODY = wire.pack(wire.sampled("up", job="a"))
SENDERS = [("Authorization", "Bearer sender"), ("X-Store", "sender"), ("x-store", "sender again")]


@pytest.fixture
def password(tmp_path):
    file = tmp_path / "password"
    file.write_text("hunter2\n")
    return file


def basic(text):
    return "Basic " + base64.b64encode(text.encode()).decode()


def of(upstream, keys):
    return f"upstream:\n  url: {upstream.url}\n{keys}"


def test_a_password_that_changes_is_taken_at_once_and_a_bad_one_is_not(start_gate, upstream, password):
    gate = start_gate(config=of(upstream, f"  basicAuth: {{username: gate, passwordFile: {password}}}\n"))

    def arrives():
        assert gate.send(BODY).status == 204
        return upstream.requests[-1].get("Authorization")

    assert arrives() == basic("gate:hunter2")
    replaced = password.with_name("next")
    replaced.write_text("hunter3")
    replaced.rename(password)
    eventually(lambda: arrives() == basic("gate:hunter3"), "the new password")
    password.unlink()
    bad = "a secret file cannot be used, what it held before is kept"
    eventually(lambda: gate.said(bad, err=f"cannot read {password}: No such file or directory"), "a line about it")
    assert arrives() == basic("gate:hunter3")
    password.write_text("hunter4\n")
    eventually(lambda: arrives() == basic("gate:hunter4"), "the new password")
    assert [event["key"] for event in gate.said(bad)] == ["upstream.basicAuth.passwordFile"]
    eventually(lambda: len(gate.said("a secret file was read", file=str(password))) == 2, "a line for each new one")
    assert "hunter" not in gate.log


def test_every_store_has_credentials_of_its_own(start_gate, upstream, tmp_path):
    (tmp_path / "token").write_text("of the replica")
    replica = Upstream()
    gate = start_gate(config=of(upstream, f"""  headers: {{X-Store: first}}
  replicateTo:
    - url: {replica.url}
      bearerTokenFile: {tmp_path / 'token'}
"""))
    assert gate.send(BODY, SENDERS).status == 204
    assert [request.get("Authorization") for request in upstream.requests] == ["Bearer sender"]
    assert [request.get("Authorization") for request in replica.requests] == ["Bearer of the replica"]
    assert [request.all("X-Store") for request in replica.requests] == [["sender", "sender again"]]
    replica.stop()


@pytest.mark.parametrize("status", [401, 403])
def test_a_store_that_does_not_let_the_gate_in_costs_no_sender_its_samples(start_gate, upstream, password, status):
    gate = start_gate(config=of(upstream, f"  basicAuth: {{username: gate, passwordFile: {password}}}\n"))
    upstream.default = Answer(status, [("WWW-Authenticate", 'Basic realm="store"')], b"who is hunter2?\n")
    reply = gate.send(BODY, SENDERS)
    assert (reply.status, reply.get("Retry-After")) == (503, "1")
    assert reply.get("WWW-Authenticate") is None
    assert reply.first_line == f"the upstream {upstream.host} does not take the credentials of the gate: it answers {status}"
    assert gate.metric("seriesgate_upstream_errors_total", reason="unauthorized") == 1
    own = {"store": upstream.host, "door": upstream.host, "reason": "unauthorized"}
    assert gate.metric("seriesgate_upstream_door_errors_total", **own) == 1
    said = gate.said("the upstream has not answered", reason="unauthorized")
    assert [event["err"] for event in said] == [reply.first_line]
    assert gate.stats["samples"]["received"] == 1
    upstream.default = Answer()
    assert gate.send(BODY, SENDERS).status == 204
    assert "hunter2" not in gate.log


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirection_leads_nobody_around_the_gate_and_costs_no_samples(start_gate, upstream, password, status):
    password.write_text("hun#ter2\n")
    gate = start_gate(config=of(upstream, f"  basicAuth: {{username: gate, passwordFile: {password}}}\n"))
    for location, said in ((f"{upstream.url}?again", f" with Location {upstream.url}"), ("/hun#ter2", " with Location /<secret>"),
                           (None, "")):
        upstream.default = Answer(status, [("Location", location)] if location else [])
        reply = gate.send(BODY, SENDERS)
        assert (reply.status, reply.get("Location")) == (502, None)
        assert reply.first_line == (f"the upstream {upstream.host} redirects, which the gate does not follow: "
                                    f"it answers {status}{said}")
    assert gate.metric("seriesgate_upstream_errors_total", reason="redirected") == 3
    assert len(gate.said("the upstream has not answered", reason="redirected")) == 1


def test_where_a_store_redirects_to_is_not_said_if_its_url_has_arguments(start_gate, upstream):
    gate = start_gate(config=f"upstream: {{url: '{upstream.url}?token=hunter2'}}\n")
    upstream.default = Answer(308, [("Location", f"{upstream.url}/hunter2?token=hunter2")])
    assert gate.send(BODY).first_line.endswith("it answers 308")


@pytest.mark.parametrize("keys", ["", "  headers: {X-Store: a}\n"])
def test_a_store_that_does_not_let_the_sender_in_says_so_itself(start_gate, upstream, keys):
    gate = start_gate(config=of(upstream, keys))
    upstream.default = Answer(401, [("WWW-Authenticate", 'Basic realm="store"')], b"who are you?\n")
    reply = gate.send(BODY, SENDERS)
    assert (reply.status, reply.get("WWW-Authenticate"), reply.body) == (401, 'Basic realm="store"', b"who are you?\n")


# --- every secret that a gate is given, and then a look for them in everything that it says

PASSWORD, TOKEN, HEADER, QUERY = "pass-hunter2-word", "tok-hunter3-en", "head-hunter4-er", "quer-hunter5-y"
BASIC = base64.b64encode(f"gate:{PASSWORD}".encode()).decode()


@pytest.fixture
def secrets(tmp_path):
    """A store behind TLS, two replicas, all with secrets. (configuration, what must not be seen, the store)"""
    authority = Authority(tmp_path)
    ours = authority.issue("gate.test")
    (tmp_path / "password").write_text(PASSWORD)
    (tmp_path / "token").write_text(TOKEN)
    store = Upstream(tls=served_with(authority.issue("127.0.0.1"), authority))
    other = Upstream()
    text = f"""upstream:
  urls: ['{store.url}?key={QUERY}', '{store.url}/2?key={QUERY}']
  timeout: 10s
  tls: {{caFile: {authority.certificate}, certFile: {ours.certificate}, keyFile: {ours.key}}}
  basicAuth: {{username: gate, passwordFile: {tmp_path / 'password'}}}
  headers: {{X-Key: {HEADER}}}
  replicateTo:
    - {{url: '{other.url}?key={QUERY}', bestEffort: true, bearerTokenFile: {tmp_path / 'token'}}}
    - {{url: 'http://127.0.0.1:1/w?key={QUERY}', bestEffort: true, headers: {{Authorization: Token {HEADER}}}}}
"""
    key = ours.key.read_text().splitlines()[1]
    yield text, [PASSWORD, TOKEN, HEADER, QUERY, BASIC, key, "hunter"], store, other
    store.stop()
    other.stop()


def echo(request):
    """A store that repeats what it was asked."""
    said = " ".join([request.target, *(value for _, value in request.headers)])
    return Answer(400, [("X-Asked", said), ("Retry-After", QUERY)], said.encode() + b"\n")


def test_no_secret_is_said(start_gate, secrets, tmp_path):
    text, hidden, store, other = secrets
    gate = start_gate(config=text)
    said = []  # by the gate itself

    def look():
        for path in ("/", "/config", "/stats", "/metrics", "/-/ready", "/api/v1/nothing"):
            said.append(gate.get(path).body.decode(errors="replace"))

    look()
    assert gate.send(BODY).status == 204
    assert store.requests[0].get("Authorization") == f"Basic {BASIC}"
    assert (store.requests[0].get("X-Key"), store.requests[0].target.split("?")[1]) == (HEADER, f"key={QUERY}")
    eventually(lambda: other.requests, "a request at the replica")
    assert other.requests[0].get("Authorization") == f"Bearer {TOKEN}"
    other.handler = store.handler = echo
    repeated = gate.send(BODY)
    assert repeated.status == 400
    said += [repeated.body.decode(), str(repeated.headers)]
    eventually(lambda: gate.said("the store rejected requests"), "what the store has said")
    store.handler = None
    for answer in (Answer(401, [], BASIC.encode()), Answer(403), Answer(cut=9), Answer(503, [("Retry-After", "1")])):
        store.answers.append(answer)
        said.append(gate.send(BODY).body.decode())
    said.append(gate.send(BODY, path="/api/v1/write?nothing=hunterless").body.decode())
    (tmp_path / "password").unlink()
    (tmp_path / "token").write_text(f"{TOKEN}\n{TOKEN}\n")
    bad = "a secret file cannot be used, what it held before is kept"
    eventually(lambda: len(gate.said(bad)) == 2, "lines about the files")
    store.stop()
    for _ in range(3):
        said.append(gate.send(BODY).body.decode())
    said.append(gate.reload(text.replace("X-Key: ", "X-Key: other-")).body.decode())
    said.append(gate.reload(text.replace("{X-Key: ", "{'bad name': ")).body.decode())
    look()
    said.append(gate.log)
    found = {secret for secret in hidden for each in said if secret in each.replace("hunterless", "")}
    assert found == set(), [each for each in said if any(secret in each for secret in found)]
    assert "<secret>" in "".join(said)
