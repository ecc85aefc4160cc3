"""Several gates behind HAProxy and behind nginx, as deploy/ has them: who goes where, what that does to limits, and what happens
when gates and stores fail: no request is lost, and nobody moves in vain."""

import base64
import http.client
import itertools
import subprocess

import pytest

import balancers
import recorded
import servers
import wire
from traffic import TENANT, arrived, body, identity, numbered
from upstream import Answer, Upstream
from waiting import eventually
from world import ThreadPoolExecutor, threading

pytestmark = pytest.mark.extended

GATES = 3
TENANTS = [f"team-{n}" for n in range(60)]

# What tests change in the files of deploy/.
SERVER = {"haproxy": "    server gate-{0} 10.0.0.1{0}:9201 id {0}\n",
          "nginx": "        server 10.0.0.1{0}:9201 max_fails=1 fail_timeout=5s;\n"}
SPARE = {"haproxy": [("id 2\n", "id 2 backup\n"), (SERVER["haproxy"].format(3), "")],
         "nginx": [("hash $route consistent;", ""), ("12:9201 max_fails", "12:9201 backup max_fails"), (SERVER["nginx"].format(3), "")]}
AS_IT_IS = dict.fromkeys(balancers.KINDS, ())
BY_SENDER = {"haproxy": [("    http-request set-var(txn.route) req.fhdr(X-Scope-OrgID) if { req.fhdr(X-Scope-OrgID),length gt 0 }\n",
                          "")],
             "nginx": [("hash $route consistent;", "hash $remote_addr consistent;")]}
BY_LOGIN = {"haproxy": [("set-var(txn.route) req.fhdr(X-Scope-OrgID) if { req.fhdr(X-Scope-OrgID)",
                         "set-var(txn.route) http_auth_user if { http_auth_user")],
            "nginx": [("map $http_x_scope_orgid", "map $remote_user"), ("default $http_x_scope_orgid", "default $remote_user")]}
NO_CHECKS = {"haproxy": [("inter 2s fastinter 500ms", "inter 1h")], "nginx": []}
QUICK_CHECKS = {"haproxy": [("inter 2s fastinter 500ms", "inter 200ms")], "nginx": [("fail_timeout=5s", "fail_timeout=1s")]}
ROUND_ROBIN = {"haproxy": [("balance hash var(txn.route)\n    hash-type consistent wt6", "balance roundrobin")],
               "nginx": [("hash $route consistent;", ""), ("worker_processes auto", "worker_processes 1")]}


class Fleet:
    """Gates that share nothing, each with a store of its own, so that one sees which way a request went."""

    def __init__(self, start_gate, keep, config):
        self._start_gate, self._keep, self._config = start_gate, keep, config
        self.stores, self.gates, self.balancer = [], [], None
        for _ in range(GATES):
            self.add()

    @property
    def ports(self):
        return [gate.address[1] for gate in self.gates]

    def add(self):
        self.stores.append(self._keep(Upstream()))
        self.gates.append(self._start(self.stores[-1], 0))

    def restart(self, index):
        port = self.ports[index]
        self.gates[index] = servers.on_its_old_port(lambda: self._start(self.stores[index], port))

    def ways(self):
        """Which gates each tenant's requests went through: {tenant: {index}}."""
        went = {}
        for index, store in enumerate(self.stores):
            for request in list(store.requests):
                went.setdefault(request.get(TENANT), set()).add(index)
        return went

    def arrived(self, tenant):
        """The series that came to the stores for a tenant, each as often as it came."""
        return arrived([request for store in self.stores for request in list(store.requests)
                        if request.body and request.get(TENANT) == tenant])

    def probe(self, tenants=tuple(TENANTS), **how):
        """Where each tenant goes now: {tenant: index}; each has to go to one gate only."""
        self.clear()
        for tenant in tenants:
            assert self.send("probe", tenant, **how).status == 204
        ways = self.ways()
        assert all(len(way) == 1 for way in ways.values()), ways
        return {tenant: min(way) for tenant, way in ways.items()}

    def send(self, name, tenant=None, **how):
        headers = [(TENANT, tenant)] if tenant is not None else []
        return self.balancer.send(wire.pack(wire.sampled(name)), headers, **how)

    def clear(self):
        for store in self.stores:
            store.clear()

    def _start(self, store, port):
        return self._start_gate(f"--upstream.url={store.url}", f"--listen=127.0.0.1:{port}", config=self._config)


@pytest.fixture(params=balancers.KINDS)
def kind(request):
    return request.param


@pytest.fixture
def fleet(start_gate, keep, tmp_path, kind):
    """fleet(configuration of each gate, edits of the balancer's file): gates behind a balancer. `again`: a fleet that is to
    get a new balancer instead."""
    def start(config="{}\n", edits=(), again=None):
        made = again or Fleet(start_gate, keep, config)
        if again:
            made.balancer.stop()
        made.balancer = keep(balancers.Balancer(kind, made.ports[:GATES], tmp_path, edits))
        return made

    return start


# --- who goes where

def test_a_tenant_has_one_gate_whichever_balancer_and_however_many_gates(fleet, kind):
    gates = fleet()
    homes = gates.probe()
    assert gates.probe(source="127.0.0.9") == homes, "whoever sends"
    shares = [list(homes.values()).count(index) for index in range(GATES)]
    assert sum(shares) == len(TENANTS)
    assert min(shares) >= 8, shares
    fleet(again=gates)
    assert gates.probe() == homes, "another balancer with the same file agrees"

    fleet(again=gates, edits=[(SERVER[kind].format(1), "")])  # a gate is taken out for good: its own tenants move
    fewer = gates.probe()
    assert set(fewer.values()) == {1, 2}
    assert {tenant for tenant in TENANTS if fewer[tenant] != homes[tenant]} == \
        {tenant for tenant in TENANTS if homes[tenant] == 0}

    gates.add()  # it takes its share, and nobody else moves
    last, fourth = SERVER[kind].format(3), SERVER[kind].format(4).replace("10.0.0.14:9201", f"127.0.0.1:{gates.ports[3]}")
    fleet(again=gates, edits=[(last, last + fourth)])
    more = gates.probe()
    moved = {tenant for tenant in TENANTS if more[tenant] != homes[tenant]}
    assert {more[tenant] for tenant in moved} == {3}
    assert 4 <= len(moved) <= 30


def login(n):
    return [("Authorization", "Basic " + base64.b64encode(f"team-{n}:secret".encode()).decode())]


@pytest.mark.parametrize("edits, tenants, source, headers", [
    pytest.param(AS_IT_IS, (None, "", None, ""), lambda n: f"127.0.0.{n + 2}", lambda n: [], id="without a tenant"),
    pytest.param(BY_SENDER, "abcd", lambda n: f"127.0.0.{n + 2}", lambda n: [], id="sender"),
    pytest.param(BY_LOGIN, "abcd", lambda n: "127.0.0.1", login, id="login")])
def test_what_is_named_instead_of_the_tenant_has_one_gate(fleet, kind, edits, tenants, source, headers):
    """An empty tenant is none, and then it is the sender."""
    gates = fleet(edits=edits[kind])
    homes = set()
    for n in range(30):
        gates.clear()
        for tenant in tenants:
            sent = [*([] if tenant is None else [(TENANT, tenant)]), *headers(n)]
            assert gates.balancer.send(wire.pack(wire.sampled("up")), sent, source=source(n)).status == 204
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

def offer_one_by_one(gates, tenants, count):
    for tenant in tenants:
        for series in numbered(count):
            assert gates.balancer.send(body([series]), [(TENANT, tenant)]).status == 204


def test_limits_add_up_when_requests_go_round(fleet, kind):
    gates = fleet("tenants: {default: {maxHourlySeries: 10}}\n", ROUND_ROBIN[kind])
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


# --- gates and stores that fail

def test_an_error_of_the_store_is_tried_on_no_other_gate_and_takes_none_out(fleet, kind):
    gates = fleet(edits=QUICK_CHECKS[kind])
    homes = gates.probe()
    for store in gates.stores:
        store.default = Answer(500)
    gates.clear()
    for tenant in TENANTS:
        assert gates.send("up", tenant).status == 500
    assert sum(len(store.requests) for store in gates.stores) == len(TENANTS)
    assert {tenant: min(way) for tenant, way in gates.ways().items()} == homes


@pytest.mark.parametrize("file", ["haproxy.cfg", "haproxy-shared.cfg"])
def test_haproxy_asks_for_health_at_the_port_of_admin_listen(start_gate, upstream, keep, tmp_path, file):
    """`listen` answers 404 there, as if no gate were well."""
    port, admin_port = servers.free_port(), servers.free_port()
    balancer = keep(balancers.Balancer("haproxy", [port] * GATES, tmp_path, [
        *QUICK_CHECKS["haproxy"], ("#default-server port 9202", f"default-server port {admin_port}")], file))

    def ready():
        with balancer.client() as asking:
            return asking.get("/-/ready").status

    eventually(lambda: ready() == 503, "no gate is there")
    start_gate(f"--upstream.url={upstream.url}", f"--listen=127.0.0.1:{port}", f"--admin.listen=127.0.0.1:{admin_port}")
    eventually(lambda: ready() == 200, "the gate is well")
    assert balancer.send(body(numbered(1))).status == 204


def test_a_gate_that_is_suddenly_gone_costs_its_senders_no_request(fleet, kind):
    """Before any check has noticed."""
    gates = fleet(edits=NO_CHECKS[kind])
    homes = gates.probe()
    gone = homes[TENANTS[0]]
    gates.gates[gone].crash()
    moved = gates.probe()
    assert {tenant for tenant in TENANTS if moved[tenant] != homes[tenant]} == \
        {tenant for tenant in TENANTS if homes[tenant] == gone}
    assert set(moved.values()) == set(range(GATES)) - {gone}


def go_round(balancer, tenants, ended, acknowledged):
    """A new series of each tenant each time, on one connection, as a sender would: what has not been answered with success is
    sent again. `acknowledged`: gets (tenant, name of the series)."""
    with balancer.client(timeout=30) as client:
        for number in itertools.takewhile(lambda _: not ended.is_set(), itertools.count()):
            for tenant in tenants:
                deliver(client, tenant, f"round_{number}")
                acknowledged.append((tenant, f"round_{number}"))


def deliver(client, tenant, name):
    for _ in range(200):
        try:
            status = client.write(wire.pack(wire.sampled(name)), [(TENANT, tenant)]).status
        except (OSError, http.client.HTTPException):
            client.close()
            continue
        if status == 204:
            return
        assert status >= 500, status
    raise AssertionError(f"{tenant} {name} never got through")


def test_a_drained_gate_gives_its_tenants_away_and_gets_them_back(fleet, kind):
    gates = fleet(edits=QUICK_CHECKS[kind])
    homes = gates.probe()
    gone = homes[TENANTS[0]]
    theirs = {tenant for tenant in TENANTS if homes[tenant] == gone}
    gates.clear()

    parts, acknowledged, ended = [TENANTS[n::4] for n in range(4)], [[] for _ in range(4)], threading.Event()

    def all_go_round(times):
        """Each sender so often, unless one has failed."""
        wanted = [len(each) + times * len(part) for each, part in zip(acknowledged, parts)]
        eventually(lambda: any(sender.done() for sender in senders) or all(
            len(each) >= count for each, count in zip(acknowledged, wanted)), f"{times} more rounds", 40)

    with ThreadPoolExecutor(4) as pool:
        senders = [pool.submit(go_round, gates.balancer, part, ended, each) for part, each in zip(parts, acknowledged)]
        try:
            all_go_round(2)
            gates.gates[gone].stop()
            all_go_round(3)
        finally:
            ended.set()
        for sender in senders:
            sender.result(30)

    # Nothing is lost, and nobody moved who did not have to.
    for tenant in TENANTS:
        came = set(gates.arrived(tenant))
        assert came >= {identity({"__name__": name}) for each in acknowledged for whose, name in each if whose == tenant}
    ways = gates.ways()
    assert {tenant: way for tenant, way in ways.items() if tenant not in theirs} == \
        {tenant: {homes[tenant]} for tenant in TENANTS if tenant not in theirs}
    moved = gates.probe()
    assert {tenant: {gone, moved[tenant]} for tenant in theirs} == {tenant: ways[tenant] for tenant in theirs}
    assert {moved[tenant] for tenant in theirs} == set(range(GATES)) - {gone}

    gates.restart(gone)
    eventually(lambda: gates.probe([TENANTS[0]]) == {TENANTS[0]: gone}, "the gate is used again", 20, every=0.1)
    eventually(lambda: gates.probe() == homes, "all are where they were", 20, every=0.1)


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
    return servers.scraping({"prometheus": f"127.0.0.1:{port}"}, f"{gates.balancer.url}/api/v1/write",
                            f"    tls_config: {{ca_file: {gates.balancer.ca_file}}}\n"
                            "    basic_auth: {username: shop, password: word of shop}\n")


@pytest.mark.parametrize("kind", ["haproxy"], indirect=True)
def test_a_login_that_is_removed_has_chosen_the_gate(fleet, tmp_path):
    """docs/balancer.md's row besides the file's recipe."""
    gates = fleet(edits=[*by_login("haproxy", tmp_path), *BY_LOGIN["haproxy"]])
    for n in range(20):
        assert gates.balancer.send(wire.pack(wire.sampled("up")), [("Authorization", LOGIN)], source=f"127.0.0.{n + 2}").status == 204
    assert sorted(len(store.requests) for store in gates.stores) == [0, 0, 20]


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
                              f"-remoteWrite.tlsCAFile={gates.balancer.ca_file}",
                              write_to=gates.balancer.url)
    try:
        eventually(lambda: len(gates.arrived("shop")) > 1000, "samples went", 30, every=0.2)
    finally:
        vmagent.stop()
    assert gates.ways().keys() == {"shop"}
    assert sorted(bool(store.requests) for store in gates.stores) == [False, False, True]
    assert sorted(gate.current() for gate in gates.gates) == [0, 0, len(set(gates.arrived("shop")))]
