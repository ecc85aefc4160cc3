"""Gates and stores that fail behind HAProxy and nginx, as deploy/ has them: no request is lost, and nobody moves in vain."""

import http.client
import threading

import pytest

import wire
from fleets import GATES, NO_CHECKS, QUICK_CHECKS, TENANTS, fleet, kind  # noqa: F401
from traffic import TENANT, identity
from upstream import Answer
from waiting import eventually

pytestmark = pytest.mark.extended


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


def test_a_request_that_waits_for_the_store_is_finished_by_a_gate_that_drains(fleet):
    gates = fleet()
    home = gates.probe(["shop"])["shop"]
    gates.clear()
    answered = threading.Event()
    gates.stores[home].default = Answer(204, hold=answered)
    replies = []
    sender = threading.Thread(target=lambda: replies.append(gates.send("up", "shop")), daemon=True)
    sender.start()
    eventually(lambda: gates.stores[home].requests, "the request is at the store")
    gates.gates[home].signal()
    eventually(lambda: gates.gates[home].said("draining"), "the gate drains")
    answered.set()
    sender.join(20)
    assert [reply.status for reply in replies] == [204]
    assert sum(len(store.requests) for store in gates.stores) == 1
    assert gates.gates[home].wait() == 0


def test_all_senders_are_one_peer_to_the_gate(fleet):
    """So the bound for one peer is one for all; fleet.md says to set it higher than what the balancer opens."""
    gates = fleet("server: {maxConnectionsPerPeer: 2}\n")
    home = gates.stores[gates.probe(["shop"])["shop"]]
    gates.clear()
    answered = threading.Event()
    home.default = Answer(204, hold=answered)
    replies = []
    senders = [threading.Thread(target=lambda source=f"127.0.0.{n}": replies.append(gates.send("up", "shop", source=source)),
                                daemon=True) for n in (2, 3)]
    for sender in senders:
        sender.start()
    eventually(lambda: len(home.requests) == 2, "two wait for the store")
    for source in ("127.0.0.4", "127.0.0.5"):
        reply = gates.send("up", "shop", source=source)
        assert (reply.status, reply.first_line.split(":")[0]) == (503, "over server.maxConnectionsPerPeer")
    answered.set()
    for sender in senders:
        sender.join(20)
    assert [reply.status for reply in replies] == [204, 204]


class Senders(threading.Thread):
    """Goes round the tenants with a new series each time, on one connection, as a sender would: what has not been
    answered with success is sent again."""

    def __init__(self, balancer, tenants):
        super().__init__(daemon=True)
        self._balancer, self._tenants = balancer, tenants
        self.stopped = threading.Event()
        self.acknowledged = []  # (tenant, name of the series)
        self.rounds = 0
        self.failure = None

    def run(self):
        try:
            with self._balancer.client(timeout=30) as client:
                while not self.stopped.is_set():
                    for tenant in self._tenants:
                        self._deliver(client, tenant, f"round_{self.rounds}")
                    self.rounds += 1
        except Exception as error:  # noqa: BLE001  told to the test
            self.failure = error

    def _deliver(self, client, tenant, name):
        for _ in range(200):
            try:
                status = client.write(wire.pack(wire.sampled(name)), [(TENANT, tenant)]).status
            except (OSError, http.client.HTTPException):
                client.close()
                continue
            if status == 204:
                self.acknowledged.append((tenant, name))
                return
            assert status >= 500, status
        raise AssertionError(f"{tenant} {name} never got through")

    def goes_round(self, times):
        target = self.rounds + times
        eventually(lambda: self.failure or self.rounds >= target, f"{times} more rounds", 40)
        assert self.failure is None, self.failure

    def end(self):
        self.stopped.set()
        self.join(30)
        assert self.failure is None, self.failure


def test_a_drained_gate_gives_its_tenants_away_and_gets_them_back(fleet, kind):
    gates = fleet(edits=QUICK_CHECKS[kind])
    homes = gates.probe()
    gone = homes[TENANTS[0]]
    theirs = {tenant for tenant in TENANTS if homes[tenant] == gone}
    gates.clear()

    senders = [Senders(gates.balancer, TENANTS[n::4]) for n in range(4)]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.goes_round(2)
    gates.gates[gone].stop()
    for sender in senders:
        sender.goes_round(3)
        sender.end()

    # Nothing is lost, and nobody moved who did not have to.
    acknowledged = [one for sender in senders for one in sender.acknowledged]
    for tenant in TENANTS:
        came = set(gates.arrived(tenant))
        assert came >= {identity({"__name__": name}) for whose, name in acknowledged if whose == tenant}
    ways = gates.ways()
    assert {tenant: way for tenant, way in ways.items() if tenant not in theirs} == \
        {tenant: {homes[tenant]} for tenant in TENANTS if tenant not in theirs}
    moved = gates.probe()
    assert {tenant: {gone, moved[tenant]} for tenant in theirs} == {tenant: ways[tenant] for tenant in theirs}
    assert {moved[tenant] for tenant in theirs} == set(range(GATES)) - {gone}

    gates.restart(gone)
    eventually(lambda: gates.probe([TENANTS[0]]) == {TENANTS[0]: gone}, "the gate is used again", 20, every=0.1)
    eventually(lambda: gates.probe() == homes, "all are where they were", 20, every=0.1)
