"""Budgets of tenants and of label groups: what each admits, and that a refusal by one costs nothing in the others."""

import pytest

import traffic
from traffic import body, figures, limits, numbered, offer, tenants


# --- tenants

def test_a_tenant_is_what_its_header_says(limited, upstream):
    gate = limited("tenants: {default: {maxHourlySeries: 3}}\n")
    for tenant in ("team-a", "team-b", None):
        assert len(offer(gate, upstream, numbered(5), tenant)) == 3
        assert upstream.requests[0].get(traffic.TENANT) == tenant
    assert {name: figures(entry) for name, entry in tenants(gate.stats).items()} == {
        "team-a": (3, 3, 2), "team-b": (3, 3, 2), "": (3, 3, 2)}


def test_equal_series_of_two_tenants_are_two_series(limited, upstream):
    gate = limited("maxHourlySeries: 100\n")
    for tenant in ("team-a", "team-b", None, "team-a"):
        assert len(offer(gate, upstream, numbered(5), tenant)) == 5
    assert figures(gate.stats["windows"]) == (100, 15, 0)
    assert {name: figures(entry) for name, entry in tenants(gate.stats).items()} == {
        "team-a": (0, 5, 0), "team-b": (0, 5, 0), "": (0, 5, 0)}


def test_an_empty_tenant_header_is_as_none(limited, upstream):
    gate = limited("tenants: {default: {maxHourlySeries: 3}}\n")
    assert len(offer(gate, upstream, numbered(2), "")) == 2
    assert len(offer(gate, upstream, numbered(5))) == 3
    assert list(tenants(gate.stats)) == [""]


def test_the_tenant_header_has_any_name_in_any_case(limited, upstream):
    gate = limited("tenants: {header: THANOS-TENANT, default: {maxHourlySeries: 3}}\n")
    assert len(offer(gate, upstream, numbered(2), "a", "THANOS-TENANT")) == 2
    assert len(offer(gate, upstream, numbered(5), "a", "thanos-tenant")) == 3
    assert len(offer(gate, upstream, numbered(1, start=50), "b", traffic.TENANT)) == 1
    assert {name: figures(entry) for name, entry in tenants(gate.stats).items()} == {"a": (3, 3, 2), "": (3, 1, 0)}


def test_overrides_are_key_by_key(limited, upstream):
    gate = limited("""
tenants:
  default: {maxHourlySeries: 3, maxDailySeries: 5}
  overrides:
    more: {maxHourlySeries: 4}
    none: {maxHourlySeries: 0, maxDailySeries: 0}
    day: {maxHourlySeries: 0}
    "": {maxDailySeries: 1}
""")
    admitted = {tenant: len(offer(gate, upstream, numbered(20), tenant or None))
                for tenant in ("more", "none", "day", "", "other")}
    assert admitted == {"more": 4, "none": 20, "day": 5, "": 1, "other": 3}
    stats = tenants(gate.stats)
    maxima = {name: (entry["hourly"]["maxSeries"], entry["daily"]["maxSeries"]) for name, entry in stats.items()}
    assert maxima == {"more": (4, 5), "none": (0, 0), "day": (0, 5), "": (3, 1), "other": (3, 5)}


def test_further_tenants_share_a_budget(limited, upstream):
    gate = limited("tenants: {maxTenants: 2, default: {maxHourlySeries: 3}}\n")
    admitted = [len(offer(gate, upstream, numbered(2), tenant)) for tenant in ("a", "b", "c", "d", "e")]
    assert admitted == [2, 2, 2, 1, 0]
    assert {name: figures(entry) for name, entry in tenants(gate.stats).items()} == {
        "a": (3, 2, 0), "b": (3, 2, 0), "__overflow__": (3, 3, 3)}


@pytest.mark.parametrize("override_first", [True, False])
def test_tenants_with_an_override_take_no_place_of_the_others(limited, upstream, override_first):
    gate = limited("tenants: {maxTenants: 1, default: {maxHourlySeries: 3}, overrides: {x: {maxHourlySeries: 4}}}\n")
    for tenant in ("x", "a", "b") if override_first else ("a", "b", "x"):
        offer(gate, upstream, numbered(9), tenant)
    assert {name: figures(entry) for name, entry in tenants(gate.stats).items()} == {
        "x": (4, 4, 5), "a": (3, 3, 6), "__overflow__": (3, 3, 6)}


# --- label limits

def test_a_limit_without_each_is_one_budget_for_what_matches(limited, upstream):
    gate = limited("""
limits: [{name: paths, match: 'http_requests_total{path!=""}', maxHourlySeries: 3}]
""")
    matching = numbered(5, name="http_requests_total", path="/")
    others = numbered(5, name="http_requests_total") + numbered(5, name="up", path="/")
    assert offer(gate, upstream, matching + others) == matching[:3] + others
    assert {key: figures(entry) for key, entry in limits(gate.stats).items()} == {("paths",): (3, 3, 2)}


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


def test_several_labels_make_a_group_together(limited, upstream):
    gate = limited("""
limits: [{name: pair, match: '{job!=""}', each: [job, __name__], maxHourlySeries: 2}]
""")
    series = [labels for job in ("a", "b") for name in ("x", "y") for labels in numbered(4, name=name, job=job)]
    assert len(offer(gate, upstream, series)) == 8
    assert {key: figures(entry) for key, entry in limits(gate.stats, "pair").items()} == {
        (job, name): (2, 2, 2) for job in ("a", "b") for name in ("x", "y")}
    entry = gate.stats["limits"][0]
    assert list(entry["group"]) == ["job", "__name__"]
    assert (entry["mode"], "tenant" in entry) == ("enforce", False)


def test_groups_cannot_be_confused_by_where_a_value_ends(limited, upstream):
    gate = limited("limits: [{name: pair, each: [a, b], maxHourlySeries: 1}]\n")
    for a, b in (("x", "yz"), ("xy", "z"), ("xyz", ""), ("", "xyz")):
        assert len(offer(gate, upstream, numbered(2, a=a, b=b))) == 1
    assert len(limits(gate.stats)) == 4


def test_further_groups_share_a_budget(limited, upstream):
    gate = limited("""
limits:
  - name: per-namespace
    each: [namespace]
    maxGroups: 2
    maxHourlySeries: 3
    overrides: [{group: {namespace: late}, maxHourlySeries: 5}]
""")
    admitted = [len(offer(gate, upstream, numbered(2, namespace=namespace))) for namespace in "abcde"]
    assert admitted == [2, 2, 2, 1, 0]
    assert len(offer(gate, upstream, numbered(9, namespace="late"))) == 5
    assert {key: figures(entry) for key, entry in limits(gate.stats, "per-namespace").items()} == {
        "a": (3, 2, 0), "b": (3, 2, 0), "__overflow__": (3, 3, 3), "late": (5, 5, 4)}


@pytest.mark.parametrize("per_tenant", [True, False])
def test_a_limit_counts_tenants_together_or_each(limited, upstream, per_tenant):
    gate = limited("limits: [{name: per-namespace, each: [namespace], maxHourlySeries: 3, "
                   f"perTenant: {str(per_tenant).lower()}}}]\n")
    admitted = [len(offer(gate, upstream, numbered(2, namespace="n"), tenant)) for tenant in ("a", "b", None)]
    shown = {key: figures(entry) for key, entry in limits(gate.stats, "per-namespace").items()}
    if per_tenant:
        assert admitted == [2, 2, 2]
        assert shown == {("a", "n"): (3, 2, 0), ("b", "n"): (3, 2, 0), ("", "n"): (3, 2, 0)}
    else:
        assert admitted == [2, 1, 0]
        assert shown == {"n": (3, 3, 3)}


def test_a_limit_per_tenant_needs_no_each(limited, upstream):
    gate = limited("limits: [{name: all, perTenant: true, maxHourlySeries: 3}]\n")
    assert [len(offer(gate, upstream, numbered(5), tenant)) for tenant in ("a", "b")] == [3, 3]
    assert {key: figures(entry) for key, entry in limits(gate.stats, "all").items()} == {
        "a": (3, 3, 2), "b": (3, 3, 2)}


def test_selectors_quote_names_that_are_no_identifiers(limited, upstream):
    gate = limited("""
limits:
  - {name: web, match: '{"http.requests","k8s.pod.name"=~"web-.*"}', each: [k8s.pod.name], maxHourlySeries: 2}
""")
    web = {pod: numbered(3, name="http.requests", **{"k8s.pod.name": pod}) for pod in ("web-1", "web-2", "db-1")}
    assert [len(offer(gate, upstream, series)) for series in web.values()] == [2, 2, 3]
    assert gate.stats["limits"][0]["group"].keys() == {"k8s.pod.name"}
    assert {key: figures(entry) for key, entry in limits(gate.stats, "web").items()} == {
        "web-1": (2, 2, 1), "web-2": (2, 2, 1)}


# --- several budgets over one series

FIVE = """
maxHourlySeries: {0}
maxDailySeries: {1}
tenants: {{overrides: {{team: {{maxHourlySeries: {2}, maxDailySeries: {3}}}}}}}
limits:
  - {{name: all, maxHourlySeries: {4}, maxDailySeries: {5}}}
  - {{name: per-namespace, each: [namespace], maxHourlySeries: {6}, maxDailySeries: {7}}}
  - {{name: sick, match: '{{n=~".+"}}', each: [__name__], perTenant: true, maxHourlySeries: {8}, maxDailySeries: {9}}}
"""
BUDGETS = ["global", "tenant", "all", "per-namespace", "sick"]


def five(stats):
    return dict(zip(BUDGETS, [stats["windows"], tenants(stats)["team"], *(
        next(entry for entry in stats["limits"] if entry["name"] == name) for name in BUDGETS[2:])], strict=True))


@pytest.mark.parametrize("window", ["hourly", "daily"])
@pytest.mark.parametrize("spent", range(5), ids=BUDGETS)
def test_a_refusal_by_one_of_five_budgets_costs_nothing_in_the_others(limited, upstream, spent, window):
    daily = window == "daily"
    maxima = [100] * 10
    maxima[2 * spent + daily] = 3
    gate = limited(FIVE.format(*maxima))
    series = numbered(8, namespace="n")
    for _ in range(2):
        assert offer(gate, upstream, series, "team") == series[:3]
    for at, (name, entry) in enumerate(five(gate.stats).items()):
        for each in ("hourly", "daily"):
            limit = 3 if (at, each) == (spent, window) else 100
            # The whole's refusedSeries are those of all budgets together.
            refused = 5 if each == window and at in (0, spent) else 0
            assert figures(entry, each) == (limit, 3, refused), (name, each)


def test_a_series_needs_room_in_every_limit_that_matches(limited, upstream):
    gate = limited("""
limits:
  - {name: per-job, each: [job], maxHourlySeries: 4}
  - {name: per-namespace, each: [namespace], maxHourlySeries: 6}
""")
    assert len(offer(gate, upstream, numbered(9, job="a", namespace="x"))) == 4
    assert len(offer(gate, upstream, numbered(9, job="b", namespace="x"))) == 2
    assert len(offer(gate, upstream, numbered(9, job="b", namespace="y"))) == 2
    assert {key: figures(entry) for key, entry in limits(gate.stats).items()} == {
        ("per-job", "a"): (4, 4, 5), ("per-job", "b"): (4, 4, 7),
        ("per-namespace", "x"): (6, 6, 7), ("per-namespace", "y"): (6, 2, 0)}


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
