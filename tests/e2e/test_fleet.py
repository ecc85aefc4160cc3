"""Several gates behind HAProxy and behind nginx, as deploy/ has them: who goes where, and what that does to limits."""

import base64
import subprocess

import pytest

import recorded
import servers
import wire
from fleets import (BY_CLUSTER, BY_LOGIN, FIRST_SERVER, GATES, LAST_SERVER, QUICK_CHECKS, ROUND_ROBIN, SPARE, TENANTS,
                    fleet, kind)  # noqa: F401
from traffic import TENANT, arrived, body, identity, numbered
from waiting import eventually

pytestmark = pytest.mark.extended

# --- who goes where

def test_a_tenant_has_one_gate_whichever_balancer_and_however_many_gates(fleet, kind):
    gates = fleet()
    homes = gates.probe()
    assert gates.probe() == homes
    shares = [list(homes.values()).count(index) for index in range(GATES)]
    assert sum(shares) == len(TENANTS)
    assert min(shares) >= 8, shares
    fleet(again=gates)
    assert gates.probe() == homes, "another balancer with the same file agrees"

    fleet(again=gates, edits=[(FIRST_SERVER[kind], "")])  # a gate is taken out for good: its own tenants move
    fewer = gates.probe()
    assert set(fewer.values()) == {1, 2}
    assert {tenant for tenant in TENANTS if fewer[tenant] != homes[tenant]} == \
        {tenant for tenant in TENANTS if homes[tenant] == 0}

    gates.add()  # it takes its share, and nobody else moves
    last = LAST_SERVER[kind]
    fourth = last.replace("10.0.0.13:9201", f"127.0.0.1:{gates.ports[3]}").replace("gate-3", "gate-4").replace("id 3", "id 4")
    fleet(again=gates, edits=[(last, last + fourth)])
    more = gates.probe()
    moved = {tenant for tenant in TENANTS if more[tenant] != homes[tenant]}
    assert {more[tenant] for tenant in moved} == {3}
    assert 4 <= len(moved) <= 30


def test_without_a_tenant_a_sender_has_one_gate(fleet):
    """And an empty tenant is none."""
    gates = fleet()
    homes = []
    for source in (f"127.0.0.{n}" for n in range(2, 32)):
        gates.clear()
        for tenant in (None, "", None):
            assert gates.send("up", tenant, source=source).status == 204
        assert sorted(len(store.requests) for store in gates.stores) == [0, 0, 3]
        homes.append(next(index for index, store in enumerate(gates.stores) if store.requests))
    assert set(homes) == set(range(GATES))


@pytest.mark.parametrize("edits, header", [(BY_CLUSTER, lambda n: ("X-Cluster", f"eu-{n}")), (BY_LOGIN, lambda n: (
    "Authorization", "Basic " + base64.b64encode(f"team-{n}:secret".encode()).decode()))], ids=["cluster", "login"])
def test_what_is_named_instead_of_the_tenant_has_one_gate(fleet, kind, edits, header):
    gates = fleet(edits=edits[kind])
    homes = set()
    for n in range(30):
        gates.clear()
        for tenant in ("a", "b", "c", "d"):
            assert gates.balancer.send(wire.pack(wire.sampled("up")), [(TENANT, tenant), header(n)]).status == 204
        assert sorted(len(store.requests) for store in gates.stores) == [0, 0, 4]
        homes.add(next(index for index, store in enumerate(gates.stores) if store.requests))
    assert homes == set(range(GATES))


def test_who_names_two_tenants_is_routed_by_the_one_that_is_counted(fleet):
    gates = fleet("tenants: {default: {maxHourlySeries: 10}}\n")
    for n in range(40):
        series = body(numbered(1, start=n))
        assert gates.balancer.send(series, [(TENANT, "shop"), (TENANT, f"other-{n}")]).status == 204
    requests = [request for store in gates.stores for request in store.requests]
    assert requests and all(len(request.all(TENANT)) == 1 for request in requests)
    assert all(len(way) == 1 for way in gates.ways().values())
    assert len(gates.arrived("shop")) <= 10


def test_only_writes_pass_and_none_over_the_bound(fleet, kind):
    gates = fleet()
    reply = gates.balancer.send(bytes(32 * 1024 * 1024 + 1), [(TENANT, "shop")])
    assert reply.status == 400  # which senders drop, and not 413, which vmagent repeats
    assert "larger than" in reply.first_line
    with gates.balancer.client() as client:
        for method, path in (("POST", "/-/reload"), ("GET", "/stats"), ("GET", "/metrics"), ("GET", "/config"), ("GET", "/")):
            assert client.request(method, path).status == 404
        if kind == "haproxy":
            assert (client.get("/-/ready").status, client.get("/-/ready").body) == (200, b"OK")
    assert all(gate.metric("seriesgate_config_reload_requests_total") == 0 for gate in gates.gates)


def test_the_store_hears_of_the_sender_and_the_gate_of_the_balancer(fleet):
    gates = fleet()
    assert gates.send("up", "shop", source="127.0.0.9").status == 204
    request, = [request for store in gates.stores for request in store.requests]
    assert request.get("X-Forwarded-For") == "127.0.0.9"
    assert gates.balancer.send(b"bad", [(TENANT, "shop")], source="127.0.0.9").status == 400
    home = gates.probe(["shop"])["shop"]
    eventually(lambda: gates.gates[home].said("requests rejected", sender="127.0.0.1", tenant="shop"), "the log says so")
    assert not any("127.0.0.9" in gate.log for gate in gates.gates)


def test_requests_and_answers_pass_as_they_are(fleet):
    gates = fleet("tenants: {default: {maxHourlySeries: 40000}, overrides: {small: {maxHourlySeries: 1}}}\n")
    bodies = recorded.bodies()
    with gates.balancer.client() as client:
        for sent in bodies:
            assert client.write(sent, [(TENANT, "shop")]).status == 204
        reply = client.write(body(numbered(3)), [(TENANT, "small")])
    assert (reply.status, reply.refused) == (204, (2, 2))
    home = gates.stores[min(gates.ways()["shop"])]
    assert [request.body for request in home.requests if request.get(TENANT) == "shop"] == bodies


# --- what it does to limits

LIMITED = "tenants: {default: {maxHourlySeries: 10}}\n"


def offer_one_by_one(gates, tenants, count):
    for tenant in tenants:
        for series in numbered(count):
            assert gates.balancer.send(body([series]), [(TENANT, tenant)]).status == 204


def test_the_limit_of_a_tenant_is_exact_when_tenants_have_one_gate_each(fleet):
    gates = fleet(LIMITED)
    offer_one_by_one(gates, TENANTS[:8], 40)
    for tenant in TENANTS[:8]:
        assert gates.arrived(tenant) == [identity(series) for series in numbered(10)]
    assert len({index for way in gates.ways().values() for index in way}) > 1


def test_limits_add_up_when_requests_go_round(fleet, kind):
    gates = fleet(LIMITED, ROUND_ROBIN[kind])
    offer_one_by_one(gates, TENANTS[:4], 60)
    for tenant in TENANTS[:4]:
        came = gates.arrived(tenant)
        assert len(came) == len(set(came)) == GATES * 10
    assert [gate.current() for gate in gates.gates] == [4 * 10] * GATES


def test_with_a_spare_the_limit_of_all_tenants_is_exact_too(fleet, kind):
    gates = fleet("maxHourlySeries: 20\n", [*SPARE[kind], *QUICK_CHECKS[kind]])
    offer_one_by_one(gates, TENANTS[:8], 5)
    assert [gate.current() for gate in gates.gates] == [20, 0, 0]
    gates.gates[0].stop()
    gates.clear()
    eventually(lambda: gates.send("m", "first").status == 204, "the spare takes over", 20, every=0.05)
    offer_one_by_one(gates, TENANTS[:8], 5)
    assert [gate.current() for gate in gates.gates[1:]] == [20, 0]
    assert [len(arrived(store.requests)) for store in gates.stores] == [0, 20, 0]


def test_a_pair_counts_once_by_tenant_and_may_count_twice_by_source(fleet):
    gates = fleet("ignoreLabels: [replica]\n")
    replicas = {"127.0.0.2": "a", "127.0.0.3": "b"}

    def send(tenant):
        for source, replica in replicas.items():
            gates.balancer.send(body(numbered(10, replica=replica)), tenant, source=source)

    send([(TENANT, "shop")])
    assert sorted(gate.current() for gate in gates.gates) == [0, 0, 10]
    apart = next(f"127.0.0.{n}" for n in range(4, 60) if home_of(gates, f"127.0.0.{n}") != home_of(gates, "127.0.0.2"))
    replicas = {"127.0.0.2": "a", apart: "b"}
    before = sum(gate.current() for gate in gates.gates)
    send([])
    assert sum(gate.current() for gate in gates.gates) == before + 2 * 10


def home_of(gates, source):
    """The gate of a sender without a tenant. Metadata asks, for it is no series."""
    gates.clear()
    assert gates.balancer.send(wire.pack(wire.metadata("asks")), source=source).status == 204
    return next(index for index, store in enumerate(gates.stores) if store.requests)


# --- tenants by login

LOGIN = "Basic c2hvcDp3b3JkIG9mIHNob3A="  # shop, word of shop


def by_login(kind, folder):
    """Edits that take the file's own recipe out of its comments."""
    hashed = subprocess.run(["openssl", "passwd", "-6", "word of shop"], check=True, capture_output=True,
                            text=True).stdout.strip()
    if kind == "haproxy":
        return [("#userlist teams\n#    user shop password $6$...", f"userlist teams\n    user shop password {hashed}"),
                ("#http-request ", "http-request ")]
    passwords = folder / "teams"
    passwords.write_text(f"shop:{hashed}\n")
    return [("/etc/nginx/teams", str(passwords)), ("#auth_basic", "auth_basic"), ("#proxy_set_header", "proxy_set_header"),
            ("$http_x_scope_orgid", "$remote_user")]


def test_the_login_decides_who_the_tenant_is(fleet, kind, tmp_path):
    gates = fleet(edits=by_login(kind, tmp_path))
    up = wire.pack(wire.sampled("up"))
    assert gates.balancer.send(up, [(TENANT, "shop")]).status == 401
    assert gates.balancer.send(up, [("Authorization", "Basic c2hvcDpndWVzcw==")]).status == 401
    for claimed in ([], [(TENANT, "infra")], [(TENANT, "data")]):
        assert gates.balancer.send(up, [("Authorization", LOGIN), *claimed]).status == 204
    requests = [request for store in gates.stores for request in store.requests]
    assert [(request.all(TENANT), request.all("Authorization")) for request in requests] == [(["shop"], [])] * 3
    assert sorted(gate.current() for gate in gates.gates) == [0, 0, 1]


# --- real senders

def prometheus_config(gates, port):
    """With a login, and not with `headers`: those get lost in Debian's 2.42 (prometheus/prometheus#13030)."""
    return f"""
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: prometheus
    static_configs: [{{targets: ['127.0.0.1:{port}']}}]
remote_write:
  - url: {gates.balancer.url}/api/v1/write
    tls_config: {{ca_file: {gates.balancer.certificate.certificate}}}
    basic_auth: {{username: shop, password: word of shop}}
    queue_config: {{batch_send_deadline: 200ms}}
"""


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_real_prometheus_writes_over_tls_to_one_gate(fleet, kind, tmp_path):
    gates = fleet(edits=by_login(kind, tmp_path))
    prometheus = servers.Prometheus(tmp_path, lambda port: prometheus_config(gates, port))
    try:
        eventually(lambda: prometheus.metric("prometheus_remote_storage_samples_total") >= 2000, "samples went", 60, every=0.2)
        for trouble in ("failed", "retried"):
            assert prometheus.metric(f"prometheus_remote_storage_samples_{trouble}_total") == 0
    finally:
        prometheus.stop()
    assert sorted(bool(store.requests) for store in gates.stores) == [False, False, True]
    came = set(gates.arrived("shop"))
    assert len(came) > 300
    assert sorted(gate.current() for gate in gates.gates) == [0, 0, len(came)]


@pytest.mark.slow
def test_a_real_vmagent_writes_over_tls_to_one_gate(fleet, tmp_path):
    gates = fleet()
    vmagent = servers.VmAgent(tmp_path, gates.gates[0], f"-remoteWrite.headers={TENANT}: shop",
                              f"-remoteWrite.tlsCAFile={gates.balancer.certificate.certificate}",
                              write_to=gates.balancer.url)
    try:
        eventually(lambda: len(gates.arrived("shop")) > 1000, "samples went", 30, every=0.2)
    finally:
        vmagent.stop()
    assert gates.ways().keys() == {"shop"}
    assert sorted(bool(store.requests) for store in gates.stores) == [False, False, True]
    assert sorted(gate.current() for gate in gates.gates) == [0, 0, len(set(gates.arrived("shop")))]
