"""What the system refuses the gate: memory, descriptors, room on a disk, time. It costs what met the limit, and nobody else."""

import contextlib
import resource
import signal

import pytest

import giants
import wire
from bounds import MIB, status
from busy import Busy
from client import head, post
from gate import sanitized
from kept_state import FAILURES, SAVES, directory, kept, settled  # noqa: F401 (a fixture)
from upstream import Answer
from waiting import eventually
from world import threading, time

BODY = wire.pack(wire.sampled("up", job="a"))
REJECTED, ERRORS = "seriesgate_requests_rejected_total", "seriesgate_upstream_errors_total"


@contextlib.contextmanager
def limited_to(gate, what, value):
    """A limit of the running process, lifted in the end."""
    before = resource.prlimit(gate.pid, what)
    resource.prlimit(gate.pid, what, (value, before[1]))
    try:
        yield
    finally:
        resource.prlimit(gate.pid, what, before)


def size_of(gate):
    """Of its addresses, in bytes. A thread that makes an arena for its memory maps a larger piece for an instant, and gives it back."""
    sizes = []
    for _ in range(10):
        sizes.append(status(gate, "VmSize"))
        time.sleep(0.01)
    return min(sizes)


# --- memory -------------------------------------------------------------------------------------------------------------

@pytest.mark.skipif(sanitized("asan", "tsan", "ubsan"), reason="sanitizers take their memory from elsewhere")
@pytest.mark.parametrize("what", ["to decompress into", "to plan with", "for a body that comes in pieces"])
def test_a_request_that_gets_no_memory_fails_and_no_other(limited, upstream, what):
    gate = limited("server: {maxRequestBytes: 128MiB, threads: 2}\n")
    assert gate.send(BODY).status == 204
    giant = {"to decompress into": wire.pack(bytes(120 * MIB)),
             "to plan with": wire.pack(giants.tiny_series(1_000_000)),
             "for a body that comes in pieces": b"x" * (100 * MIB)}[what]
    asked = post(giant)
    refused = gate.metric(REJECTED, reason="overloaded")
    others = set()
    with Busy(gate.address, 2, lambda sender, _: others.add(sender.write(BODY).status)):
        with limited_to(gate, resource.RLIMIT_AS, size_of(gate) + 40 * MIB):
            for _ in range(3):
                with gate.raw() as one:
                    one.send_what_it_takes(asked)
                    reply = one.reply()
                assert (reply.status, reply.first_line) == (503, "out of memory, try again")
                assert reply.get("Retry-After") == "1"
            assert gate.send(BODY).status == 204
    assert others == {204}
    assert gate.metric(REJECTED, reason="overloaded") == refused + 3
    eventually(lambda: gate.metric("seriesgate_inflight_bytes") == 0, "all is given back")
    if what == "to plan with":
        assert gate.send(giant).status == 204


# --- files --------------------------------------------------------------------------------------------------------------

def test_no_room_for_the_state_is_a_failed_save(limited, directory):  # noqa: F811
    """As on a full disk: the last state that there was room for stays, and the next one is written when there is room."""
    gate = limited(kept(directory, "maxHourlySeries: 1000\n", interval="100ms"))
    assert gate.send(wire.pack(wire.sampled("up", job="first"))).status == 204
    eventually(lambda: gate.metric(SAVES) >= 1, "it is saved")
    settled(gate, directory)
    state, saves = (directory / "state").read_bytes(), gate.metric(SAVES)
    with limited_to(gate, resource.RLIMIT_FSIZE, 4096):
        assert gate.send(wire.pack(wire.sampled("up", job="second"))).status == 204
        eventually(lambda: gate.metric(FAILURES) >= 2, "there is no room for it")
        assert gate.metric("seriesgate_state_last_save_successful") == 0
        assert gate.send(BODY).status == 204
        assert (directory / "state").read_bytes() == state
        assert gate.metric(SAVES) == saves
        assert "File too large" in eventually(lambda: gate.said("state not saved"), "the log says so")[0]["err"]
    eventually(lambda: gate.metric(SAVES) > saves, "it is saved when there is room")
    assert gate.metric("seriesgate_state_last_save_successful") == 1
    gate.stop()
    again = limited(kept(directory, "maxHourlySeries: 1000\n"))
    assert again.current() == 3


@pytest.mark.skipif(sanitized("ubsan"), reason="UBSan asks with a pipe whether an object may be read, and has none then")
def test_without_descriptors_senders_and_state_wait_and_nothing_is_lost(limited, upstream, directory):  # noqa: F811
    """None for a connection, none for one to the store, none for a file; then there are some again."""
    gate = limited(kept(directory, "", interval="100ms"))
    with gate.client() as sender, gate.client() as observer:
        assert sender.write(wire.pack(wire.sampled("up", job="first"))).status == 204
        assert observer.get("/health").status == 200
        eventually(lambda: gate.metric(SAVES) >= 1, "it is saved")
        upstream.default = Answer(close_after=True)
        assert sender.write(wire.pack(wire.sampled("up", job="second"))).status == 204
        upstream.default = Answer()
        eventually(lambda: upstream.connections_open == 0, "the store has closed the connection")
        with limited_to(gate, resource.RLIMIT_NOFILE, 8):
            reply = sender.write(wire.pack(wire.sampled("up", job="third")))
            assert reply.status == 502 and "Too many open files" in reply.first_line, reply
            with gate.raw() as turned_away:
                turned_away.send(post(BODY))
                eventually(lambda: gate.said("cannot accept a connection"), "the log says so")
            with gate.raw() as late:
                late.send(post(BODY))
        eventually(lambda: gate.send(wire.pack(wire.sampled("up", job="third"))).status == 204, "there are some again")
    eventually(lambda: gate.current() >= 3, "all of them are counted")
    gate.stop()
    assert limited(kept(directory, "")).current() >= 3


# --- time ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seconds", [5, pytest.param(60, marks=[pytest.mark.slow, pytest.mark.extended, pytest.mark.timeout(180)])])
def test_a_gate_that_is_stopped_for_a_while_goes_on_where_it_was(limited, upstream, seconds):
    """All timers are late at once. Idle connections stay, a request that came meanwhile is answered, and the one whose answer
    came meanwhile gets it, if the store was not too slow by then."""
    gate = limited("server: {maxQueueDelay: 1s, headerTimeout: 1s}\n")
    upstream.default = Answer(hold=threading.Event())
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(gate.raw()) for _ in range(50)]
        for each in idle:
            each.send(head("GET", "/health"))
            assert each.reply("GET").status == 200
        waiting = stack.enter_context(gate.raw())
        waiting.send(post(BODY))
        eventually(lambda: len(upstream.requests) == 1, "one waits for the store")
        gate.signal(signal.SIGSTOP)
        try:
            upstream.default.hold.set()
            upstream.default = Answer()
            for each in idle[:25]:
                each.send(post(BODY))
            time.sleep(seconds)
        finally:
            gate.signal(signal.SIGCONT)
        # After a minute its limit is over, too: which of the two is looked at first is the kernel's choice.
        assert waiting.reply().status in ({204} if seconds < 25 else {204, 504})
        assert [each.reply().status for each in idle[:25]] == [204] * 25
        for each in idle[25:]:
            each.send(head("GET", "/health"))
            assert each.reply("GET").status == 200
    assert gate.metric(REJECTED, reason="queue_delay") == 0
    assert gate.metric("seriesgate_connections_timed_out_total", waiting_for="request") == 0
