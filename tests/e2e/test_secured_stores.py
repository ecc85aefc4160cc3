"""Real stores behind TLS that want to know who writes: Prometheus, and nginx before one. More: test_tls_servers.py."""

import pytest

import wire
from balancers import Proxy, temporary
from servers import PrometheusStore
from test_tls_servers import PASSWORD, to_store, world  # noqa: F401 (a fixture)
from waiting import eventually
from world import time

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def sample():
    return wire.pack(wire.sampled("secured", timestamp=int(time.time() * 1000), job="a"))


def test_prometheus_with_a_certificate_for_each_and_a_password(start_gate, keep, world):  # noqa: F811
    ours = world.authority.issue("gate.test")
    web = world.web(users=True, client_auth_type="RequireAndVerifyClientCert", client_ca_file=str(world.authority.certificate))
    store = keep(PrometheusStore(world.folder, web, secured=(world.trusting(ours), f"sender:{PASSWORD}")))
    gate = start_gate(config=to_store(world, store, ours))
    assert gate.send(sample()).status == 204
    eventually(lambda: b'"secured"' in store.get("/api/v1/query", query="secured"), "the sample in the store", 30)
    (world.folder / "password").write_text("another")
    eventually(lambda: gate.send(sample()).status == 503, "a password that Prometheus does not take")
    assert gate.metric("seriesgate_upstream_errors_total", reason="unauthorized") >= 1
    reply = start_gate(config=to_store(world, store)).send(sample())
    assert (reply.status, "certificate" in reply.first_line) == (502, True), reply


def nginx(world, behind, more):  # noqa: F811
    return Proxy("nginx", world.folder, "nginx.conf", lambda port: f"""
pid {world.folder}/pid;
error_log stderr;
events {{}}
http {{
  access_log off;
  {temporary(world.folder)}
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {world.certificate};
    ssl_certificate_key {world.key};
    ssl_client_certificate {world.authority.certificate};
    ssl_verify_client on;
    {more}
    location / {{
      proxy_pass http://{behind.host};
      proxy_set_header X-Client $ssl_client_s_dn;
      proxy_set_header X-Resumed $ssl_session_reused;
    }}
  }}
}}
""", secured=(world.trusting(), None))


# (nginx' answer to who shows no certificate, what it is made by)
WITHOUT = [(400, ""), (503, "error_page 495 496 = @come_again; location @come_again { return 503; }")]


@pytest.mark.parametrize("status, setting", WITHOUT)
def test_nginx_that_wants_a_certificate(start_gate, upstream, keep, world, status, setting):  # noqa: F811
    store = keep(nginx(world, upstream, setting))
    gate = start_gate(config=to_store(world, store, world.authority.issue("gate.test")))
    assert gate.send(sample()).status == 204
    assert upstream.requests[-1].get("X-Client") == "CN=gate.test"
    reply = start_gate(config=to_store(world, store)).send(sample())
    assert reply.status == status, reply
