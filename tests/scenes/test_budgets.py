"""Budgets of tenants and of label groups: what each admits. All of them together: tests/limit/budgets_model_test.cpp."""

import traffic
from traffic import body, figures, limits, numbered, offer, tenants


def test_a_tenant_is_what_its_header_says(limited, upstream):
    gate = limited("tenants: {default: {maxHourlySeries: 3}}\n")
    for tenant in ("team-a", "team-b", None):
        assert len(offer(gate, upstream, numbered(5), tenant)) == 3
        assert upstream.requests[0].get(traffic.TENANT) == tenant
    assert len(offer(gate, upstream, numbered(5), "")) == 3  # as without a header
    assert {name: figures(entry) for name, entry in tenants(gate.stats).items()} == {
        "team-a": (3, 3, 2), "team-b": (3, 3, 2), "": (3, 3, 2)}


def test_the_tenant_header_has_any_name_in_any_case(limited, upstream):
    gate = limited("tenants: {header: THANOS-TENANT, default: {maxHourlySeries: 3}}\n")
    assert len(offer(gate, upstream, numbered(2), "a", "THANOS-TENANT")) == 2
    assert len(offer(gate, upstream, numbered(5), "a", "thanos-tenant")) == 3
    assert len(offer(gate, upstream, numbered(1, start=50), "b", traffic.TENANT)) == 1
    assert {name: figures(entry) for name, entry in tenants(gate.stats).items()} == {"a": (3, 3, 2), "": (3, 1, 0)}


def test_every_value_has_a_budget_and_single_ones_another_maximum(limited, upstream):
    gate = limited("""
limits:
  - name: per-namespace
    each: [namespace]
    maxHourlySeries: 3
    overrides:
      - {group: {namespace: kube-system}, maxHourlySeries: 5}
      - {group: {namespace: free}, maxHourlySeries: 0}
""")
    admitted = {namespace: len(offer(gate, upstream, numbered(9, namespace=namespace)))
                for namespace in ("a", "b", "kube-system", "free", "")}
    assert admitted == {"a": 3, "b": 3, "kube-system": 5, "free": 9, "": 3}
    assert len(offer(gate, upstream, numbered(9, start=4))) == 0  # no label is the empty one
    assert {key: figures(entry) for key, entry in limits(gate.stats, "per-namespace").items()} == {
        "a": (3, 3, 6), "b": (3, 3, 6), "kube-system": (5, 5, 4), "free": (0, 9, 0), "": (3, 3, 10)}


def test_a_replica_counts_once_and_goes_up_as_it_came(limited, upstream):
    gate = limited("ignoreLabels: [prometheus_replica]\nmaxHourlySeries: 5\n"
                   "limits: [{name: per-job, each: [job], maxHourlySeries: 5}]\n")
    pair = [numbered(5, job="a", prometheus_replica=replica) for replica in ("r0", "r1")]
    for series in pair:
        assert offer(gate, upstream, series) == series
        assert upstream.bodies == [body(series)]
    for replica in ("r0", "r1"):
        assert offer(gate, upstream, numbered(3, start=10, job="a", prometheus_replica=replica)) == []
    stats = gate.stats
    assert figures(stats["windows"]) == (5, 5, 3)
    assert figures(limits(stats, "per-job")["a"]) == (5, 5, 3)
