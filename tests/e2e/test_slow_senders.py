"""Senders that are many: hundreds of connections, and more than a process may have."""

import resource

import pytest

import gate as gate_module
import wire
from client import post
from waiting import eventually

GOOD = wire.pack(wire.sampled("up", job="a"))


def test_hundreds_of_open_connections_keep_nobody_waiting(gate, upstream):
    connections = []
    try:
        for at in range(400):
            connections.append(gate.raw())
            if at % 2:
                connections[-1].send(post(GOOD)[:at % len(post(GOOD))])
        for _ in range(20):
            assert gate.send(GOOD).status == 204
        connections[0].send(post(GOOD))
        assert connections[0].reply().status == 204
    finally:
        for connection in connections:
            connection.close()


@pytest.mark.skipif(gate_module.sanitized("ubsan"),
                    reason="UBSan asks with a pipe whether an object may be read, and takes its failure for a no")
def test_running_out_of_descriptors_is_survived(gate, upstream):
    assert gate.send(GOOD).status == 204
    resource.prlimit(gate.pid, resource.RLIMIT_NOFILE, (48, 48))
    connections = [gate.raw() for _ in range(64)]  # the kernel accepts them; the gate cannot, not all
    try:
        eventually(lambda: "cannot accept" in gate.log, "a line that says so")
    finally:
        for connection in connections:
            connection.close()
    assert gate.send(GOOD).status == 204
    assert gate.get("/health").status == 200
