"""Real stores behind TLS that want to know who writes: Prometheus, and nginx before one. More: test_tls_servers.py."""

import subprocess
from types import SimpleNamespace

import pytest

import servers
import wire
from balancers import program
from test_tls_servers import PASSWORD, to_store, world  # noqa: F401 (a fixture)
from upstream import Upstream
from waiting import eventually
from world import time

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


def sample():
    return wire.pack(wire.sampled("secured", timestamp=int(time.time() * 1000), job="a"))


def test_prometheus_with_a_certificate_for_each_and_a_password(start_gate, world):  # noqa: F811
    ours = world.authority.issue("gate.test")
    web = world.web(users=True, client_auth_type="RequireAndVerifyClientCert", client_ca_file=str(world.authority.certificate))
    store = servers.Prometheus(world.folder, "{}\n", web, "--web.enable-remote-write-receiver",
                               secured=(world.trusting(ours), f"sender:{PASSWORD}"))
    try:
        gate = start_gate(config=to_store(world, store, ours))
        assert gate.send(sample()).status == 204
        eventually(lambda: b'"secured"' in store.get("/api/v1/query", query="secured"), "the sample in the store", 30)
        (world.folder / "password").write_text("another")
        eventually(lambda: gate.send(sample()).status == 503, "a password that Prometheus does not take")
        assert gate.metric("seriesgate_upstream_errors_total", reason="unauthorized") >= 1
        reply = start_gate(config=to_store(world, store)).send(sample())
        assert (reply.status, "certificate" in reply.first_line) == (502, True), reply
    finally:
        store.stop()


def nginx(world, port, behind, more):  # noqa: F811
    folder = world.folder
    file = folder / "nginx.conf"
    file.write_text(f"""
daemon off;
pid {folder}/pid;
error_log stderr;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
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
""")
    with open(folder / "nginx.log", "wb") as log:
        return subprocess.Popen([program("nginx"), "-c", file, "-p", folder], stdout=log, stderr=log)


# (nginx' answer to who shows no certificate, what it is made by)
WITHOUT = [(400, ""), (503, "error_page 495 496 = @come_again; location @come_again { return 503; }")]


@pytest.mark.parametrize("status, setting", WITHOUT)
def test_nginx_that_wants_a_certificate(start_gate, world, status, setting):  # noqa: F811
    behind, port = Upstream(), servers.free_port()
    process = nginx(world, port, behind, setting)
    try:
        store = SimpleNamespace(url=f"https://127.0.0.1:{port}")
        gate = start_gate(config=to_store(world, store, world.authority.issue("gate.test")))
        eventually(lambda: gate.send(sample()).status == 204, "nginx", 30)
        assert behind.requests[-1].get("X-Client") == "CN=gate.test"
        reply = start_gate(config=to_store(world, store)).send(sample())
        assert reply.status == status, reply
    finally:
        process.terminate()
        process.wait(30)
        behind.stop()
