"""GET /stats?limit=N&tenant=NAME&name=NAME OF A LIMIT."""

import itertools
import json
from urllib.parse import quote, urlencode

import pytest

from tables import check_rows
from traffic import numbered, offer

POSSIBLE = b"; /stats takes limit=N, tenant=NAME and name=NAME of a limit, each once at most and percent-encoded\n"

LIMITS = """
tenants: {default: {maxHourlySeries: 100}}
limits:
  - {name: per-job, each: [job], perTenant: true, maxHourlySeries: 50}
  - {name: per.path, each: [path]}
"""


@pytest.fixture
def shared(limited, upstream):
    """A gate that two teams and one without a name have written to."""
    gate = limited(LIMITS)
    for tenant, count in (("team-a", 3), ("team-b", 5), (None, 2)):
        for job in ("x", "y"):
            series = numbered(count, job=job, path=f"/{tenant}")
            assert offer(gate, upstream, series, tenant) == series
    return gate


def test_every_part_is_what_the_whole_says(shared):
    whole = shared.stats
    for tenant, name, limit in itertools.product((None, "", "team-a", "team-b", "x"), (None, "per-job", "per.path", "x"),
                                                 (None, 0, 1, 2, 9)):
        query = {key: value for key, value in (("tenant", tenant), ("name", name), ("limit", limit)) if value is not None}
        part = json.loads(shared.get("/stats?" + urlencode(query)).body)
        for key in ("tenants", "limits"):
            expected = [entry for entry in whole[key] if tenant in (None, entry.get("tenant"))
                        and name in (None, entry.get("name"))]
            assert part[key + "Total"] == len(expected), query
            assert part[key] == (expected if limit is None else expected[:limit]), query
        assert (part["windows"], part["samples"], part["exempt"]) == (whole["windows"], whole["samples"], whole["exempt"])


@pytest.mark.parametrize("tenants", [
    [b"a b+c&d=e%20", b"\xff", b"\\xff", b"caf\xc3\xa9", b"#?;", b"__overflow__", b"'\"<>"], [b"x" * 1024]], ids=["short", "long"])
def test_a_tenant_of_any_bytes_is_found(limited, upstream, tenants):
    """And no other: they are all there, with different numbers of series."""
    gate = limited(LIMITS)
    others = [b"\xfe", b"\\\\xff", b"a b c&d=e%20", b"x" * 900]
    for at, name in enumerate([*tenants, *others]):
        offer(gate, upstream, numbered(2 + at, job="x"), name)
    whole = {entry["tenant"]: entry for entry in gate.stats["tenants"]}
    assert len(whole) == len(tenants) + len(others)

    def is_found(at, tenant):
        found = gate.get("/stats?tenant=" + quote(tenant, safe=""))
        stats = json.loads(found.body)
        has_group = len(tenant) < 1000  # tenant and job make a key of 1024 bytes at most, or they share the overflow
        assert (stats["tenantsTotal"], stats["limitsTotal"]) == (1, has_group)
        assert stats["tenants"][0] == whole[stats["tenants"][0]["tenant"]]
        assert stats["tenants"][0]["hourly"]["currentSeries"] == 2 + at

    check_rows({str(tenant)[:40]: (at, tenant) for at, tenant in enumerate(tenants)}, is_found, gate)


def test_the_overflow_is_found_by_its_name(limited, upstream):
    gate = limited("tenants: {maxTenants: 1}\n")
    for tenant in ("one", "two", "three"):
        offer(gate, upstream, numbered(2), tenant)
    for tenant, found in (("__overflow__", ["__overflow__"]), ("two", [])):
        stats = json.loads(gate.get(f"/stats?tenant={tenant}").body)
        assert ([each["tenant"] for each in stats["tenants"]], stats["tenantsTotal"]) == (found, len(found))
        assert (stats["limits"], stats["limitsTotal"]) == ([], 0)


def test_who_observes_is_told_by_the_mode(limited, upstream):
    text = "tenants: {mode: observe, default: {maxHourlySeries: 1}}\nlimits: [{name: all, perTenant: true}]\n"
    gate = limited(text)
    offer(gate, upstream, numbered(3), "team-a")

    def modes():
        stats = gate.stats
        labels = [dict(labels) for (name, labels) in gate.metrics if name.endswith("_series_refused") and labels]
        in_metrics = {label: {each["mode"] for each in labels if label in each and ("limit" in each) == (label == "limit")}
                      for label in ("tenant", "limit")}
        return stats["mode"], stats["tenants"][0]["mode"], stats["limits"][0]["mode"], in_metrics

    assert modes() == ("enforce", "observe", "enforce", {"tenant": {"observe"}, "limit": {"enforce"}})
    gate.reload(text.replace("observe", "enforce"))
    assert modes() == ("enforce", "enforce", "enforce", {"tenant": {"enforce"}, "limit": {"enforce"}})
    gate.reload(text.replace("mode: observe, ", "") + "mode: observe\n")
    assert modes() == ("observe", "observe", "observe", {"tenant": {"observe"}, "limit": {"observe"}})


FAULTS = [
    ("limit=-1", "limit: expected a whole number, how many entries each list may have"),
    ("limit=1&limit=2", "limit: comes twice"),
    ("%0a%1b%ff=", r'unknown argument "\x0a\x1b\xff"'),
    ("tenant=%", "the query has a ';', a '#', or a '%' without two hexadecimal digits behind it"),
]


def test_what_cannot_be_understood_is_400_and_says_what_can(gate):
    def rejected():
        return gate.metric("seriesgate_requests_rejected_total", reason="bad_argument")

    def is_told(query, fault):
        before = rejected()
        for method in ("GET", "HEAD"):
            with gate.client() as client:
                reply = client.request(method, "/stats?" + query)
            assert (reply.status, reply.body) == (400, fault.encode() + POSSIBLE if method == "GET" else b"")
        assert rejected() == before + 2
        assert gate.stats["requests"]["rejected"] == 0  # that is about senders

    check_rows({query[:40]: (query, fault) for query, fault in FAULTS}, is_told, gate)
    assert rejected() == 2 * len(FAULTS)
