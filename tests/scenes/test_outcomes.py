"""What has become of samples: received = accepted + refused, accepted = stored + failed + those on their way."""

import random

import pytest

import wire
from refusals import KNOWN, NEW, STORES, gate_that_knows, send
from tables import check_rows, crossed
from upstream import Answer
from waiting import eventually
from wire_v2 import counts
from world import ThreadPoolExecutor, threading


def samples(gate, *keys):
    keys = keys or ("received", "accepted", "refused", "stored", "failed")
    found = gate.stats["samples"]
    assert all(found[key] == gate.metric(f"seriesgate_samples_{key.replace('leftOut', 'left_out')}_total") for key in found)
    return tuple(found[key] for key in keys)


def since(before, after):
    return tuple(now - then for then, now in zip(before, after, strict=True))


def test_what_the_store_does_not_confirm_has_failed(limited, upstream):
    gate = gate_that_knows(limited, upstream, "")
    assert samples(gate) == (2, 2, 0, 2, 0)

    def has_failed(version, store):
        before = samples(gate)
        upstream.default = STORES[store]
        send(gate, version, [*KNOWN, *NEW])
        confirmed = version == "v1" and STORES[store].status < 300
        assert since(before, samples(gate)) == (5, 2, 3, 2 * confirmed, 2 - 2 * confirmed)

    check_rows(crossed(["v1", "v2"], list(STORES)), has_failed, gate)


def test_of_remote_write_2_as_much_is_stored_as_the_store_says(limited, upstream):
    gate = gate_that_knows(limited, upstream, "")
    assert samples(gate) == (2, 2, 0, 2, 0)

    def is_stored(said, status):
        written, stored = said
        before = *samples(gate, "stored", "failed"), gate.metric("seriesgate_partly_written_requests_total")
        upstream.default = Answer(status=status, headers=counts(*written))
        reply = send(gate, "v2", [*KNOWN, *NEW])
        assert reply.status == status
        after = *samples(gate, "stored", "failed"), gate.metric("seriesgate_partly_written_requests_total")
        assert since(before, after) == (stored, 2 - stored, stored < 2 and status < 300)  # an error is counted as such

    check_rows(crossed([((1,), 1), ((2,), 2), ((9,), 2), ((0, 9), 0), ((0,), 0)], [200, 204, 400, 500, 599]), is_stored, gate)


def test_no_answer_is_a_failure_and_nothing_is_decided_while_it_is_awaited(limited, upstream):
    gate = limited("upstream: {timeout: 5s}\n")
    upstream.default = Answer(hold=threading.Event())
    with ThreadPoolExecutor() as senders:
        reply = senders.submit(send, gate, "v1", KNOWN)
        eventually(lambda: upstream.requests, "it has come to the store")
        assert samples(gate) == (2, 2, 0, 0, 0)
        assert reply.result().status == 504
    assert samples(gate) == (2, 2, 0, 0, 2)
    upstream.default.hold.set()


def test_nothing_is_counted_of_what_is_turned_away(limited, upstream):
    """Here when it has been decided, and there is no room to write what is kept of it: it comes again."""
    gate = limited("maxHourlySeries: 2\n"
                   "server: {maxRequestBytes: 256KiB, maxDecodedBytes: 256KiB, maxInflightBytes: 512KiB}\n")
    known, new = (wire.sampled(name, pad="x" * 50_000, pod="y" * 50_000) for name in ("known", "new"))
    assert gate.send(wire.pack(known)).status == 204
    held = upstream.default = Answer(hold=threading.Event())
    noise = {f"l{i}": random.Random(i).randbytes(60_000) for i in range(4)}
    with ThreadPoolExecutor() as senders:
        first = senders.submit(gate.send, wire.pack(wire.series(noise, wire.field(2, wire.sample(1.0, 1)))))
        eventually(lambda: len(upstream.requests) == 2, "it has come to the store")
        before = samples(gate)
        assert gate.send(wire.pack(known + new)).status == 503
        assert samples(gate) == before
        held.hold.set()
        assert first.result().status == 204
    assert gate.send(wire.pack(known + new)).refused == (1, 1)
    assert samples(gate) == (4, 3, 1, 3, 0)
    assert gate.metric("seriesgate_inflight_bytes") == 0


@pytest.mark.parametrize("status", [400, 409, 429])
def test_refusals_that_the_sender_is_told_of_are_rejected_requests(limited, upstream, status):
    gate = gate_that_knows(limited, upstream, f"onLimit: reject\nrejectStatus: {status}\n")
    assert send(gate, "v1", KNOWN).status == 204
    assert send(gate, "v1", NEW).status == status
    assert gate.stats["requests"]["rejected"] == 1
    assert gate.metric("seriesgate_requests_rejected_total", reason="refused") == 1
    upstream.default = Answer(status=400)
    assert send(gate, "v1", [*KNOWN, *NEW]).status == 400  # the store's own
    assert gate.stats["requests"]["rejected"] == 1
