"""Gates that share nothing behind HAProxy or nginx: the fixture `fleet`, and what its tests change in the files of deploy/."""

import pytest

import balancers
import wire
from traffic import TENANT, arrived
from upstream import Upstream

GATES = 3
TENANTS = [f"team-{n}" for n in range(60)]


class Fleet:
    """Gates that share nothing, each with a store of its own, so that one sees which way a request went."""

    def __init__(self, start_gate, config):
        self._start_gate, self._config = start_gate, config
        self.stores, self.gates, self.balancer = [], [], None
        for _ in range(GATES):
            self.add()

    @property
    def ports(self):
        return [gate.address[1] for gate in self.gates]

    def add(self):
        self.stores.append(Upstream())
        self.gates.append(self._start(self.stores[-1], 0))

    def restart(self, index):
        """On its old port, which may be a connection's for a moment."""
        for _ in range(10):
            try:
                self.gates[index] = self._start(self.stores[index], self.ports[index])
                return
            except AssertionError as error:
                failure = error
        raise failure

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

    def probe(self, tenants=tuple(TENANTS)):
        """Where each tenant goes now: {tenant: index}; each has to go to one gate only."""
        self.clear()
        for tenant in tenants:
            assert self.send("probe", tenant).status == 204
        ways = self.ways()
        assert all(len(way) == 1 for way in ways.values()), ways
        return {tenant: min(way) for tenant, way in ways.items()}

    def send(self, name, tenant=None, **how):
        headers = [(TENANT, tenant)] if tenant is not None else []
        return self.balancer.send(wire.pack(wire.sampled(name)), headers, **how)

    def clear(self):
        for store in self.stores:
            store.clear()

    def stop(self):
        if self.balancer:
            self.balancer.stop()
        for store in self.stores:
            store.stop()

    def _start(self, store, port):
        return self._start_gate(f"--upstream.url={store.url}", f"--listen=127.0.0.1:{port}", config=self._config)


@pytest.fixture(params=balancers.KINDS)
def kind(request):
    return request.param


@pytest.fixture
def fleet(start_gate, tmp_path, kind):
    """fleet(configuration of each gate, edits of the balancer's file): gates behind a balancer. `again`: a fleet that is to
    get a new balancer instead."""
    started = []

    def start(config="{}\n", edits=(), again=None):
        made = again or Fleet(start_gate, config)
        if again:
            made.balancer.stop()
        else:
            started.append(made)
        made.balancer = balancers.Balancer(kind, made.ports[:GATES], tmp_path, edits)
        return made

    yield start
    for made in started:
        made.stop()


LAST_SERVER = {"haproxy": "    server gate-3 10.0.0.13:9201 id 3\n",
               "nginx": "        server 10.0.0.13:9201 max_fails=1 fail_timeout=5s;\n"}
FIRST_SERVER = {"haproxy": "    server gate-1 10.0.0.11:9201 id 1\n",
                "nginx": "        server 10.0.0.11:9201 max_fails=1 fail_timeout=5s;\n"}
SPARE = {"haproxy": [("id 2\n", "id 2 backup\n"), (LAST_SERVER["haproxy"], "")],
         "nginx": [("hash $route consistent;", ""), ("12:9201 max_fails", "12:9201 backup max_fails"),
                   (LAST_SERVER["nginx"], "")]}
BY_CLUSTER = {"haproxy": [("set-var(txn.route) req.fhdr(X-Scope-OrgID) if { req.fhdr(X-Scope-OrgID)",
                           "set-var(txn.route) req.fhdr(X-Cluster) if { req.fhdr(X-Cluster)")],
              "nginx": [("map $http_x_scope_orgid", "map $http_x_cluster"),
                        ("default $http_x_scope_orgid", "default $http_x_cluster")]}
BY_LOGIN = {"haproxy": [("set-var(txn.route) req.fhdr(X-Scope-OrgID) if { req.fhdr(X-Scope-OrgID)",
                         "set-var(txn.route) http_auth_user if { http_auth_user")],
            "nginx": [("map $http_x_scope_orgid", "map $remote_user"), ("default $http_x_scope_orgid", "default $remote_user")]}
NO_CHECKS = {"haproxy": [("inter 2s fastinter 500ms", "inter 1h")], "nginx": []}
QUICK_CHECKS = {"haproxy": [("inter 2s fastinter 500ms", "inter 200ms")], "nginx": [("fail_timeout=5s", "fail_timeout=1s")]}
ROUND_ROBIN = {"haproxy": [("balance hash var(txn.route)\n    hash-type consistent wt6", "balance roundrobin")],
               "nginx": [("hash $route consistent;", ""), ("worker_processes auto", "worker_processes 1")]}
