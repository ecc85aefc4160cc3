"""Stub stores behind TLS, gates before them, and what is told when they do not come together."""

import pytest

import wire
from upstream import Upstream
from waiting import eventually

BODY = wire.pack(wire.sampled("up", job="a"))
NOT_ANSWERED = "the upstream has not answered"


@pytest.fixture
def start_store(keep):
    return lambda tls, **how: keep(Upstream(tls=tls, **how))


def config(store, keys, url=None):
    return f"upstream:\n  url: {url or store.url}\n  tls: {{{keys}}}\n"


def failure(gate, store):
    """What the sender is told of the TLS that did not come about; and it is told everywhere."""
    reply = gate.send(BODY)
    assert reply.status == 502, reply
    head = f"cannot reach the upstream {store.host}: TLS with {store.host}: "
    assert reply.first_line.startswith(head), reply
    assert gate.metric("seriesgate_upstream_errors_total", reason="tls") == 1
    said = eventually(lambda: gate.said(NOT_ANSWERED, reason="tls"), "the log says so")  # the answer comes first
    assert [event["err"] for event in said] == [reply.first_line]
    assert store.requests == []
    return reply.first_line[len(head):]
