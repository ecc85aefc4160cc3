"""What senders are told of refused series: {v1, v2} x {drop, reject} x {none, some, all refused} x what the store says."""

import pytest

import exposition
import wire
from refusals import KEPT, KNOWN, NEW, SENT, STORES, gate_that_knows, send
from tables import check_rows, crossed
from traffic import TENANT, body, numbered, offer
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


# --- what the log and the figures say: which limit, whose samples, and an example that shows what is new

FORMS = pytest.mark.parametrize("form", ["logfmt", "json"])
REFUSED, OBSERVED = "series refused", "series would be refused"
FAMILIES = {REFUSED: "seriesgate_limit_samples_refused_total", OBSERVED: "seriesgate_limit_samples_would_refuse_total"}


def told(gate, message):
    """What lines with this message say but for the example, all as text."""
    return [{key: str(value) for key, value in event.items() if key not in ("ts", "level", "msg", "example")}
            for event in gate.said(message)]


def line(**fields):
    return {"tenant": "", "group": "", "window": "hourly", **{key: str(value) for key, value in fields.items()}}


def counted(gate, message):
    """{(limit, tenant): samples} of the message's metric."""
    return {(dict(labels)["limit"], dict(labels)["tenant"]): value
            for labels, value in exposition.samples_of(gate.metrics, FAMILIES[message]).items()}


@pytest.fixture
def logging(limited):
    def start(form, text):
        return limited(f"log: {{format: {form}}}\n{text}")

    return start


@FORMS
def test_two_tenants_that_explode_at_once_are_both_heard_with_their_own_numbers(logging, upstream, form):
    gate = logging(form, "tenants: {default: {maxHourlySeries: 3}, overrides: {large: {maxHourlySeries: 5}}}\n")
    for _ in range(2):  # the second time, the refusals are remembered; it is too early for another line
        assert len(offer(gate, upstream, numbered(10), "large")) == 5
        assert len(offer(gate, upstream, numbered(8), "small")) == 3
    assert counted(gate, REFUSED) == {("tenant", "large"): 10, ("tenant", "small"): 10}
    gate.stop()
    assert told(gate, REFUSED) == [line(samples=5, tenant="large", limit="tenant", max=5, current=5),
                                   line(samples=5, tenant="small", limit="tenant", max=3, current=3)]
    assert all(event["level"] == "warn" for event in gate.said(REFUSED))


@FORMS
def test_each_limit_is_told_by_itself(logging, upstream, form):
    gate = logging(form, """
maxHourlySeries: 9
limits:
  - {name: per-job, match: '{job!=""}', each: [job], maxHourlySeries: 20, maxDailySeries: 2}
  - {name: of-tenant, match: '{zone!=""}', each: [zone], perTenant: true, maxHourlySeries: 1}
""")
    offer(gate, upstream, numbered(6, job="a") + numbered(3, zone="z") + numbered(9), "team")
    assert counted(gate, REFUSED) == {("per-job", "team"): 4, ("of-tenant", "team"): 2, ("global", "team"): 3}
    gate.stop()
    assert told(gate, REFUSED) == [
        line(samples=4, tenant="team", limit="per-job", group='{job="a"}', window="daily", max=2, current=2),
        line(samples=2, tenant="team", limit="of-tenant", group='{zone="z"}', max=1, current=1),
        line(samples=3, tenant="team", limit="global", max=9, current=9)]


def test_what_is_refused_adds_up_over_limits_tenants_histograms_markers_and_a_reload(limited, upstream):
    text = """
wholeHistograms: true
tenants: {default: {maxHourlySeries: 12}, overrides: {two: {maxHourlySeries: 100}}}
limits: [{name: per-job, match: '{job!=""}', each: [job], maxHourlySeries: 4}]
"""
    gate = limited(text)
    gate.config_file.write_text(f"upstream: {{url: '{upstream.url}'}}\n{text}")
    stale = b"\x02\x00\x00\x00\x00\x00\xf0\x7f"
    markers = wire.series([("__name__", "gone"), ("job", "x")],
                          wire.field(wire.SAMPLES, b"\x09" + stale + wire.number_field(2, 1_700_000_000_000)))
    histogram = [{"__name__": f"h_{kind}", "pod": pod, **({"le": "1"} if kind == "bucket" else {})}
                 for pod in "abc" for kind in ("bucket", "count", "sum")]
    for round_ in range(2):
        for tenant in ("one", "two"):
            for series in (numbered(7, job="a"), histogram, numbered(9, start=round_)):
                gate.send(body(series), [(TENANT, tenant)])
            gate.send(wire.pack(markers), [(TENANT, tenant)])
        if round_ == 0:
            renamed = gate.config_file.read_text().replace("per-job", "by-job").replace("maxHourlySeries: 4", "maxHourlySeries: 1")
            assert gate.reload(renamed).status == 200
    found = counted(gate, REFUSED)
    assert sum(found.values()) == gate.metric("seriesgate_samples_refused_total")
    assert {limit for limit, _ in found} == {"tenant", "per-job", "by-job", "__unknown__"}
    assert {tenant for _, tenant in found} == {"one", "two"}
    assert found["__unknown__", "one"] == found["__unknown__", "two"] == 2


OBSERVING = {
    "global": ("mode: observe\nmaxHourlySeries: 3\n", line(limit="global", tenant="team", samples=4, max=3, current=3)),
    "tenants": ("tenants: {mode: observe, default: {maxDailySeries: 2}}\n",
                line(limit="tenant", tenant="team", samples=5, window="daily", max=2, current=2)),
    "limit": ("limits: [{name: tried, each: [job], mode: observe, maxHourlySeries: 1}]\n",
              line(limit="tried", tenant="team", samples=6, group='{job="a"}', max=1, current=1))}


@FORMS
@pytest.mark.parametrize("level", OBSERVING)
def test_a_limit_that_observes_names_what_it_would_refuse(logging, upstream, form, level):
    text, expected = OBSERVING[level]
    gate = logging(form, text)
    series = numbered(7, job="a")
    for _ in range(2):  # the second time they are known
        assert offer(gate, upstream, series, "team") == series
    assert counted(gate, OBSERVED) == {(expected["limit"], "team"): int(expected["samples"])}
    assert counted(gate, REFUSED) == {}
    gate.stop()
    assert told(gate, OBSERVED) == [expected]
    event, = gate.said(OBSERVED, level="warn")
    assert event["example"] == f'm{{n="{7 - int(expected["samples"])}",job="a"}}'
    assert gate.said(REFUSED) == []


USUAL = {f"a_usual_label_{n}": f"with-a-value-as-they-are-{n}-{'x' * 20}" for n in range(11)}
TRACES = [f"4bf92f3577b34da6a3ce929d0e0e{n:04x}" for n in range(20)]
EXPLODING = [{"__name__": "http_requests_total", **USUAL, "trace_id": trace} for trace in TRACES]


@FORMS
def test_the_label_that_explodes_is_shown_first(logging, upstream, form):
    gate = logging(form, "maxHourlySeries: 2\n")
    offer(gate, upstream, EXPLODING)
    gate.stop()
    event, = gate.said(REFUSED)
    assert event["example"].startswith(f'http_requests_total{{trace_id="{TRACES[2]}",')


def test_the_sender_is_shown_it_too_though_an_answer_is_short(limited):
    gate = limited("maxHourlySeries: 2\nonLimit: reject\n")
    reply = gate.send(body(EXPLODING))
    assert reply.status == 400
    assert reply.first_line.startswith(
        "refused 18 new series (18 samples): maxHourlySeries 2 is spent (2 series admitted), for example "
        "http_requests_total{trace_id=")
    assert len(reply.body) < 512
