"""Whatever is turned away is heard of: a line of the log, the answer to its sender, and a counter, each exactly once."""

import random
import re
from contextlib import ExitStack

import pytest

import wire
from client import RawConnection, head, post
from exposition import samples_of
from faked_names import FakedNames
from gate import sanitized
from servers import free_port
from upstream import Answer, Upstream, unused_port
from waiting import eventually
from world import ThreadPoolExecutor, socket, threading

pytestmark = pytest.mark.extended

BODY = wire.pack(wire.sampled("up", job="a"))
TENANT = [("X-Scope-OrgID", "shop")]


def start(start_gate, upstream_url, more="", keys="", **how):
    """A gate with one worker and small bounds. `keys`: of `upstream`; `more`: lines of the configuration."""
    return start_gate(config=f"upstream: {{url: '{upstream_url}'{keys}}}\n"
                             "server: {threads: 1, maxRequestBytes: 64KiB, maxDecodedBytes: 64KiB, "
                             f"maxInflightBytes: 128KiB, readTimeout: 2s}}\n{more}", **how)


def line(gate, message, **fields):
    """The only event with this message and these fields, its values as text."""
    eventually(lambda: gate.said(message, **fields), message)
    event, = gate.said(message, **fields)
    return {key: str(value) for key, value in event.items() if key not in ("ts", "msg")}


# --- rejected by the gate

def noise(size, seed=0):
    """A request that is no smaller when it is compressed."""
    return wire.pack(wire.series({"__name__": "up", "noise": random.Random(seed).randbytes(size)},
                                 wire.field(wire.SAMPLES, wire.sample(1.0, 1))))


def send(body, headers=()):
    return lambda gate: gate.send(body, [*TENANT, *headers])


def raw(data):
    def exchange(gate):
        with RawConnection(gate.address) as connection:
            connection.send_what_it_takes(data)
            return connection.reply()

    return exchange


def chunked(size):
    headers = [("X-Scope-OrgID", "shop"), ("Transfer-Encoding", "chunked")]
    return head(headers=headers) + b"%x\r\n" % size + bytes(size) + b"\r\n0\r\n\r\n"


PATHS = ("/api/v1/write, /api/v1/push, /api/prom/push, /api/v1/receive, /prometheus/api/v1/write, "
         "/prometheus/api/v1/push")

# What is sent: (how, status, reason, what is said, whether its path is known by then).
REJECTED = {
    "no snappy": (send(b"\x04bad"), 400, "malformed", r"not a valid snappy block", True),
    "no protobuf": (send(wire.pack(b"\x0a\x7f")), 400, "malformed",
                    r"malformed protobuf: field runs past the end of its message at byte \d+", True),
    "no HTTP": (raw(b"POST / HTPP\r\n\r\n"), 400, "invalid_http", r"malformed HTTP: bad version", False),
    "no Host": (raw(b"POST /api/v1/write HTTP/1.1\r\nX-Scope-OrgID: shop\r\n\r\n"), 400, "invalid_http",
                r"malformed HTTP: HTTP/1.1 without Host", True),
    "large": (send(bytes(70_000)), 400, "too_large",
              r"body larger than server.maxRequestBytes: 70000 bytes, at most 65536 bytes", True),
    "large, and nobody knows how": (raw(chunked(70_000)), 400, "too_large",
                                    r"body larger than server.maxRequestBytes: it goes on, at most 65536 bytes", True),
    "large when decompressed": (
        send(wire.pack(bytes(70_000))), 400, "too_large",
        r"decompresses to more than server.maxDecodedBytes: 70000 bytes, at most 65536 bytes", True),
    "a long name of a tenant": (lambda gate: gate.send(BODY, [("X-Scope-OrgID", "s" * 1030)]), 400, "too_large",
                                r"tenant name of more than 1024 bytes: 1030", True),
    "a long header": (raw(post(BODY, headers=[("X-Scope-OrgID", "shop"), *((f"X-{n}", "") for n in range(200))])), 431,
                      "invalid_http", r"header larger than server.maxHeaderBytes \(64KiB\) or 100 lines", False),
    "another type": (send(BODY, [("Content-Type", "text/plain")]), 415, "unsupported_media",
                     r"unsupported Content-Type: remote write wants application/x-protobuf, not text/plain", True),
    "another encoding": (send(BODY, [("Content-Encoding", "gzip")]), 415, "unsupported_media",
                         r"unsupported Content-Encoding: remote write wants snappy, or zstd, not gzip", True),
    "another path": (lambda gate: gate.send(BODY, TENANT, path="/api/v1/wrte"), 404, "unknown_path",
                     rf"no such path: /api/v1/wrte; remote write goes to {PATHS}; / says what there is", False),
    "another method": (raw(head("PUT", headers=TENANT)), 405, "method_not_allowed",
                       r"method not allowed: this path takes POST, not PUT", True),
    "a loop": (send(BODY, [("Via", ", ".join(f"1.1 seriesgate-{n:016x}" for n in range(4)))]), 508, "loop",
               r"loop: .* \(see its Via header\): an upstream.url leads back", True),
    "half a body": (raw(post(BODY, headers=TENANT)[:-10]), 503, "timeout",
                    rf"request not complete within server.readTimeout \(2s\): {len(BODY) - 10} of {len(BODY)} bytes of "
                    r"its body came", True),
    "half a header": (raw(head()[:-2]), 503, "timeout",
                      r"request not complete within server.readTimeout \(2s\): its header is not complete", False),
}


def overloaded(gate, upstream):
    """@return the answer to what finds no room, while another request is being sent on."""
    upstream.default = Answer(hold=threading.Event())
    with ThreadPoolExecutor() as senders:
        first = senders.submit(gate.send, noise(40_000))
        eventually(lambda: upstream.requests, "it has come to the store")
        reply = gate.send(noise(40_000, seed=1), TENANT)
        upstream.default.hold.set()
        assert first.result().status == 204
    return reply


# --- rejected by the store

def test_a_store_that_says_no_to_a_question_has_rejected_nothing(start_gate, upstream):
    gate = start(start_gate, upstream.url)
    upstream.default = Answer(400)
    assert gate.send(b"", path="/api/v1/write?get_vm_proto_version=1").status == 400
    assert gate.send(BODY).status == 400
    assert gate.metric("seriesgate_upstream_responses_total", code="400") == 1
    assert line(gate, "the store rejected requests")["requests"] == "1"


# --- no answer

def refused(stack):
    holder, port = unused_port()
    stack.callback(holder.close)
    return f"http://127.0.0.1:{port}/w"


def full(stack):
    """A listener whose queue is full: attempts to connect get no answer at all."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=0)
    stack.callback(listener.close)
    for _ in range(8):
        filler = socket.socket()
        filler.setblocking(False)
        filler.connect_ex(listener.getsockname())
        stack.callback(filler.close)
    return f"http://127.0.0.1:{listener.getsockname()[1]}/w"


def answering(stack, answer):
    store = Upstream()
    store.default = answer
    stack.callback(store.stop)
    return store.url


def silent(stack):
    held = threading.Event()
    stack.callback(held.set)
    return answering(stack, Answer(hold=held))


# (the store, status, what is said)
UNANSWERED = {
    "dns": (lambda stack: "http://no-such-host.invalid/w", 502,
            r"cannot reach the upstream no-such-host.invalid: no-such-host.invalid does not resolve: \w.*"),
    "connection_refused": (refused, 502, r"cannot reach the upstream (\S+): connecting to \1: Connection refused"),
    "connect_timeout": (full, 502, r"cannot reach the upstream (\S+): connecting to \1: no answer in time"),
    "no_route": (lambda stack: "http://255.255.255.255:9/w", 502,
                 r"cannot reach the upstream (\S+): connecting to \1: Network is unreachable"),
    "connection_lost": (lambda stack: answering(stack, Answer(cut=0)), 502,
                        r"the upstream \S+ broke off: before its answer, it closed the connection"),
    "invalid_answer": (lambda stack: answering(stack, Answer(before=b"220 mail.example ESMTP\r\n")), 502,
                       r"the answer of the upstream \S+ cannot be passed on: bad version"),
    "timeout": (silent, 504,
                r"no answer from the upstream \S+ within upstream.timeout \(1s500ms\)"),
}


@pytest.fixture
def stack():
    """What a test has to undo."""
    with ExitStack() as undo:
        yield undo


@pytest.mark.parametrize("reason", UNANSWERED)
def test_what_gets_no_answer_says_what_the_system_says(start_gate, stack, reason):
    make, status, text = UNANSWERED[reason]
    url = make(stack)
    gate = start(start_gate, url, keys=", timeout: 1500ms")
    reply = gate.send(BODY, TENANT)
    assert (reply.status, bool(re.fullmatch(text, reply.first_line))) == (status, True), reply
    assert line(gate, "the upstream has not answered") == {
        "level": "warn", "requests": "1", "reason": reason, "upstream": url.split("/")[2], "sender": "127.0.0.1",
        "tenant": "shop", "status": str(status), "err": reply.first_line}
    counted = samples_of(gate.metrics, "seriesgate_upstream_errors_total")
    assert {next(iter(labels))[1]: int(value) for labels, value in counted.items() if value} == {reason: 1}


def test_an_outage_that_all_workers_see_has_one_line_and_one_end(start_gate):
    first = Upstream(port=free_port())
    gate = start_gate(config=f"upstream: {{url: '{first.url}'}}\nserver: {{threads: 4}}\n")
    first.stop()
    with ThreadPoolExecutor(8) as senders:
        assert {reply.status for reply in senders.map(gate.send, [BODY] * 40)} == {502}
        second = Upstream(port=first.port)
        try:
            assert {reply.status for reply in senders.map(gate.send, [BODY] * 40)} == {204}
        finally:
            second.stop()
    assert line(gate, "the upstream answers again")["requests"] == "40"
    assert len(gate.said("the upstream has not answered")) == 1


@pytest.mark.skipif(sanitized("asan", "tsan", "ubsan"), reason="a sanitizer's runtime wants to be loaded first")
def test_a_name_that_does_not_resolve_at_the_start_is_not_ready_until_it_does(start_gate, upstream, tmp_path):
    names = FakedNames(tmp_path)
    gate = start(start_gate, f"http://store.test:{upstream.port}/w", environment=names.environment)
    why = line(gate, "the upstream's name does not resolve")["err"]
    reply = gate.get("/-/ready")
    assert (reply.status, reply.first_line) == \
        (503, f"starting: the upstream's name does not resolve: store.test: {why}")
    assert gate.get("/health").status == 200
    assert gate.send(BODY).status == 502
    names.set(**{"store.test": "127.0.0.1"})
    eventually(lambda: gate.get("/-/ready").status == 200, "ready")
    assert gate.send(BODY).status == 204
    assert 0 < float(line(gate, "the upstream's name resolves again")["outage_seconds"]) < 60


# --- all of it adds up

def accounts(gate):
    """What requests were counted as, and how many there were."""
    metrics = gate.metrics

    def by(name, label):
        return {f"{name} {dict(labels)[label]}": int(value) for labels, value in
                samples_of(metrics, f"seriesgate_{name}_total").items() if value}

    counted = {**by("requests_rejected", "reason"), **by("upstream_errors", "reason"), **by("upstream_responses", "code")}
    if nothing_left := by("requests_forwarded", "kind").get("requests_forwarded none"):
        counted["nothing left to forward"] = nothing_left
    return counted, int(sum(samples_of(metrics, "seriesgate_requests_total").values()))


def test_every_request_is_counted_once_whatever_becomes_of_it(start_gate, upstream, stack):
    gate = start(start_gate, upstream.url, keys=", timeout: 4s, protocol: v1",
                 more="onLimit: reject\nmaxHourlySeries: 5\n")
    reply = overloaded(gate, upstream)
    assert (reply.status, reply.get("Retry-After")) == (503, "1")
    found = re.fullmatch(r"over server.maxInflightBytes: (\d+) of 131072 bytes are held, (\d+) of 65536 for bodies; "
                         r"try again", reply.first_line)
    assert found and 40_000 < int(found[2]) <= int(found[1]) < 60_000, reply.first_line
    assert line(gate, "requests rejected")["err"] == reply.first_line
    assert accounts(gate) == ({"upstream_responses 204": 1, "requests_rejected overloaded": 1}, 2)
    upstream.default = Answer(204)
    held = threading.Event()
    stack.callback(held.set)

    def counts_once(how, *counted, is_known=True):
        """@return the answer"""
        before, total = accounts(gate)
        reply = how(gate)
        after, total_now = accounts(gate)
        more = {key: value - before.get(key, 0) for key, value in after.items() if value != before.get(key, 0)}
        assert more == dict.fromkeys(counted, 1), counted
        assert total_now - total == is_known, counted
        return reply

    for answer, counted in [
            (Answer(204), "upstream_responses 204"), (Answer(400), "upstream_responses 400"),
            (Answer(503), "upstream_responses 503"), (Answer(cut=5), "upstream_errors connection_lost"),
            (Answer(before=b"220 mail\r\n"), "upstream_errors invalid_answer"), (Answer(hold=held), "upstream_errors timeout")]:
        upstream.answers.append(answer)
        counts_once(send(BODY), counted)
    heard = set()  # a reason has one line in ten seconds
    for kind, (how, status, reason, text, is_known) in REJECTED.items():
        reply = counts_once(how, f"requests_rejected {reason}", is_known=is_known)
        assert (reply.status, bool(re.fullmatch(text, reply.first_line))) == (status, True), reply
        if reason not in heard:
            assert line(gate, "requests rejected", err=reply.first_line) == {
                "level": "warn", "requests": "1", "reason": reason, "sender": "127.0.0.1", "user": "",
                "tenant": "" if kind == "no HTTP" else "shop", "status": str(status), "err": reply.first_line}
        heard.add(reason)
    upstream.answers.append(Answer(204))
    some = wire.pack(b"".join(wire.sampled("up", job=job) for job in "abcdefg"))
    counts_once(send(some), "upstream_responses 204", "requests_rejected refused")
    counts_once(send(wire.pack(wire.sampled("up", job="z"))), "nothing left to forward", "requests_rejected refused")
    counted, total = accounts(gate)
    outside = sum(not is_known for *_, is_known in REJECTED.values())
    assert sum(counted.values()) - counted["requests_rejected refused"] == total + outside
    upstream.stop()
    assert send(BODY)(gate).status == 502
    assert accounts(gate)[0] == {**counted, "upstream_errors connection_refused": 1}
