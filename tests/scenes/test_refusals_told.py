"""What is said of refused series, and of those that would be refused: which limit, whose samples, and an example that
shows what is new."""

import pytest

import exposition
import wire
from traffic import TENANT, body, numbered, offer

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
