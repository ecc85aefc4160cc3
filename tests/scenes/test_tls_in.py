"""TLS with senders: who is let in, what is answered, new certificates, and handshakes that come to nothing."""

import contextlib
import signal
import ssl

import pytest

import client
import recorded
from bounds import within
from certificates import Authority
from secure import ask, connection, metrics, write
from waiting import eventually
from world import secure, socket, time

GOOD = recorded.bodies("metadata-v1")[0]


@pytest.fixture
def start(start_gate, upstream, secured):
    """start(key=value, …): a gate with these keys of tls_server_config."""
    def started(*flags, config=None, **keys):
        return start_gate(f"--upstream.url={upstream.url}", secured.web(**keys), *flags, config=config)

    return started


def handshakes(gate, context, outcome):
    return metrics(gate, context)["seriesgate_tls_handshakes_total", frozenset({("outcome", outcome)})]


def said(gate, outcome, err=None):
    """Whether the log has told of a handshake that failed."""
    return [event for event in gate.said("TLS handshakes failed", outcome=outcome) if err is None or err in event["err"]]


# --- requests

def test_requests_for_both_threads_take_turns_on_one_connection(start, secured, upstream):
    gate = start()
    one = connection(gate.address, secured.trusting())
    for _ in range(3):
        one.request("GET", "/health")
        answer = one.getresponse()
        assert (answer.status, answer.read()) == (200, b"OK\n")
        assert write(one, GOOD) == 204
    assert upstream.bodies == [GOOD] * 3
    found = metrics(gate, secured.trusting())
    assert found["seriesgate_tls_handshakes_total", frozenset({("outcome", "completed")})] == 2
    assert found["seriesgate_tls_handshakes_running", frozenset()] == 0
    assert found["seriesgate_tls_handshake_duration_seconds_count", frozenset()] == 2


def test_a_request_without_tls_is_answered_in_plain_words(start, secured):
    gate = start()
    with client.RawConnection(gate.address) as plain:
        plain.send(client.post(GOOD))
        assert plain.read_to_end() == (b"HTTP/1.0 400 Bad Request\r\n\r\n"
                                       b"Client sent an HTTP request to an HTTPS server.\n")
    assert handshakes(gate, secured.trusting(), "plain_http") == 1
    eventually(lambda: said(gate, "plain_http"), "the log tells it")


def test_who_goes_on_without_tls_is_not_heard_for_long(start, secured):
    """A close with unread input would be a reset, so a little is read: 64 pieces, or what comes in a second."""
    gate = start()
    pieces = 0
    with client.RawConnection(gate.address) as plain:
        plain.send(client.post(GOOD))
        plain.read_to_end()
        try:
            while pieces < 200:
                plain.send(b"x")
                pieces += 1
                time.sleep(0.001)
        except (BrokenPipeError, ConnectionResetError):
            pass
    assert 64 <= pieces <= 66


def test_the_gate_says_that_it_closes(start, secured):
    """Else a client cannot tell the end of the data from an attack."""
    gate = start()
    with secure(secured.trusting(), client.connect(gate.address), server_hostname="localhost",
                suppress_ragged_eofs=False) as made:
        made.sendall(client.head("GET", "/health", [("Connection", "close")]))
        assert b"".join(iter(lambda: made.recv(4096), b"")).endswith(b"OK\n")


def test_the_end_of_the_certificate_is_a_figure(start, secured):
    gate = start()
    end = metrics(gate, secured.trusting())["seriesgate_tls_certificate_not_after_timestamp_seconds", frozenset()]
    assert 86400 < end - time.time() < 3 * 86400


# --- who is let in

@pytest.fixture(scope="module")
def clients(authority, tmp_path_factory):
    """Certificates that a client may show."""
    return {"none": None, "ours": authority.issue("agent-1"), "other": authority.issue("agent-2"),
            "stranger": Authority(tmp_path_factory.mktemp("tls"), "stranger").issue("agent-1"),
            "expired": authority.issue("agent-1", expired=True)}


TYPES = {"NoClientCert": ["none", "ours", "stranger"], "RequestClientCert": ["none", "ours", "stranger"],
         "RequireAnyClientCert": ["ours", "stranger"], "VerifyClientCertIfGiven": ["none", "ours", "other"],
         "RequireAndVerifyClientCert": ["ours", "other"]}


@pytest.mark.parametrize("kind", TYPES)
def test_clients_are_let_in_by_their_certificates(start, secured, clients, kind):
    verifies = {"client_ca_file": str(secured.authority.certificate)} if "Verify" in kind else {}
    gate = start(client_auth_type=kind, **verifies)
    tried = ["none", "ours", "other", "stranger", *(["expired"] if verifies else [])]
    let_in = [name for name in tried if is_let_in(gate, secured.trusting(clients[name]))]
    assert let_in == [name for name in tried if name in TYPES[kind] or (name == "other" and not verifies)]
    refused = len(tried) - len(let_in)
    # Who is refused hears of it before it is counted.
    eventually(lambda: handshakes(gate, secured.trusting(clients["ours"]), "certificate") == refused, "all are counted")
    eventually(lambda: bool(said(gate, "certificate")) == (refused != 0), "the log tells it")


def is_let_in(gate, context):
    try:
        return ask(gate.admin_address, context) == 200
    except (ssl.SSLError, ConnectionError):
        return False


def test_only_allowed_names_are_let_in(start, secured, clients):
    gate = start(client_auth_type="RequireAndVerifyClientCert", client_ca_file=str(secured.authority.certificate),
                 client_allowed_sans=["agent-1"])
    assert is_let_in(gate, secured.trusting(clients["ours"]))
    assert not is_let_in(gate, secured.trusting(clients["other"]))
    eventually(lambda: said(gate, "certificate", "no allowed name in the client certificate"), "the log says why")


def test_the_name_in_a_certificate_says_whose_requests_they_are(start, secured, clients, upstream):
    gate = start(client_auth_type="RequireAndVerifyClientCert", client_ca_file=str(secured.authority.certificate),
                 further="tenants: {agent-1: team-a}\ningestion_users: [agent-1]\n")
    assert write(connection(gate.address, secured.trusting(clients["ours"])), GOOD) == 204
    assert write(connection(gate.address, secured.trusting(clients["other"])), GOOD) == 403
    request, = upstream.requests
    assert request.all("X-Scope-OrgID") == ["team-a"]


# --- certificates that change

def test_a_reload_takes_a_new_certificate_at_once(start, secured, issued):
    gate, waited = start(), 0
    for taken, each in enumerate(issued[1:], start=1):
        time.sleep(1.2)  # reloads are a second apart, and so are looks that nobody asks for: the next is in 0.8 s
        secured.install(each)
        began = time.monotonic()
        gate.signal(signal.SIGHUP)
        eventually(lambda: len(gate.said("TLS files taken")) == taken, "it is taken")
        waited += time.monotonic() - began
    assert waited < 0.1


# --- handshakes that come to nothing

def test_a_handshake_that_does_not_go_on_is_ended_in_time(start, secured):
    gate = start(config="server: {handshakeTimeout: 500ms}\n")
    with client.RawConnection(gate.address) as silent, client.RawConnection(gate.address) as half:
        began = time.monotonic()
        half.send(b"\x16\x03\x01\x02\x00\x01")
        assert silent.closed_within(10) and half.closed_within(10)
        assert time.monotonic() - began == pytest.approx(0.5, abs=0.02)
    eventually(lambda: handshakes(gate, secured.trusting(), "timeout") == 2, "they are counted")
    eventually(lambda: said(gate, "timeout"), "the log tells it")


def test_garbage_ends_at_once(start, secured):
    gate = start()
    for text in (b"\x00" * 64, b"SSH-2.0-OpenSSH_9.2\r\n", b"\x16\x03\x01\xff\xff" + b"\xff" * 100):
        with client.RawConnection(gate.address) as garbage:
            garbage.send_what_it_takes(text)
            assert garbage.closed_within(0.1), text
    eventually(lambda: handshakes(gate, secured.trusting(), "failed") == 3, "they are counted")
    assert not gate.errors


def test_a_peer_that_goes_away_is_counted(start, secured):
    gate = start()
    for _ in range(3):
        client.connect(gate.address).close()
    eventually(lambda: handshakes(gate, secured.trusting(), "closed") == 3, "they are counted")


def test_draining_ends_well_amid_handshakes(start, secured, upstream):
    gate = start()
    with client.RawConnection(gate.address), socket.create_connection(gate.address):
        one = connection(gate.address, secured.trusting())
        assert write(one, GOOD) == 204
        gate.stop()


# --- handshakes that come to no end: they hold a bounded amount, and let others in (a flood: tests/attacks)

def test_silent_handshakes_hold_a_bounded_amount_and_let_others_in(start, secured):
    gate = start(config="server: {maxHandshakes: 200, handshakeTimeout: 30s}\n")
    context = secured.trusting()
    established = connection(gate.address, context)
    assert write(established, GOOD) == 204
    hello = first_flight(context)
    silent = []
    with within(gate, memory_mib=64, cpu=10, seconds=60):
        for at in range(600):
            silent.append(client.RawConnection(gate.address, source=f"127.0.{1 + at % 50}.1"))
            silent[-1].send_what_it_takes(hello[:1 + at % len(hello)])
        for _ in range(5):
            assert ask(gate.admin_address, context) == 200
            assert write(established, GOOD) == 204
    found = metrics(gate, context)
    assert found["seriesgate_tls_handshakes_running", frozenset()] <= 200
    assert found["seriesgate_connections_given_up_total", frozenset({("reason", "max_handshakes")})] >= 300
    for each in silent:
        each.close()


def first_flight(context):
    """What a client says first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    return outgoing.read()


def test_clients_that_leave_amid_a_handshake_leave_nothing_behind(start, secured):
    gate, context = start(), secured.trusting()
    hello = first_flight(context)
    with within(gate, memory_mib=32, cpu=10, seconds=60):
        for at in range(500):
            with client.RawConnection(gate.address) as leaving:
                leaving.send_what_it_takes(hello[:at % (len(hello) + 1)])
    eventually(lambda: metrics(gate, context)["seriesgate_tls_handshakes_running", frozenset()] == 0, "all are over")
    eventually(lambda: metrics(gate, context)["seriesgate_connections", frozenset()] == 1, "and their connections closed")
