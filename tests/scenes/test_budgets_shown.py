"""What /stats, /metrics and the log say about budgets, whatever bytes tenants and labels are made of."""

import json

import pytest

import exposition
import servers
import traffic
import wire
from traffic import figures, limits, numbered, offer, shown, tenants
from world import threading

BUDGETS = """
maxHourlySeries: 1000
tenants: {default: {maxHourlySeries: 4}}
limits:
  - {name: per-path, each: [path], maxHourlySeries: 9, maxDailySeries: 10}
  - {name: per.job_and-tenant, match: '{job!=""}', each: [job, __name__], perTenant: true, mode: observe,
     maxHourlySeries: 2}
"""

FAMILIES = ("max", "current", "refused")

WEIRD = [b'quo"te', b"back\\slash", b"\\n", b"new\nline", b"tab\tcr\rnul\x00del\x7f", b'"} 1\nforged{a="',
         b"{a=\"b\",c='d'}", b" ", b"\xff", b"\xfe", b"\xff\xfe", b"\xc0\x80", b"cut \xe2\x82", b"caf\xc3\xa9",
         b"\xf0\x9f\x92\xa9", b"\xef\xbf\xbd", b"\xed\xa0\x80", b"\xe2\x80\xa8"]
LONG = [b"x" * 600 + tail for tail in (b"1", b"2")]


def budgets_of(metrics, kind, window="hourly"):
    """{other labels: (max, current, refused)} of one kind of budget, as figures() has them."""
    found = {}
    for what in FAMILIES:
        for labels, value in exposition.samples_of(metrics, f"seriesgate_{kind}_series_{what}").items():
            if ("window", window) in labels:
                found.setdefault(labels - {("window", window)}, []).append(value)
    return {labels: tuple(values) for labels, values in found.items()}


def test_metrics_of_budgets_pass_promtool_and_agree_with_stats(limited, upstream):
    gate = limited(BUDGETS)
    admitted = [len(offer(gate, upstream, numbered(3, job=job, path="/p"), tenant))
                for tenant in ("team-a", "team-b", None) for job in ("x", "y")]
    assert admitted == [3, 1, 3, 1, 1, 0]
    servers.check_metrics(gate.get("/metrics").body)
    stats, metrics = gate.stats, gate.metrics
    for window in ("hourly", "daily"):
        assert budgets_of(metrics, "tenant", window) == {
            frozenset({("tenant", entry["tenant"]), ("mode", "enforce")}): figures(entry, window) for entry in stats["tenants"]}
        by_limit = budgets_of(metrics, "limit", window)
        assert len(by_limit) == len(stats["limits"])
        assert sorted(by_limit.values()) == sorted(figures(entry, window) for entry in stats["limits"])
    one, = (labels for labels in budgets_of(metrics, "limit") if ("limit", "per-path") in labels)
    assert {name for name, _ in one} == {"limit", "group", "tenant", "mode"}
    assert '"/p"' in dict(one)["group"] and "path" in dict(one)["group"]
    assert {dict(labels)["tenant"] for labels in budgets_of(metrics, "limit")} == {"", "team-a", "team-b"}


def test_a_fresh_gate_with_limits_has_good_metrics(limited):
    gate = limited(BUDGETS)
    servers.check_metrics(gate.get("/metrics").body)
    assert gate.stats["limits"] == [] and gate.stats["tenants"] == []


def is_shown_well(gate, tenants, groups):
    """Valid JSON and metrics, with every budget there, and none taken for another."""
    stats = json.loads(gate.get("/stats").body.decode())
    assert len(stats["tenants"]) == tenants
    assert len(stats["limits"]) == groups
    servers.check_metrics(gate.get("/metrics").body)
    metrics = gate.metrics
    assert len(budgets_of(metrics, "tenant")) == tenants
    assert len(budgets_of(metrics, "limit")) == groups
    return stats


def test_weird_label_values_are_shown_well(limited, upstream):
    gate = limited("limits: [{name: per-path, each: [path], maxHourlySeries: 3}]\n")
    for value in WEIRD + LONG:
        assert len(offer(gate, upstream, numbered(5, path=value))) == 3, value
    stats = is_shown_well(gate, 1, len(WEIRD + LONG))
    assert {entry["group"]["path"] for entry in stats["limits"]} >= {shown(value) for value in WEIRD}


def test_weird_label_names_are_shown_well(limited, upstream):
    names = ['quo"te', "back\\slash", "new\nline", "k8s.pod.name", "café", " "]
    gate = limited("limits:\n" + "".join(
        f"  - {{name: l{at}, each: [{json.dumps(name)}], maxHourlySeries: 3}}\n" for at, name in enumerate(names)))
    assert len(offer(gate, upstream, numbered(5, **{name: "v" for name in names}))) == 3
    stats = is_shown_well(gate, 1, len(names))
    assert sorted(name for entry in stats["limits"] for name in entry["group"]) == sorted(names)


def test_weird_tenants_are_shown_well(limited, upstream):
    gate = limited("tenants: {default: {maxHourlySeries: 4}}\n"
                   "limits: [{name: per-tenant, perTenant: true, maxHourlySeries: 3}]\n")
    weird = [b'quo"te', b"back\\slash", b"back\\\\slash", b"\\n", b"tab\there", b'"} 1', b"{}", b"\xff", b"\\xff",
             b"\\\\xff", b"\\xffx", b"\xffx", b"\xfe", b"caf\xe9", b"caf\xc3\xa9", b"\xef\xbf\xbd", b"\xed\xa0\x80",
             b"\\x01", b"\"", b"\\\"", b"a|b", b"a,b", b"__overflow__", *LONG]
    for tenant in weird:
        assert len(offer(gate, upstream, numbered(5), tenant)) == 3, tenant
    stats = is_shown_well(gate, len(weird), len(weird))
    names = {entry["tenant"] for entry in stats["tenants"]}
    assert names == {shown(tenant) for tenant in weird}
    assert {'quo"te', "back\\\\slash", "\\\\n", "tab\\x09here", "café", "\\xff"} <= names


@pytest.mark.parametrize("length", [10, 400, 5000])
def test_weird_names_cannot_forge_log_lines(limited, upstream, length):
    gate = limited("limits: [{name: per-path, each: [path], perTenant: true, maxHourlySeries: 1}]\n")
    offer(gate, upstream, numbered(2, path=b'x"}\n2026-01-01 forged \x1b[31m\xff' + b"y" * length),
          b'caf\xe9" forged ' + b"z" * min(length, 900))
    gate.stop()
    line, = (line for line in gate.log.splitlines() if "refused" in line)
    assert len(line) < 4096
    assert "\x1b" not in gate.log
    gate.log_bytes.decode()  # fails on a byte that is no UTF-8


# --- many budgets, and names that would be mistaken (what it costs: tests/attacks)

def groups(count, start=0):
    return [{"__name__": "m", "g": f"group-{n:06}"} for n in range(start, start + count)]


def test_an_answer_is_as_new_as_its_question_whoever_else_asks(limited, upstream):
    gate = limited("limits: [{name: per-group, each: [g]}]\n")
    stop = threading.Event()

    def read():
        with gate.client() as client:
            while not stop.is_set():
                assert client.get("/stats").status == 200

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        with gate.client() as client:
            for n in range(1, 51):
                client.write(traffic.body(groups(1, n)))
                stats = json.loads(client.get("/stats").body)
                assert (stats["windows"]["hourly"]["currentSeries"], stats["limitsTotal"]) == (n, n)
                metrics = client.get("/metrics").body.decode()
                assert f'seriesgate_series_current{{window="hourly"}} {n}\n' in metrics
    finally:
        stop.set()
        for reader in readers:
            reader.join()


TWINS = [b"\xff", b"\\xff", b"\\\\xff", b"a\\b", b"a\\\\b", b"\\xffx", b"\xffx", b"__overflow__", b"{}", b"\x01",
         b"\\x01", b"\"", b"\\\"", b"\xef\xbf\xbd", b"\xed\xa0\x80", b"\\n"]


def is_shown_once(gate):
    """Strict readers take it, and every budget has names of its own."""
    page = gate.get("/metrics").body
    servers.check_metrics(page)
    gate.metrics  # a sample that comes twice fails
    stats = gate.stats
    return len(tenants(stats)), len(limits(stats))


@pytest.mark.parametrize("per_tenant", ["false", "true"])
def test_groups_that_look_alike_are_two(limited, upstream, per_tenant):
    gate = limited(f"limits: [{{name: it, each: [__name__, a, b], perTenant: {per_tenant}}}]\n")
    labels = [(("a", one), ("b", other)) for one in TWINS for other in TWINS[:3]]
    long = [(("a", b"\xff" * 900 + tail), ("b", value)) for tail in (b"", b"x") for value in (b"1", b"2")]
    one = wire.field(wire.SAMPLES, wire.sample(1.0, 1))
    twins = b"".join(wire.series([("__name__", b"m"), *each], one) for each in [*labels, *long])
    assert gate.send(wire.pack(twins)).status == 204
    assert gate.send(wire.pack(wire.series([("a", b"1")], one))).status == 204
    assert gate.send(wire.pack(wire.sampled("{}"))).status == 204
    assert gate.send(wire.pack(wire.sampled("__overflow__", a="__overflow__", b="__overflow__"))).status == 204
    assert is_shown_once(gate)[1] == len(labels) + len(long) + 3


def test_label_names_do_not_make_two_groups_look_alike(limited, upstream):
    gate = limited("limits: [{name: it, each: [__name__, 'x{b', b]}]\n")
    for name, label in (("m{x", "b"), ("m", "x{b"), ("m", "b")):
        assert gate.send(wire.pack(wire.sampled(name, **{label: "1"}))).status == 204
    for labels in ([("__name__", b"{}")], [("y", b"1")]):
        assert gate.send(wire.pack(wire.series(labels, wire.field(wire.SAMPLES, wire.sample(1.0, 1))))).status == 204
    assert is_shown_once(gate)[1] == 5


def test_the_real_overflow_is_the_overflow(limited, upstream):
    gate = limited("tenants: {maxTenants: 1}\nlimits: [{name: it, each: [a], maxGroups: 1}]\n")
    for tenant in ("one", "two", "__overflow__"):
        offer(gate, upstream, [{"__name__": "m", "a": tenant}], tenant)
    assert is_shown_once(gate) == (2, 2)
    assert figures(tenants(gate.stats)["__overflow__"])[1] == 2
