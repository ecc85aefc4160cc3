"""Real stores behind TLS that want to know who writes: Prometheus, and nginx before one. More: test_tls_servers.py."""

import ssl
import subprocess

import pytest

import servers
import wire
from balancers import program
from certificates import Authority
from upstream import Upstream
from waiting import eventually
from world import time

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PASSWORD = "hunter2"
HASH = "$2b$04$abcdefghijklmnopqrstuuV3duMsC0HpUex6N9qapiuOHHWkwRXVm"


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path)


@pytest.fixture
def password(tmp_path):
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n")
    return file


def sample():
    return wire.pack(wire.sampled("secured", timestamp=int(time.time() * 1000), job="a"))


def upstream(store, path, keys):
    return f"upstream:\n  url: https://127.0.0.1:{store.port}{path}\n" + "".join(f"  {line}\n" for line in keys)


def assert_stored(store):
    eventually(lambda: b'"secured"' in store.get("/api/v1/query", query="secured"), "the sample in the store", 30)


def keys_of(authority, password, certificate=None):
    tls = f"caFile: {authority.certificate}"
    if certificate:
        tls += f", certFile: {certificate.certificate}, keyFile: {certificate.key}"
    return [f"tls: {{{tls}}}", f"basicAuth: {{username: gate, passwordFile: {password}}}"]


def test_prometheus_with_a_certificate_for_each_and_a_password(start_gate, authority, password, tmp_path):
    certificate, ours = authority.issue("127.0.0.1"), authority.issue("gate.test")
    web = tmp_path / "web.yml"
    web.write_text(f"""
tls_server_config:
  cert_file: {certificate.certificate}
  key_file: {certificate.key}
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: {authority.certificate}
basic_auth_users: {{gate: {HASH}}}
""")
    context = ssl.create_default_context(cafile=authority.certificate)
    context.load_cert_chain(ours.certificate, ours.key)
    store = servers.Prometheus(tmp_path, "{}\n", f"--web.config.file={web}", "--web.enable-remote-write-receiver",
                               secured=(context, f"gate:{PASSWORD}"))
    try:
        gate = start_gate(config=upstream(store, "/api/v1/write", keys_of(authority, password, certificate=ours)))
        assert gate.send(sample()).status == 204
        assert_stored(store)
        password.write_text("another")
        eventually(lambda: gate.send(sample()).status == 503, "a password that Prometheus does not take")
        assert gate.metric("seriesgate_upstream_errors_total", reason="unauthorized") >= 1
        without = start_gate(config=upstream(store, "/api/v1/write", keys_of(authority, password)))
        reply = without.send(sample())
        assert (reply.status, "certificate" in reply.first_line) == (502, True), reply
    finally:
        store.stop()


def nginx(folder, authority, port, behind, more=""):
    certificate = authority.issue("127.0.0.1")
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
    ssl_certificate {certificate.certificate};
    ssl_certificate_key {certificate.key};
    ssl_client_certificate {authority.certificate};
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
def test_nginx_that_wants_a_certificate(start_gate, authority, tmp_path, status, setting):
    behind, port, ours = Upstream(), servers.free_port(), authority.issue("gate.test")
    process = nginx(tmp_path, authority, port, behind, setting)
    try:
        keys = f"caFile: {authority.certificate}, certFile: {ours.certificate}, keyFile: {ours.key}"
        url = f"https://127.0.0.1:{port}/w"
        gate = start_gate(config=f"upstream: {{url: '{url}', tls: {{{keys}}}}}\n")
        eventually(lambda: gate.send(sample()).status == 204, "nginx", 30)
        assert behind.requests[-1].get("X-Client") == "CN=gate.test"
        without = start_gate(config=f"upstream: {{url: '{url}', tls: {{caFile: {authority.certificate}}}}}\n")
        reply = without.send(sample())
        assert reply.status == status, reply
    finally:
        process.terminate()
        process.wait(30)
        behind.stop()
