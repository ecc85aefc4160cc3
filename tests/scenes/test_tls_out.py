"""Stores behind TLS: who they have to be, who we are to them, and what is told when it does not come about."""

import ssl

import pytest

import recorded
from certificates import Authority, served_with
from stores_behind_tls import BODY, config, failure, start_store  # noqa: F401 (a fixture)
from upstream import Answer
from waiting import eventually
from world import ThreadPoolExecutor, threading, time


@pytest.fixture(scope="module")
def other_authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"), "somebody else")


@pytest.fixture(scope="module")
def certificate(authority):
    return authority.issue("localhost", "127.0.0.1", "store.test")


VERSIONS = pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])


@pytest.fixture
def gate_before(start_gate, authority):
    """gate_before(store, keys): a gate that believes our authority, with further keys of upstream.tls, and others."""
    return lambda store, keys="", more="", **how: start_gate(
        config=config(store, f"caFile: {authority.certificate}{keys}", **how) + more)


@VERSIONS
def test_a_store_of_a_named_authority_gets_the_samples(gate_before, start_store, certificate, newest):
    store = start_store(served_with(certificate, newest=newest))
    gate = gate_before(store, more="server: {threads: 1}\n")
    for _ in range(3):
        assert gate.send(BODY).status == 204
    assert [request.body for request in store.requests] == [BODY] * 3
    assert {request.connection for request in store.requests} == {1}
    assert store.requests[0].get("Host") == store.host


def test_large_bodies_and_answers_pass(gate_before, start_store, certificate):
    store = start_store(served_with(certificate))
    body = max(recorded.bodies(), key=len)
    store.default = Answer(200, [], b"x" * 200_000)
    reply = gate_before(store).send(body)
    assert (reply.status, reply.body) == (200, b"x" * 200_000)
    assert store.requests[0].body == body


def of_an_old_protocol(certificate):
    context = served_with(certificate, newest=ssl.TLSVersion.TLSv1_1)
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context


# what it shows, given two authorities; and what is said of it
GETS_NOTHING = {
    "of an unknown authority": (lambda ours, other: served_with(other.issue("127.0.0.1")), "certificate"),
    "expired": (lambda ours, other: served_with(ours.issue("127.0.0.1", expired=True)), "expired"),
    "of another name": (lambda ours, other: served_with(ours.issue("elsewhere.test", "127.0.0.2")),
                        "IP address mismatch"),
    "an old protocol": (lambda ours, other: of_an_old_protocol(ours.issue("127.0.0.1")), ""),
}


@pytest.mark.parametrize("shows, told", GETS_NOTHING.values(), ids=GETS_NOTHING)
def test_who_cannot_be_believed_gets_nothing(gate_before, start_store, authority, other_authority, shows, told):
    store = start_store(shows(authority, other_authority))
    why = failure(gate_before(store), store)
    assert why and told in why


def asked_names(context):
    """The list of the names that its clients look for, as they come."""
    names = []
    context.sni_callback = lambda _, name, __: names.append(name)
    return names


def test_the_name_to_look_for_may_be_given(gate_before, start_store, authority):
    context = served_with(authority.issue("elsewhere.test"))
    asked, store = asked_names(context), start_store(context)
    gate = gate_before(store, ", serverName: elsewhere.test")
    assert gate.send(BODY).status == 204
    assert asked == ["elsewhere.test"]
    gate.stop()
    assert "ostname mismatch" in gate_before(store, ", serverName: nowhere.test").send(BODY).first_line


def test_no_name_is_asked_for_where_the_url_has_an_address(gate_before, start_store, certificate):
    context = served_with(certificate)
    asked, store = asked_names(context), start_store(context)
    assert gate_before(store).send(BODY).status == 204
    assert asked == [None]


def test_a_store_that_speaks_no_tls_is_told_as_that(gate_before, upstream):
    upstream.handler = lambda request: Answer(400)
    reply = gate_before(upstream, url=upstream.url.replace("http:", "https:")).send(BODY)
    assert reply.status == 502 and "TLS with" in reply.first_line
    assert upstream.requests == []


# --- who we are

@VERSIONS
def test_who_asks_who_we_are_is_shown_our_certificate(gate_before, start_store, authority, certificate, newest):
    ours = authority.issue("gate.test")
    store = start_store(served_with(certificate, authority, newest))
    assert gate_before(store, f", certFile: {ours.certificate}, keyFile: {ours.key}").send(BODY).status == 204
    assert ("DNS", "gate.test") in store.requests[0].certificate["subjectAltName"]


@VERSIONS
def test_a_store_that_does_not_believe_us_is_told(gate_before, start_store, authority, other_authority, certificate,
                                                  newest):
    store = start_store(served_with(certificate, authority, newest))
    ours = other_authority.issue("gate.test")
    for keys in ("", f", certFile: {ours.certificate}, keyFile: {ours.key}"):
        gate = gate_before(store, keys)
        reply = gate.send(BODY)
        assert reply.status == 502, reply
        assert gate.metric("seriesgate_upstream_errors_total", reason="tls") == 1, reply
        gate.stop()
    assert store.requests == []


def test_sessions_are_resumed(gate_before, start_store, certificate):
    store = start_store(served_with(certificate))
    gate = gate_before(store, more="server: {threads: 1}\n")
    for _ in range(3):
        store.answers.append(Answer(204, [("Connection", "close")], close_after=True))
        assert gate.send(BODY).status == 204
    assert [request.resumed for request in store.requests] == [False, True, True]


# --- files that change

def test_certificates_that_change_under_load_lose_no_request(start_gate, start_store, authority, other_authority, tmp_path):
    """The store moves to another authority and asks for a certificate of it; the gate's files follow."""
    files = {name: tmp_path / name for name in ("ca.pem", "gate.pem", "gate.key")}

    def put(name, text):
        fresh = tmp_path / f"{name}.new"
        fresh.write_bytes(text)
        fresh.rename(files[name])

    def put_all(of, both=b""):
        ours = of.issue("gate.test")
        put("ca.pem", both or of.certificate.read_bytes())
        put("gate.pem", ours.certificate.read_bytes())
        put("gate.key", ours.key.read_bytes())

    def take_time(_):
        time.sleep(0.05)
        return Answer()

    put_all(authority)
    store = start_store(served_with(authority.issue("127.0.0.1"), authority), handler=take_time)
    keys = f"caFile: {files['ca.pem']}, certFile: {files['gate.pem']}, keyFile: {files['gate.key']}"
    gate = start_gate(config=config(store, keys))
    statuses, ends = [], threading.Event()

    def send():
        while not ends.is_set():
            statuses.append(gate.send(BODY).status)

    with ThreadPoolExecutor(3) as senders:
        for _ in range(3):
            senders.submit(send)
        try:
            eventually(lambda: len(statuses) > 20, "requests")
            # Both sides believe both authorities for as long as it takes, as one does it.
            both = authority.certificate.read_bytes() + other_authority.certificate.read_bytes()
            store.tls.load_verify_locations(cadata=both.decode())
            put_all(other_authority, both)
            issuer = ((("commonName", "somebody else"),),)
            eventually(lambda: store.requests[-1].certificate["issuer"] == issuer, "our other certificate")
            store.tls = served_with(other_authority.issue("127.0.0.1"), other_authority)
            put("ca.pem", other_authority.certificate.read_bytes())
            before = store.requests[-1].connection
            eventually(lambda: store.requests[-1].connection > before, "connections made with the new authority")
            done = len(statuses)
            eventually(lambda: len(statuses) > done + 20, "more requests")
        finally:
            ends.set()
    assert set(statuses) == {204}
    assert len(store.requests) == len(statuses)
    assert not gate.said("TLS files not taken, the last good ones stay")
