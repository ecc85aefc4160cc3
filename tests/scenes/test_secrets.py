"""Every secret that a gate is given, and then a look for them in everything that it says."""

import base64

import pytest

import wire
from certificates import Authority, served_with
from upstream import Answer, Upstream
from waiting import eventually

BODY = wire.pack(wire.sampled("up", job="a"))
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
