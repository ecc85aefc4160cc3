"""Who sent it, behind balancers: PROXY protocol headers before HTTP and before TLS, X-Forwarded-For and Forwarded."""

import contextlib
import ssl
import struct

import pytest

import client
import recorded
import wire
from client import head, post
from secure import metrics
from waiting import eventually
from world import secure, time

GOOD = recorded.bodies("metadata-v1")[0]
PROXY, STRANGER, SENDER = "10.0.0.5", "192.0.2.66", "203.0.113.9"
TRUSTS = "server: {proxyProtocol: true, trustedProxies: [10.0.0.0/24, 'fd00::/8'], handshakeTimeout: 5s"
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
LINE = f"PROXY TCP4 {SENDER} 10.0.0.1 4711 9201\r\n".encode()


def version_2(command=0x21, family=0x11, body=bytes([203, 0, 113, 9, 10, 0, 0, 1, 0x12, 0x67, 0x23, 0xf1]), size=None):
    return SIGNATURE + struct.pack("!BBH", command, family, len(body) if size is None else size) + body


HEADERS = {"version 1": LINE, "version 2": version_2(), "with type-length-values": version_2(
    body=version_2()[16:] + b"\x04\x0f\xff" + bytes(4081))}
NOBODY = {"LOCAL": version_2(0x20, 0, b""), "UNKNOWN": b"PROXY UNKNOWN\r\n", "unix": version_2(family=0x31, body=bytes(216))}
BAD = {"garbage": bytes(range(255, 0, -1)) * 257, "nothing": b"GET / HTTP/1.1\r\n\r\n", "text": b"PROXY TCP5 " + LINE[11:],
       "line too long": b"PROXY UNKNOWN " + b"x" * 65536, "too long": version_2(size=65535),
       "another version": version_2(0x11), "TLS": b"\x16\x03\x01" + bytes(600)}


@pytest.fixture
def start(start_gate, upstream):
    def started(config=TRUSTS + "}\n", *flags, **how):
        return start_gate(f"--upstream.url={upstream.url}", *flags, config="log: {level: debug}\n" + config, **how)

    return started


def connect(gate, source=PROXY):
    return client.RawConnection(gate.address, source=source)


def ask(gate, sent, source=PROXY):
    """@return the status of the one answer"""
    with connect(gate, source) as connection:
        connection.send(sent)
        return connection.reply().status


def senders(gate):
    return [event["sender"] for event in gate.said("request answered")]


def headers_by(gate, outcome):
    return gate.metric("seriesgate_proxy_headers_total", outcome=outcome)


def refused(gate, outcome):
    return gate.said("connections closed for their PROXY headers", outcome=outcome)


# --- PROXY protocol

@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_a_trusted_proxy_says_whose_its_connection_is(start, upstream, header):
    gate = start()
    with connect(gate) as connection:
        connection.send(header + post(GOOD))  # in one packet
        assert connection.reply().status == 204
        connection.send(head("GET", "/health") + post(GOOD))
        assert [connection.reply("GET").status, connection.reply().status] == [200, 204]
    assert upstream.bodies == [GOOD] * 2
    assert senders(gate) == [SENDER] * 3
    assert headers_by(gate, "completed") == 1


@pytest.mark.parametrize("header", NOBODY.values(), ids=NOBODY)
def test_a_proxy_that_speaks_for_itself_keeps_its_address(start, header):
    gate = start()
    assert ask(gate, header + post(GOOD)) == 204
    assert senders(gate) == [PROXY]


def test_a_header_may_come_byte_by_byte(start):
    gate = start()
    for header in (LINE, version_2()):
        with connect(gate) as connection:
            for byte in header:
                connection.send(bytes([byte]))
                time.sleep(0.1)
            connection.send(post(GOOD))
            assert connection.reply().status == 204
    assert senders(gate) == [SENDER] * 2


@pytest.mark.parametrize("begin", [b"", LINE[:-1], *(header[:-1] for header in HEADERS.values())])
def test_a_header_has_the_handshakes_time(start, begin):
    gate = start()
    with connect(gate) as connection:
        began = time.monotonic()
        for byte in begin[:40]:
            connection.send(bytes([byte]))
            time.sleep(0.1)
        connection.send(begin[40:])
        assert connection.closed_within(10)
        assert time.monotonic() - began == pytest.approx(5)
    assert headers_by(gate, "timeout") == 1
    assert refused(gate, "timeout")[0]["sender"] == PROXY


@pytest.mark.parametrize("sent", BAD.values(), ids=BAD)
def test_without_a_sound_header_a_proxy_is_not_listened_to(start, upstream, sent):
    gate = start()
    with connect(gate) as connection:
        connection.send_what_it_takes(sent)
        began = time.monotonic()
        assert connection.closed_within(5)
        assert time.monotonic() - began < 1
    assert headers_by(gate, "malformed") == 1
    said, = refused(gate, "malformed")
    assert (said["sender"], said["connections"]) == (PROXY, "1")
    assert PROXY not in senders(gate)
    assert gate.send(GOOD).status == 204  # others are served


def test_a_second_header_is_no_http(start, upstream):
    gate = start()
    for header in (LINE, version_2()):
        with connect(gate) as connection:
            connection.send(header + header + post(GOOD))
            answer = connection.reply()
            assert (answer.status, answer.first_line) == (
                400, "malformed HTTP: a PROXY header, which the gate takes once, with server.proxyProtocol, and from "
                     "server.trustedProxies")
            assert connection.closed_within(5)
    assert not upstream.requests


def test_nobody_else_is_believed(start, upstream):
    gate = start()
    for header in HEADERS.values():
        with connect(gate, STRANGER) as connection:
            connection.send(header + post(GOOD))
            answer = connection.reply()
            assert answer.status == 400 and "a PROXY header, which" in answer.first_line
            assert connection.closed_within(5)
    assert ask(gate, post(GOOD), STRANGER) == 204
    assert senders(gate) == [STRANGER] * 4
    event, *_ = gate.said("requests rejected")
    assert event["sender"] == STRANGER and "a PROXY header" in event["err"]
    assert len(upstream.requests) == 1


def test_without_the_key_a_header_is_no_http(start, upstream):
    gate = start("server: {trustedProxies: [10.0.0.5]}\n")
    assert ask(gate, LINE + post(GOOD)) == 400
    assert not upstream.requests


def test_a_connection_that_ends_without_a_byte_is_a_probe(start):
    gate = start()
    connect(gate).close()
    eventually(lambda: headers_by(gate, "closed") == 1, "it is counted")
    with connect(gate) as begun:
        begun.send(LINE[:7])
    eventually(lambda: headers_by(gate, "closed") == 2, "it is counted")
    assert len(refused(gate, "closed")) == 1


def test_the_admin_server_does_not_have_the_protocol(start):
    gate = start(TRUSTS + "}\nadmin: {listen: '127.0.0.1:0'}\n")
    assert ask(gate, LINE + post(GOOD)) == 204
    with client.RawConnection(gate.admin_address, source=PROXY) as probe:
        probe.send(head("GET", "/-/healthy"))
        assert probe.reply("GET").status == 200


def test_a_senders_connections_are_bounded_and_not_its_proxys(start):
    gate = start(TRUSTS + ", maxConnectionsPerPeer: 2}\n")
    other = LINE.replace(b"113.9 ", b"113.10 ")
    with connect(gate) as first, connect(gate) as others:
        others.send(other + head("GET", "/health"))
        assert others.reply("GET").status == 200
        first.send(LINE)
        for _ in range(3):
            with connect(gate) as next_one:
                next_one.send(LINE + head("GET", "/health"))
                assert next_one.reply("GET").status == 200
                with connect(gate) as one_more:
                    one_more.send(LINE + head("GET", "/health"))
                    assert one_more.reply("GET").status == 200
        assert first.closed_within(1)
        others.send(head("GET", "/health"))
        assert others.reply("GET").status == 200
    assert gate.metric("seriesgate_connections_given_up_total", reason="max_connections_per_peer") >= 1


# --- with TLS

def tls_metric(gate, context, name, **labels):
    return metrics(gate, context)[name, frozenset(labels.items())]


def test_the_header_comes_before_tls(start, secured, upstream):
    gate = start(TRUSTS + "}\n", secured.web())
    context = secured.trusting()
    for source, header in ((PROXY, LINE), (PROXY, version_2()), (STRANGER, b"")):
        with connect(gate, source) as connection:
            connection.send(header)
            with secure(context, connection.socket, server_hostname="localhost") as tls:
                tls.sendall(post(GOOD))
                assert tls.recv(15) == b"HTTP/1.1 204 No"
    assert senders(gate) == [SENDER, SENDER, STRANGER]
    assert tls_metric(gate, context, "seriesgate_proxy_headers_total", outcome="completed") == 2


def test_the_header_and_the_begin_of_tls_may_come_in_one_packet_or_in_many(start, secured):
    gate = start(TRUSTS + "}\n", secured.web())
    context = secured.trusting()
    for header, piece in ((LINE, 1 << 20), (version_2(), 1 << 20), (LINE, 7), (HEADERS["with type-length-values"], 1000)):
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        with pytest.raises(ssl.SSLWantReadError):
            tls.do_handshake()
        sent = header + outgoing.read()
        with connect(gate) as connection:
            for at in range(0, len(sent), piece):
                connection.send(sent[at:at + piece])
                time.sleep(0.001)

            def when_enough_has_come(step):
                while True:
                    incoming.write(connection.socket.recv(65536))
                    with contextlib.suppress(ssl.SSLWantReadError):
                        return step()

            when_enough_has_come(tls.do_handshake)
            tls.write(post(GOOD))
            connection.send(outgoing.read())
            assert when_enough_has_come(lambda: tls.read(15)) == b"HTTP/1.1 204 No"
    assert senders(gate) == [SENDER] * 4


def test_with_tls_too_nobody_else_is_believed(start, secured, upstream):
    gate = start(TRUSTS + "}\n", secured.web())
    context = secured.trusting()
    for header in HEADERS.values():
        with connect(gate, STRANGER) as connection:
            connection.send_what_it_takes(header + b"\x16\x03\x01" + bytes(600))
            assert connection.closed_within(2)
    assert tls_metric(gate, context, "seriesgate_proxy_headers_total", outcome="untrusted") == 3
    assert refused(gate, "untrusted")[0]["sender"] == STRANGER
    with connect(gate, STRANGER) as plain:  # the mistake is explained as always
        plain.send(post(GOOD))
        assert plain.read_to_end().startswith(b"HTTP/1.0 400 Bad Request")
    with connect(gate, STRANGER) as silent:
        began = time.monotonic()
        assert silent.closed_within(10)
        assert time.monotonic() - began == pytest.approx(5)
    assert tls_metric(gate, context, "seriesgate_tls_handshakes_total", outcome="timeout") == 1
    for sent in (b"\x16\x03\x01" + bytes(600), b"GET / HTTP/1.1\r\n\r\n"):
        with connect(gate) as connection:
            connection.send_what_it_takes(sent)
            assert connection.closed_within(2)
    assert tls_metric(gate, context, "seriesgate_proxy_headers_total", outcome="malformed") == 2
    assert not upstream.requests


# --- X-Forwarded-For and Forwarded

def test_a_trusted_proxy_names_the_sender_of_each_request(start, upstream):
    gate = start("server: {trustedProxies: [10.0.0.0/24]}\n")
    named = [("X-Forwarded-For", SENDER)], [("X-Forwarded-For", f"198.51.100.1, {SENDER}, 10.0.0.6")], \
        [("Forwarded", f"for=198.51.100.1, for=\"{SENDER}:4711\";proto=https")], [("X-Forwarded-For", "2001:db8::7")], \
        [("X-Forwarded-For", "nonsense")], [("X-Forwarded-For", SENDER), ("Forwarded", "for=198.51.100.1")], []
    with connect(gate) as connection:
        for headers in named:
            connection.send(post(GOOD, headers=headers))
            assert connection.reply().status == 204
    assert senders(gate) == [SENDER, SENDER, SENDER, "2001:db8::7", PROXY, PROXY, PROXY]
    with connect(gate, STRANGER) as connection:
        for headers in named:
            connection.send(post(GOOD, headers=headers))
            assert connection.reply().status == 204
    assert senders(gate)[7:] == [STRANGER] * 7
    assert upstream.requests[0].get("X-Forwarded-For") == SENDER  # it goes on as it came


def test_a_proxied_connection_from_a_trusted_proxy_may_name_the_sender_too(start):
    gate = start()
    other = [("X-Forwarded-For", "198.51.100.7")]
    assert ask(gate, LINE.replace(SENDER.encode(), b"10.0.0.7") + post(GOOD, headers=other)) == 204
    assert ask(gate, LINE + post(GOOD, headers=other)) == 204  # that sender is not trusted
    assert senders(gate) == ["198.51.100.7", SENDER]


def test_lines_and_findings_name_the_sender(start):
    gate = start("maxHourlySeries: 1\nserver: {trustedProxies: [10.0.0.0/24]}\n")
    with connect(gate) as connection:
        connection.send(post(b"bad", headers=[("X-Forwarded-For", SENDER)]))
        assert connection.reply().status == 400
        connection.send(post(wire.pack(b"".join(wire.sampled(f"m{n}") for n in range(3))), headers=[("X-Forwarded-For", SENDER)]))
        assert connection.reply().status == 204
    assert gate.said("requests rejected")[0]["sender"] == SENDER
    eventually(lambda: f'"sender":"{SENDER}"'.encode() in gate.get("/api/v1/refused").body.replace(b" ", b""), "it is named")
