"""Series that a gate knows and series that it has no room for, sent in both versions, and what stores say of them."""

import wire
import wire_v2
from upstream import Answer
from wire_v2 import counts

KNOWN = [{"__name__": "up", "instance": f"i{i}"} for i in range(2)]
NEW = [{"__name__": "up", "instance": f"n{i}"} for i in range(3)]
SENT = {"none": KNOWN, "some": [KNOWN[0], *NEW], "all": NEW}
KEPT = {"none": 2, "some": 1, "all": 0}

STORES = {
    "204": Answer(),
    "200 with counts": Answer(status=200, body=b"fine", headers=[("Content-Type", "text/html")]),
    "2xx without counts": Answer(status=202),
    "400": Answer(status=400, body=b"out of order"),
    "429": Answer(status=429, body=b"slow down\n", headers=[("Retry-After", "9")]),
    "500": Answer(status=500, body=b"broken\n"),
    "gzip 400": Answer(status=400, body=b"\x1f\x8b", headers=[("Content-Encoding", "gzip")]),
}


def send(gate, version, labels, headers=()):
    if version == "v2":
        return gate.send(wire.pack(wire_v2.request(*labels)), [*wire_v2.HEADERS, *headers])
    return gate.send(wire.pack(b"".join(wire.series(sorted(each.items()), wire.field(2, wire.sample(1.0, 1)))
                                        for each in labels)), headers)


def gate_that_knows(limited, upstream, config):
    """Its limit of two series is spent."""
    gate = limited(f"maxHourlySeries: 2\n{config}")
    upstream.default = Answer(headers=counts(2))
    assert send(gate, "v1", KNOWN).status == 204
    upstream.clear()
    return gate
