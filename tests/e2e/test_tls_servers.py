"""TLS with others' programs: openssl s_client and curl; Prometheus, vmagent and VictoriaMetrics on either side."""

import itertools
import json
import re
import signal
import ssl
import subprocess
import tempfile

import pytest

import recorded
import secure
import wire
from busy import Busy
from certificates import Authority, served_with
from client import Client, head
from secure import Secured
from servers import Prometheus, PrometheusStore, VictoriaMetrics, VmAgent, scraping
from tables import check_rows
from test_real_servers import _between
from upstream import Upstream
from waiting import eventually
from web_files import basic

PASSWORD = "open sesame"
HASHED = "$2b$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy"


class World(Secured):
    """An authority and the gate's certificate, another authority, and files with what is made of them."""

    def __init__(self, folder):
        super().__init__(folder)
        self.stranger = Authority(folder, "stranger")

    def web(self, certificate=None, users=False, **tls):
        """The flag that names a web configuration, as Prometheus and the gate read it."""
        if certificate:
            tls |= {"cert_file": str(certificate.certificate), "key_file": str(certificate.key)}
        return super().web(f"basic_auth_users: {{sender: '{HASHED}'}}\n" if users else "", **tls)

    def credentials(self):
        return self.trusting(), f"sender:{PASSWORD}"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.fixture
def secured(start_gate, world):
    """secured(upstream_url, **web): a gate that speaks TLS."""
    def start(upstream_url="discard:", config="", **web):
        return start_gate(world.web(**web), f"--upstream.url={upstream_url}", config=config)

    return start


def say(gate, *options):
    """What `openssl s_client` sees: (its output, the answer's status line or "")."""
    question = head("GET", "/health", [("Connection", "close")])
    _, output = secure.s_client(gate.address, "-ign_eof", *options, text=question)
    answered = re.search(r"HTTP/1\.[01] \d+", output)
    return output, answered.group(0) if answered else ""


def curl(gate, *options, scheme="https", path="/health"):
    """@return exit status, what was written"""
    result = subprocess.run(["curl", "--silent", "--show-error", "--max-time", "20", *map(str, options),
                             f"{scheme}://127.0.0.1:{gate.address[1]}{path}"],
                            capture_output=True, text=True, timeout=30)
    return result.returncode, result.stdout + result.stderr


def told(gate, outcome, words):
    """The log has a line of a failed handshake with these words."""
    eventually(lambda: [event for event in gate.said("TLS handshakes failed", outcome=outcome) if words in event["err"]],
               f"{outcome}: {words}\n{gate.log}")


AGREED = [
    ((), "HTTP/1.1 200", "TLSv1.3"),
    (("-tls1_3",), "HTTP/1.1 200", "TLSv1.3"),
    (("-tls1_2",), "HTTP/1.1 200", "TLSv1.2"),
    (("-tls1_1", "-cipher", "ALL:@SECLEVEL=0"), "", ""),
    (("-tls1", "-cipher", "ALL:@SECLEVEL=0"), "", ""),
    (("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"), "HTTP/1.1 200", "TLSv1.2"),
    (("-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"), "", ""),  # of a key that the gate has not
    (("-groups", "P-384"), "HTTP/1.1 200", "TLSv1.3"),
    (("-alpn", "http/1.1"), "HTTP/1.1 200", "TLSv1.3"),
    (("-alpn", "h2,http/1.1"), "HTTP/1.1 200", "TLSv1.3"),
    (("-alpn", "h2"), "", ""),
    (("-servername", "another.test"), "HTTP/1.1 200", "TLSv1.3"),
]


def test_s_client_agrees_with_the_gate_about(secured, world):
    gate = secured()

    def agrees(options, status, protocol):
        output, answered = say(gate, "-CAfile", world.authority.certificate, "-verify_return_error", *options)
        assert answered == status, output
        if status:
            assert f"New, {protocol}, Cipher is" in output and "Verify return code: 0 (ok)" in output
            assert ("ALPN protocol: http/1.1" in output) == ("-alpn" in options)

    check_rows({" ".join(row[0]): row for row in AGREED}, agrees)
    assert gate.running
    assert say(gate, "-CAfile", world.authority.certificate)[1] == "HTTP/1.1 200"  # nobody else is harmed


def test_the_gate_says_why_there_was_no_handshake(secured, world):
    gate = secured()
    say(gate, "-alpn", "h2")
    told(gate, "failed", "no common application protocol")
    gate = secured()
    say(gate, "-tls1_1", "-cipher", "ALL:@SECLEVEL=0")
    told(gate, "failed", "no common protocol version")


def test_nothing_is_negotiated_again(secured, world):
    gate = secured()
    _, output = secure.s_client(gate.address, "-tls1_2", text=b"R\n")
    assert "Secure Renegotiation IS supported" in output and "RENEGOTIATING" in output
    assert ":no renegotiation:" in output, output
    assert say(gate)[1] == "HTTP/1.1 200"


def test_a_session_is_resumed(secured, world):
    gate = secured()
    session = world.folder / "session"
    for version in ("-tls1_2", "-tls1_3"):
        assert "New, TLS" in say(gate, version, "-sess_out", session)[0]
        assert "Reused, TLS" in say(gate, version, "-sess_in", session)[0]


def test_a_client_has_to_show_a_certificate_that_is_good(secured, world):
    def is_let_in_or_told_of(shown, words):
        gate = secured(client_auth_type="RequireAndVerifyClientCert", client_allowed_sans=["sender.test"],
                       client_ca_file=str(world.authority.certificate))
        options = ("-cert", shown.certificate, "-key", shown.key) if shown else ()
        for version in ("-tls1_2", "-tls1_3"):
            assert say(gate, version, *options)[1] == ("" if words else "HTTP/1.1 200")
        if words:
            told(gate, "certificate", words)

    known = world.authority
    check_rows({
        "good": (known.issue("sender.test"), None), "none": (None, "no client certificate"),
        "expired": (known.issue("sender.test", expired=True), "certificate has expired"),
        "stranger": (world.stranger.issue("sender.test"), "unable to get local issuer certificate"),
        "name": (known.issue("another.test"), "no allowed name in the client certificate"),
    }, is_let_in_or_told_of)


def test_curl_believes_the_gate_when_it_proves_its_name(secured, world):
    gate = secured(users=True)
    ca = ("--cacert", world.authority.certificate)
    assert curl(gate, *ca, "--user", f"sender:{PASSWORD}") == (0, "OK\n")
    assert curl(gate, *ca, "--write-out", " %{http_code}")[1].endswith(" 401")
    assert curl(gate, *ca, "--user", "sender:wrong", "--write-out", " %{http_code}")[1].endswith(" 401")
    status, text = curl(gate)
    assert (status, "unable to get local issuer certificate" in text) == (60, True), text
    status, text = curl(gate, *ca, "--connect-to", f"another.test:{gate.address[1]}:127.0.0.1:{gate.address[1]}",
                        "--resolve", f"another.test:{gate.address[1]}:127.0.0.1", "--url",
                        f"https://another.test:{gate.address[1]}/health", "--fail-early")
    assert (status, "no alternative certificate subject name matches" in text) == (60, True), text
    told(gate, "certificate", "told by the peer: unknown CA")
    status, text = curl(gate, scheme="http")
    assert (status, text) == (0, "Client sent an HTTP request to an HTTPS server.\n")
    told(gate, "plain_http", "not TLS: looks like plain HTTP")


def sending_to(gate, world, folder, ca=None, name=None):
    """A Prometheus that scrapes itself and writes to the gate."""
    server_name = f", server_name: {name}" if name else ""
    return Prometheus(folder, lambda port: scraping(
        {"prometheus": f"127.0.0.1:{port}"}, f"https://127.0.0.1:{gate.address[1]}/api/v1/write",
        f"    tls_config: {{ca_file: {ca or world.authority.certificate}{server_name}}}\n"
        f"    basic_auth: {{username: sender, password: {PASSWORD}}}\n"))


def to_store(world, store, shown=None):
    """The gate's own side, as configuration. `shown`: its certificate, if it has one."""
    password = world.folder / "password"
    password.write_text(PASSWORD + "\n")
    ours = f", certFile: {shown.certificate}, keyFile: {shown.key}" if shown else ""
    return f"""
upstream:
  url: {store.url}/api/v1/write
  tls: {{caFile: {world.authority.certificate}{ours}}}
  basicAuth: {{username: sender, passwordFile: {password}}}
"""


def stats(gate, world):
    with Client(gate.address, 30, world.trusting()) as asks:
        answer = asks.request("GET", "/stats", headers=[basic("sender", PASSWORD)])
    assert answer.status == 200
    return json.loads(answer.body)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_from_a_real_prometheus_over_tls_to_another_with_passwords_on_both_ways(start_gate, keep, world):
    web = world.web(users=True)
    for name in ("store", "sender"):
        (world.folder / name).mkdir()
    store = keep(PrometheusStore(world.folder / "store", web, secured=world.credentials()))
    gate = start_gate(web, config=to_store(world, store))
    sender = keep(sending_to(gate, world, world.folder / "sender"))
    eventually(lambda: store.metric("prometheus_tsdb_head_samples_appended_total") >= 5000, "samples came", 90, every=0.5)
    told_by_gate = stats(gate, world)
    sender.stop()
    store.stop()
    assert told_by_gate["requests"]["upstreamErrors"] == told_by_gate["requests"]["rejected"] == 0
    scraped, stored = sender.dump(), store.dump()
    times = [at for values in stored.values() for at in values]
    first, last = min(times) + 2000, max(times) - 2000
    arrived = {labels: _between(values, first, last) for labels, values in stored.items()}
    assert {labels: values for labels, values in arrived.items() if values} == \
        {labels: kept for labels, values in scraped.items() if (kept := _between(values, first, last))}
    assert PASSWORD not in gate.log and HASHED not in gate.log
    assert stats(gate, world)["windows"]["hourly"]["currentSeries"] == len(stored)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_from_a_real_vmagent_over_tls_to_a_victoria_metrics(start_gate, keep, world):
    store = keep(VictoriaMetrics(world.folder, "-tls", f"-tlsCertFile={world.certificate}", f"-tlsKeyFile={world.key}",
                                 "-httpAuth.username=sender", f"-httpAuth.password={PASSWORD}", secured=world.credentials()))
    gate = start_gate(world.web(users=True), config=to_store(world, store))
    keep(VmAgent(world.folder, gate, f"-remoteWrite.tlsCAFile={world.authority.certificate}",
                 "-remoteWrite.basicAuth.username=sender", f"-remoteWrite.basicAuth.password={PASSWORD}",
                 write_to=f"https://127.0.0.1:{gate.address[1]}"))
    eventually(lambda: stats(gate, world)["samples"]["accepted"] >= 3000, "samples went", 90, every=0.5)
    eventually(lambda: sum(map(len, store.samples().values())) >= 3000, "samples are there", 60, every=0.5)
    assert stats(gate, world)["requests"]["upstreamErrors"] == 0


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("fault, sender_says", [
    ("authority", "certificate signed by unknown authority"), ("name", "certificate is valid for"),
    ("expired", "certificate has expired or is not yet valid")])
def test_what_a_real_prometheus_says_of_a_gate_that_it_does_not_believe(secured, upstream, keep, world, fault, sender_says):
    certificate = world.authority.issue("127.0.0.1", expired=True) if fault == "expired" else None
    gate = secured(upstream.url, certificate=certificate)
    how = {"authority": {"ca": world.stranger.certificate}, "name": {"name": "another.test"}, "expired": {}}[fault]
    sender = keep(sending_to(gate, world, world.folder, **how))
    eventually(lambda: sender_says in sender.log_path.read_text(), sender_says, 60, every=0.2)
    told(gate, "certificate", "told by the peer: ")
    assert upstream.requests == []


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_what_the_gate_says_of_a_real_prometheus_that_it_does_not_believe(start_gate, keep, world):
    def is_said(certificate, authority, password, words):
        store = keep(PrometheusStore(tempfile.mkdtemp(dir=world.folder), world.web(users=True, certificate=certificate),
                                     secured=(ssl._create_unverified_context(), f"sender:{PASSWORD}")))
        config = to_store(world, store).replace(str(world.authority.certificate), str(authority.certificate))
        (world.folder / "password").write_text(f"{password}\n")
        gate = start_gate(config=config)
        reply = gate.send(recorded.bodies()[0])
        assert reply.status in (502, 503), reply  # the sender keeps what it has
        eventually(lambda: words in gate.log, words)
        assert store.metric("prometheus_tsdb_head_samples_appended_total") == 0
        assert PASSWORD not in gate.log

    known = world.authority
    check_rows({
        "authority": (None, world.stranger, PASSWORD, "unable to get local issuer certificate"),
        "name": (known.issue("another.test"), known, PASSWORD, "IP address mismatch"),
        "expired": (known.issue("127.0.0.1", expired=True), known, PASSWORD, "certificate has expired"),
        "password": (None, known, "wrong", "401"),
    }, is_said)


def test_certificates_change_on_both_sides_and_no_request_is_lost(start_gate, keep, world):
    store = keep(Upstream(tls=served_with(world.authority.issue("127.0.0.1"))))
    sent, seen, failures, numbers = [], set(), [], itertools.count()

    def send(*_):
        connection = secure.connection(gate.address, world.trusting())
        connection.connect()
        seen.add(connection.sock.getpeercert()["serialNumber"])
        for _ in range(3):
            body = wire.pack(wire.sampled(f"m_{next(numbers)}"))
            status = secure.write(connection, body)
            sent.append(body)
            if status != 204:
                failures.append(status)
        connection.close()

    gate = start_gate(world.web(), config=f"upstream: {{url: '{store.url}', tls: {{caFile: {world.authority.certificate}}}}}\n")
    with Busy(gate.address, 3, send):
        for count in range(2, 6):
            world.install(world.authority.issue("127.0.0.1"))
            store.tls = served_with(world.authority.issue("127.0.0.1"))
            if count % 2:
                gate.signal(signal.SIGHUP)
            eventually(lambda: len(seen) == count, f"{count} certificates were seen\n{gate.log}", 30)
    assert failures == []
    assert sorted(store.bodies) == sorted(sent)
    eventually(lambda: len(gate.said("TLS files taken")) >= 4, "a line for each")
    assert len(gate.said("TLS files taken")) == 4
