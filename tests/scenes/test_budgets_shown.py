"""What /stats, /metrics and the log say about budgets, whatever bytes tenants and labels are made of."""

import json

import pytest

import exposition
import servers
from traffic import figures, numbered, offer, shown

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
