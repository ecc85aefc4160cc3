"""upstream.replicateTo: a second store gets what the first one gets. Either both must have it, or nobody waits for it."""

import itertools
import os
from contextlib import closing

import pytest

import wire
import wire_v2
from upstream import Answer, Upstream, holding
from waiting import eventually
from world import ThreadPoolExecutor

NUMBER = itertools.count()
EACH = 8 << 10  # what a copy takes besides headers and body


def body():
    """One that there is only once: three samples."""
    number = str(next(NUMBER))
    return wire.pack(b"".join(wire.sampled("m", number=number, part=str(part)) for part in range(3)))


def replicated(first, *others, best_effort="false", **keys):
    list_of = ", ".join(f"{{url: '{each.url}', bestEffort: {best_effort}}}" for each in others)
    more = "".join(f"  {name}: {value}\n" for name, value in keys.items())
    return f"upstream:\n  url: '{first.url}'\n  replicateTo: [{list_of}]\n{more}server: {{drainTimeout: 5s}}\n"


@pytest.fixture
def replica():
    with closing(Upstream()) as made:
        yield made


@pytest.fixture
def gate(start_gate, upstream, replica):
    """Both stores must have it."""
    return start_gate(config=replicated(upstream, replica))


@pytest.fixture
def best_effort(start_gate, upstream, replica):
    """Nobody waits for the replica."""
    return start_gate(config=replicated(upstream, replica, best_effort="true"))


def samples(gate, replica):
    """(stored, failed) of the replica, and of all that have to have it."""
    own = tuple(gate.metric(f"seriesgate_replica_samples_{which}_total", replica=replica.host)
                for which in ("stored", "failed"))
    return own, (gate.stats["samples"]["stored"], gate.stats["samples"]["failed"])


# --- both must have it

def test_a_replica_gets_every_byte_that_the_first_store_gets(start_gate, upstream, replica):
    gate = start_gate(config=replicated(upstream, replica) + "maxHourlySeries: 4\n")
    sent = [body() for _ in range(3)]  # the last two are over the limit, one in part
    for each in sent:
        assert gate.send(each, [("X-Scope-OrgID", "shop")]).status == 204
    assert len(upstream.bodies) == 2
    assert replica.bodies == upstream.bodies
    assert replica.bodies[0] == sent[0]
    for request in replica.requests:
        assert request.get("X-Scope-OrgID") == "shop"
        assert request.get("Host") == replica.host
    assert samples(gate, replica) == ((4, 0), (4, 0))


def test_a_replica_that_fails_at_once_leaves_another_its_answer(start_gate, upstream, replica):
    nobody = "http://no-such-host.invalid/w"
    gate = start_gate(config=f"upstream:\n  url: '{upstream.url}'\n"
                             f"  replicateTo: [{{url: '{nobody}'}}, {{url: '{replica.url}'}}]\n")
    for _ in range(3):  # the first one waits for the name, the others do not
        reply = gate.send(body())
        assert (reply.status, "no-such-host.invalid" in reply.first_line) == (502, True), reply.first_line
    assert len(replica.bodies) == 3
    assert gate.metric("seriesgate_requests_rejected_total", reason="overloaded") == 0


@pytest.mark.parametrize("status", [400, 429, 500, 503])
def test_what_a_replica_says_is_told_if_the_first_store_has_taken_it(gate, replica, status):
    replica.default = Answer(status, [("Retry-After", "7")], b"not now\n")
    reply = gate.send(body())
    assert (reply.status, reply.body, reply.get("Retry-After")) == (status, b"not now\n", "7")
    assert samples(gate, replica) == ((0, 3), (0, 3))
    assert gate.metric("seriesgate_replica_responses_total", replica=replica.host, code=str(status)) == 1
    [line] = gate.said("a replica has not stored what it was sent")
    assert (line["samples"], line["replica"], line["best_effort"], line["reason"], line["err"]) == (
        "3", replica.host, "false", str(status), "not now")


def test_credentials_of_a_sender_are_for_the_first_store(gate, upstream, replica):
    of_sender = [("Authorization", "Basic c2VuZGVy"), ("Cookie", "session=1"), ("X-Other", "y")]
    assert gate.send(body(), of_sender).status == 204
    assert [upstream.requests[0].get(name) for name, _ in of_sender] == ["Basic c2VuZGVy", "session=1", "y"]
    assert [replica.requests[0].get(name) for name, _ in of_sender] == [None, None, "y"]
    replica.default = Answer(401, [], b"who are you?\n")
    reply = gate.send(body(), of_sender)  # which is not the sender's fault
    assert (reply.status, reply.get("Retry-After")) == (503, "1")


def test_a_replica_that_is_away_is_502_and_the_sender_comes_again(gate, upstream, replica):
    replica.stop()
    data = body()
    reply = gate.send(data)
    assert reply.status == 502
    assert reply.first_line.startswith(f"cannot reach the upstream {replica.host}: ")
    with closing(Upstream(port=replica.port)) as again:
        assert gate.send(data).status == 204
        assert again.bodies == [data]
        assert upstream.bodies == [data, data]
    assert samples(gate, replica) == ((3, 3), (3, 3))
    assert gate.metric("seriesgate_replica_errors_total", replica=replica.host, reason="connection_refused") == 1
    assert gate.stats["requests"]["upstreamErrors"] == 0


def test_a_replica_that_is_too_slow_is_504(start_gate, upstream, replica):
    gate = start_gate(config=replicated(upstream, replica, timeout="3s"))
    with holding(replica):
        reply = gate.send(body())
    assert reply.status == 504
    assert replica.host in reply.first_line


def test_stores_are_sent_a_request_at_the_same_time(gate, upstream, replica):
    with ThreadPoolExecutor(1) as sender:
        with holding(upstream):
            sent = sender.submit(gate.send, body())
            eventually(lambda: len(replica.requests) == 1, "the replica has it while the first store thinks")
        assert sent.result().status == 204


def test_of_remote_write_2_as_much_is_written_as_by_who_has_the_least(gate, upstream, replica):
    counts = [f"X-Prometheus-Remote-Write-{of}-Written" for of in ("Samples", "Histograms", "Exemplars")]
    upstream.default, replica.default = (Answer(204, list(zip(counts, (samples_, "0", "0")))) for samples_ in "21")
    data = wire_v2.request({"__name__": "m", "part": "0"}, {"__name__": "m", "part": "1"})
    reply = gate.send(wire.pack(data), wire_v2.HEADERS)
    assert (reply.status, reply.get(counts[0])) == (204, "1")
    assert (gate.stats["samples"]["stored"], gate.stats["samples"]["failed"]) == (1, 1)


def test_an_older_vmagent_is_not_told_that_all_stores_know_zstd(gate, upstream, replica):
    with gate.client() as client:
        reply = client.request("POST", "/api/v1/write?get_vm_proto_version=1")
    assert reply.body != b"1"
    assert upstream.requests == replica.requests == []


# --- nobody waits

def test_nobody_waits_for_a_replica_with_best_effort(best_effort, replica):
    sent = [body() for _ in range(5)]
    with holding(replica):
        for each in sent:
            assert best_effort.send(each).status == 204
        eventually(lambda: len(replica.requests) == 5, "it gets all")
        held = best_effort.metric("seriesgate_replica_copies_bytes") - sum(len(each) for each in sent)
        assert 5 * EACH < held < 5 * (EACH + 2048)  # their headers
    eventually(lambda: samples(best_effort, replica) == ((15, 0), (15, 0)), "it has confirmed all")
    assert sorted(replica.bodies) == sorted(sent)
    eventually(lambda: best_effort.metric("seriesgate_replica_copies_bytes") == 0, "all of it is given back")


def test_what_a_replica_with_best_effort_has_not_taken_is_counted_and_told(best_effort, replica):
    replica.stop()
    assert [best_effort.send(body()).status for _ in range(4)] == [204] * 4
    eventually(lambda: samples(best_effort, replica) == ((0, 12), (12, 0)), "it is counted")
    assert best_effort.metric("seriesgate_replica_errors_total", replica=replica.host, reason="connection_refused") == 4
    line = best_effort.said("a replica has not stored what it was sent")[0]
    assert (line["best_effort"], line["reason"]) == ("true", "connection_refused")


def test_copies_on_their_way_are_bounded(best_effort, replica):
    big = wire.pack(wire.sampled("m") + b"".join(
        wire.metadata(f"m{n}", help_text=f"{n:08x}" * 120) for n in range(20)) +
                    wire.metadata("noise", help_text=os.urandom(7 << 19).hex()))  # which nothing compresses
    with holding(replica):
        assert [best_effort.send(big).status for _ in range(10)] == [204] * 10
        taken = 9
        assert taken * (len(big) + EACH + 2048) < 64 << 20 < (taken + 1) * len(big)
        held = best_effort.metric("seriesgate_replica_copies_bytes") - taken * len(big)
        assert taken * EACH < held < taken * (EACH + 2048)
        assert best_effort.metric("seriesgate_replica_errors_total", replica=replica.host, reason="dropped") == 1
        assert best_effort.said("a replica has not stored what it was sent", reason="dropped")
    eventually(lambda: best_effort.metric("seriesgate_replica_copies_bytes") == 0, "all have ended")
    assert best_effort.metric("seriesgate_replica_samples_stored_total", replica=replica.host) == taken


def test_copies_are_waited_for_at_the_end(best_effort, replica):
    with holding(replica):
        assert best_effort.send(body()).status == 204
        eventually(lambda: len(replica.requests) == 1, "it is on its way")
        best_effort.signal()
        eventually(lambda: best_effort.said("draining"), "it drains")
        assert best_effort.running
    assert best_effort.wait() == 0
    assert not best_effort.said("copies for replicas not finished, what is in them is lost")


def test_copies_are_waited_for_no_longer_than_the_drain_may_take(start_gate, upstream, replica):
    gate = start_gate(config=replicated(upstream, replica, best_effort="true").replace("5s", "300ms"))
    with holding(replica):
        assert gate.send(body()).status == 204
        eventually(lambda: len(replica.requests) == 1, "it is on its way")
        gate.signal()
        assert gate.wait() == 0
        [line] = gate.said("copies for replicas not finished, what is in them is lost")
        assert line["requests"] == "1"
