"""The sender's query string: what VictoriaMetrics and others would hear from it, and what it costs to read."""

import wire
from bounds import within
from client import WRITE
from tables import check_rows, named

BODY = wire.pack(wire.sampled("up", job="a"))


def targets(upstream):
    return [request.target for request in upstream.requests]


def test_a_senders_query_stays_here(gate, upstream):
    def stays_here(query):
        upstream.clear()
        assert gate.send(BODY, path=f"{WRITE}?{query}").status == 204
        assert targets(upstream) == [WRITE]

    check_rows(named(["extra_label=tenant%3Dother", "=", "&&&", "?", "a=b;extra_label=c=d", "get_vm_proto_version=1"]),
               stays_here, gate)


def test_what_is_left_out_is_counted_and_told_once(gate):
    for _ in range(3):
        gate.send(BODY, path=f"{WRITE}?extra_label=a%3Db&x=1")
    assert gate.metric("seriesgate_query_arguments_dropped_total") == 6
    assert gate.log.count("upstream.forwardQuery") == 1


GOING_ON = [
    ("x=1&extra%5flabel=a%3Db&extra_label=c%3dd&y=2&x=3", "extra%5flabel=a%3Db&extra_label=c%3dd"),
    ("two+words=1&two%20words=2", "two+words=1&two%20words=2"),
    ("extra_label=a;other=b", ""),  # some servers take ';' for '&'
    ("extra_label=a#b", ""),
]


def test_what_is_asked_for_goes_on_byte_for_byte(limited, upstream):
    gate = limited("upstream: {forwardQuery: [extra_label, two words]}\n")

    def goes_on_so(query, goes_on):
        upstream.clear()
        assert gate.send(BODY, path=f"{WRITE}?{query}").status in (204, 400)  # '#' is no part of a request target
        assert targets(upstream) in ([WRITE + ("?" + goes_on if goes_on else "")], [])

    check_rows({query: (query, goes_on) for query, goes_on in GOING_ON}, goes_on_so, gate)


HANDSHAKES = {"get_vm_proto_version=1": True, "a=b&get%5Fvm_proto_version=1&extra_label=c": True,
              "get_vm_proto_version=12": False, "x=get_vm_proto_version=1": False}


def test_the_handshake_is_that_argument_and_nothing_else_goes_with_it(limited, upstream):
    gate = limited("upstream: {forwardQuery: [extra_label]}\n")

    def is_that(query, asked):
        upstream.clear()
        with gate.client() as client:
            reply = client.request("POST", f"{WRITE}?{query}")
        if asked:
            assert (reply.status, upstream.bodies) == (204, [b""])  # the store's
            assert targets(upstream) == [f"{WRITE}?get_vm_proto_version=1"]
        else:
            assert all("get_vm_proto_version" not in target for target in targets(upstream))

    check_rows({query: (query, asked) for query, asked in HANDSHAKES.items()}, is_that, gate)


def test_a_long_query_costs_what_its_bytes_cost(limited, upstream):
    names = ", ".join(f"name-{n:03}" for n in range(64))
    gate = limited(f"upstream: {{forwardQuery: [{names}]}}\n")
    with within(gate, memory_mib=32, cpu=1, seconds=20):
        with gate.client() as client:
            for part in ("&", "a&", "%61=1&", "name-063=%20&"):
                for _ in range(20):
                    assert client.write(BODY, path=f"{WRITE}?{part * (60_000 // len(part))}").status == 204
