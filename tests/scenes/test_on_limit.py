"""What senders are told of refused series: {v1, v2} x {drop, reject} x {none, some, all refused} x what the store says."""

import pytest

import wire
from refusals import KEPT, KNOWN, NEW, SENT, STORES, gate_that_knows, send
from tables import check_rows, crossed
from upstream import Answer
from wire_v2 import counts, written
from world import time

SPENT = "maxHourlySeries 2 is spent (2 series admitted)"
ALSO = b"seriesgate: also refused 3 new series (3 samples)\n"


@pytest.mark.parametrize("answer", ["drop", "reject"])
def test_status_headers_and_body(limited, upstream, answer):
    gate = gate_that_knows(limited, upstream, f"onLimit: {answer}\n")
    rows = crossed(["v1", "v2"], list(SENT), list(STORES))
    assert len(rows) == 42
    check_rows(rows, lambda *row: is_told(gate, upstream, answer, *row), gate)
    samples, sent = gate.stats["samples"], [SENT[refused] for _, refused, _ in rows.values()]
    assert samples["received"] == sum(map(len, sent)) + len(KNOWN)
    assert samples["refused"] == sum(len(NEW) for labels in sent if labels is not KNOWN)


def is_told(gate, upstream, answer, version, refused, store):
    upstream.clear()
    kept, said = KEPT[refused], STORES[store]
    confirms = version == "v2" and store != "2xx without counts"
    upstream.default = Answer(status=said.status, body=said.body,
                              headers=[*said.headers, *(counts(kept) if confirms else [])])
    reply = send(gate, version, SENT[refused], [("Accept-Encoding", "gzip")])

    forwarded = refused != "all"
    assert len(upstream.requests) == forwarded
    assert reply.refused == (None if refused == "none" else (3, 3))
    success = not forwarded or said.status < 300
    told = answer == "reject" and refused != "none"
    if success and told:
        assert reply.status == 400
        assert reply.first_line == f'refused 3 new series (3 samples): {SPENT}, for example up{{instance="n0"}}'
        assert (reply.get("Content-Type"), reply.get("X-Content-Type-Options")) == \
            ("text/plain; charset=utf-8", "nosniff")
        assert len(reply.body) < 1024
    elif success:
        assert (reply.status, reply.body) == ((said.status, said.body) if forwarded else (204, b""))
    else:
        extended = refused != "none" and store != "gzip 400"
        body = said.body.rstrip(b"\n") + b"\n" + ALSO if extended else said.body
        assert (reply.status, reply.body) == (said.status, body)
        assert reply.get("Retry-After") == (said.headers[0][1] if store == "429" else None)
    if forwarded:  # what may get a line of ours must be readable
        assert upstream.requests[0].get("Accept-Encoding") == ("gzip" if refused == "none" else None)

    if version == "v1" or (forwarded and not confirms):
        assert written(reply) == (None, None, None)
    elif not success or told:
        assert written(reply) == (kept, 0, 0)
    else:
        assert written(reply) == (len(SENT[refused]), 0, 0)


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("answer", ["drop", "reject"])
@pytest.mark.parametrize("fault, status", [("closed", 502), ("timeout", 504)])
def test_a_store_that_does_not_answer(limited, upstream, version, answer, fault, status):
    timeout = "3s" if fault == "timeout" else "25s"
    gate = gate_that_knows(limited, upstream, f"onLimit: {answer}\nupstream: {{timeout: {timeout}}}\n")
    if fault == "closed":
        upstream.default = Answer(cut=0)
    else:
        upstream.handler = lambda request: time.sleep(6) or Answer()
    reply = send(gate, version, SENT["some"])
    assert reply.status == status
    assert written(reply) == (None, None, None)
    assert send(gate, version, SENT["all"]).status == (400 if answer == "reject" else 204)


def test_the_meter_rejects_with_what_it_kept(start_gate):
    gate = start_gate("--upstream.url=discard:", "--maxHourlySeries=2", config="onLimit: reject\n")
    assert written(send(gate, "v2", KNOWN)) == (2, 0, 0)
    reply = send(gate, "v2", SENT["some"])
    assert (reply.status, written(reply)) == (400, (1, 0, 0))


def test_every_spent_limit_has_a_line_and_an_example(limited, upstream):
    gate = limited("""
tenants: {default: {maxHourlySeries: 3}, onLimit: reject}
limits:
  - {name: per-job, match: '{job!=""}', each: [job], maxDailySeries: 1}
  - {name: quiet, match: '{job="q"}', maxHourlySeries: 1, onLimit: drop}
""")
    labels = [{"__name__": "m", "job": job, "pod": f"p{i}"} for job in ("a", "b") for i in range(2)]
    reply = send(gate, "v1", labels, [("X-Scope-OrgID", "t")])
    assert reply.status == 400
    assert reply.body.decode().splitlines() == [
        'refused 2 new series (2 samples): limit per-job{job="a"}: maxDailySeries 1 is spent (1 series admitted), '
        'for example m{pod="p1",job="a"}',
        'limit per-job{job="b"}: maxDailySeries 1 is spent (1 series admitted), for example m{pod="p1",job="b"}',
    ]
    assert [request.get("X-Scope-OrgID") for request in upstream.requests] == ["t"]
    assert len(wire.series_of(wire.unpack(upstream.bodies[0]))) == 2
    again = send(gate, "v1", labels, [("X-Scope-OrgID", "t")])
    assert (again.status, again.body) == (reply.status, reply.body)


def test_a_tenant_and_a_limit_have_answers_of_their_own(limited, upstream):
    gate = limited("""
tenants:
  default: {maxHourlySeries: 1}
  overrides: {told: {onLimit: reject}}
limits: [{name: strict, match: '{job="s"}', maxHourlySeries: 1, onLimit: reject}]
""")

    def status(tenant, **labels):
        each = [{"__name__": "m", **labels, "pod": f"{tenant}{i}"} for i in range(2)]
        return send(gate, "v1", each, [("X-Scope-OrgID", tenant)]).status

    assert status("quiet") == 204
    assert status("told") == 400
    assert status("other", job="s") == 400
