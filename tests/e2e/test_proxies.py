"""Who sent it, by Debian's own HAProxy and nginx: PROXY protocol before HTTP and before TLS, X-Forwarded-For."""

import pytest

import recorded
from balancers import AS_ROOT, Proxy, temporary
from client import Client
from secure import Secured
from tables import check_rows, crossed, named
from traffic import body, numbered
from waiting import eventually

GOOD = recorded.bodies("metadata-v1")[0]
PROXY, SENDER = "127.0.0.9", "127.0.0.7"  # the tests themselves are 127.0.0.1, whom the gate does not trust
TRUSTS = f"log: {{level: debug}}\nserver: {{proxyProtocol: %s, trustedProxies: [{PROXY}]}}\n"

HAPROXY = """
global
    log stdout format raw local0
defaults
    log global
    mode {mode}
    timeout connect 5s
    timeout check 10s
    timeout client 30s
    timeout server 30s
{forwards}
listen gates
    bind 127.0.0.1:{port}
    server gate 127.0.0.1:{gate} source {source} {server}
"""

NGINX = """
{user}load_module /usr/lib/nginx/modules/ngx_stream_module.so;
pid {folder}/pid;
error_log stderr;
events {{}}
stream {{ server {{ listen 127.0.0.1:{port}; proxy_pass 127.0.0.1:{gate}; proxy_bind {source}; {server} }} }}
"""

NGINX_HTTP = """
{user}pid {folder}/pid;
error_log stderr;
events {{}}
http {{
    access_log off;
    {temporary}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://127.0.0.1:{gate};
            proxy_bind {source};
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
        }}
    }}
}}
"""

BY_CONNECTION = {"haproxy-1": "send-proxy", "haproxy-2": "send-proxy-v2", "haproxy-2-more":
                 "send-proxy-v2 proxy-v2-options unique-id,crc32c", "nginx": "proxy_protocol on;"}


class FromProxy(Proxy):
    """One before a gate, from the address PROXY."""

    def __init__(self, kind, gate, folder, server="", forwards="", mode="tcp"):
        text = HAPROXY if kind == "haproxy" else NGINX if mode == "tcp" else NGINX_HTTP
        super().__init__(kind, folder, f"{kind}.cfg", lambda port: text.format(
            port=port, gate=gate.address[1], source=PROXY, server=server, forwards=forwards, mode=mode, folder=folder,
            temporary=temporary(folder), user=AS_ROOT))

    def client(self, tls=None):
        return Client(("127.0.0.1", self.port), tls=tls, source=SENDER)


@pytest.fixture
def start_proxy(keep, tmp_path):
    return lambda *arguments, **how: keep(FromProxy(*arguments, tmp_path, **how))


def senders(gate):
    return [event["sender"] for event in gate.said("request answered", path="/api/v1/write")]


def senders_are(gate, expected):
    """A line comes after its answer, and maybe after the other connection's."""
    eventually(lambda: len(senders(gate)) >= len(expected), "a line for each")
    assert sorted(senders(gate)) == sorted(expected)


def test_a_connections_sender_is_known_by_its_header(start_gate, start_proxy, upstream, tmp_path):
    secured = Secured(tmp_path)

    def is_known(kind, is_secure):
        how = {"authority": secured.authority.certificate} if is_secure else {}
        gate = start_gate(f"--upstream.url={upstream.url}", *([secured.web()] if is_secure else []), config=TRUSTS % "true", **how)
        forwards = "    unique-id-format %{+X}o%ci\n" if kind == "haproxy-2-more" else ""
        proxy = start_proxy(kind.split("-")[0], gate, server=BY_CONNECTION[kind], forwards=forwards)
        with proxy.client(secured.trusting() if is_secure else None) as client:
            for _ in range(3):
                assert client.write(GOOD).status == 204
        assert gate.send(GOOD).status == 204  # directly
        senders_are(gate, [SENDER] * 3 + ["127.0.0.1"])
        assert gate.metric("seriesgate_proxy_headers_total", outcome="malformed") == 0

    check_rows(crossed(list(BY_CONNECTION), {"plain": False, "tls": True}), is_known)


def test_haproxys_own_checks_are_understood(start_gate, start_proxy, upstream):
    def is_understood(server):
        gate = start_gate(f"--upstream.url={upstream.url}", config=TRUSTS % "true")
        proxy = start_proxy("haproxy", gate, server=f"{server} check inter 50ms fall 1 rise 1",
                            forwards="    option httpchk GET /-/ready\n")
        eventually(lambda: len(gate.said("request answered", path="/-/ready", sender=PROXY, status="200")) >= 5, "it is checked")
        with proxy.client() as client:
            assert client.write(GOOD).status == 204
        senders_are(gate, [SENDER])
        assert gate.metric("seriesgate_proxy_headers_total", outcome="malformed") == 0

    check_rows(named(["send-proxy", "send-proxy-v2"]), is_understood)


def test_a_requests_sender_is_known_by_its_header(start_gate, start_proxy, upstream):
    def is_known(kind):
        gate = start_gate(f"--upstream.url={upstream.url}", config="maxHourlySeries: 1\n" + TRUSTS % "false")
        proxy = start_proxy(kind, gate, mode="http", forwards="    option forwardfor\n")
        with proxy.client() as client:
            for forged in ([], [("X-Forwarded-For", "198.51.100.1")], [("X-Forwarded-For", PROXY)], [("X-Forwarded-For", "\"")]):
                assert client.write(body(numbered(2)), forged).status == 204
        senders_are(gate, [SENDER] * 4)
        gate.send(body(numbered(2)), [("X-Forwarded-For", SENDER)])
        senders_are(gate, [SENDER] * 4 + ["127.0.0.1"])
        eventually(lambda: f'"{SENDER}"'.encode() in gate.get("/api/v1/refused").body, "a refused series has its sender")

    check_rows(named(["haproxy", "nginx"]), is_known)


def test_a_takeover_keeps_the_protocol(start_gate, start_proxy, upstream, tmp_path):
    config = f"state: {{dir: {tmp_path}/state}}\n" + TRUSTS % "true"
    gate = start_gate(f"--upstream.url={upstream.url}", config=config)
    proxy = start_proxy("haproxy", gate, server="send-proxy-v2")
    with proxy.client() as client:
        assert client.write(GOOD).status == 204
        after = start_gate(f"--upstream.url={upstream.url}", "--takeover", config=config)
        assert gate.wait() == 0
        client.close()
        assert client.write(GOOD).status == 204
    assert after.address == gate.address
    senders_are(gate, [SENDER])
    senders_are(after, [SENDER])
