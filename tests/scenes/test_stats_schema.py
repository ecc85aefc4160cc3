"""/stats is what docs/stats.schema.json and docs/stats.md say, whatever the gate has been through."""

import copy
import itertools
import json
import re
from urllib.parse import urlencode

import jsonschema
import pytest

import recorded
import wire
import wire_v2
from gate import REPOSITORY
from traffic import body, numbered, offer
from upstream import Answer
from waiting import eventually

SCHEMA = json.loads((REPOSITORY / "docs/stats.schema.json").read_text())
PAGE = (REPOSITORY / "docs/stats.md").read_text()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

LIMITED = """
maxHourlySeries: 20
tenants: {default: {maxHourlySeries: 12}, overrides: {team-a: {maxDailySeries: 5}}}
exempt: ['{job="always"}']
limits:
  - {name: per-job, each: [job], perTenant: true, maxHourlySeries: 5}
  - {name: watched, each: [n], maxGroups: 3, mode: observe, maxHourlySeries: 1}
  - {name: plain, maxDailySeries: 15}
"""


def validate(gate):
    """All of it, and every kind of part. @return all of it"""
    for query in ("", "?limit=0", "?limit=2", "?tenant=team-a", "?tenant=nobody", "?name=per-job", "?name=nothing",
                  "?limit=1&tenant=&name=per-job"):
        reply = gate.get("/stats" + query)
        assert (reply.status, reply.get("Content-Type")) == (200, "application/json")
        VALIDATOR.validate(json.loads(reply.body))
    return gate.stats


# --- the states of a gate

def test_a_fresh_gate(gate):
    stats = validate(gate)
    assert (stats["schemaVersion"], stats["tenants"], stats["limits"]) == (1, [], [])


@pytest.mark.parametrize("also", ["", "mode: observe\n", "onLimit: reject\n", "wholeHistograms: true\n"])
def test_a_gate_whose_limits_are_spent(limited, upstream, also):
    gate = limited(LIMITED + also)
    for tenant in ("team-a", "team-b", None):
        for job in ("x", "y", "always"):
            gate.send(body(numbered(9, job=job)), [("X-Scope-OrgID", tenant)] if tenant else [])
    stats = validate(gate)
    # The third finds no room in `plain`, and what is refused leaves no budget behind.
    assert len(stats["tenants"]) == (3 if "observe" in also else 2)
    assert {entry["name"] for entry in stats["limits"]} == {"per-job", "watched", "plain", "exempt"}
    assert all(("tenant" in entry) == (entry["name"] in ("per-job", "exempt")) for entry in stats["limits"])


def test_a_gate_that_rejects_everything(limited, upstream):
    gate = limited(LIMITED + "server: {maxRequestBytes: 1000}\n")
    assert gate.send(b"no snappy").status == 400
    assert gate.send(b"x" * 2000).status == 400
    assert gate.send(b"", [("Content-Type", "text/plain")]).status == 415
    with gate.client() as client:
        assert client.request("PUT", "/api/v1/write").status == 405
    assert gate.get("/nowhere").status == 404
    assert gate.get("/stats?x=1").status == 400
    requests = validate(gate)["requests"]
    assert {reason: count for reason, count in requests["rejectedByReason"].items() if count} == {
        "malformed": 1, "too_large": 1, "unsupported_media": 1, "method_not_allowed": 1, "unknown_path": 1,
        "bad_argument": 1}
    assert requests["byStatus"] == {"400": 2, "405": 1, "415": 1}
    assert (requests["total"], requests["rejected"]) == (4, 4)


def test_a_store_that_answers_anything(gate, upstream):
    answered = {}
    for status in (200, 204, 300, 404, 429, 500, 503, 599):
        upstream.default = Answer(status=status)
        gate.send(body(numbered(3)))
        answered[str(status)] = 1
        requests = eventually(lambda: (found := validate(gate)["requests"])["total"] == len(answered) and found, "it is counted")
        assert requests["byStatus"] == requests["upstreamByStatus"] == answered
        assert set(requests["upstreamErrorsByReason"].values()) == set(requests["rejectedByReason"].values()) == {0}


def test_a_store_that_is_gone(gate, upstream):
    upstream.stop()
    for _ in range(3):
        assert gate.send(body(numbered(3))).status == 502
    requests = eventually(lambda: (found := validate(gate)["requests"])["total"] == 3 and found, "they are counted")
    assert (requests["byStatus"], requests["upstreamByStatus"]) == ({"502": 3}, {})
    assert (requests["rejected"], requests["upstreamErrors"]) == (0, 3)
    assert {reason: count for reason, count in requests["upstreamErrorsByReason"].items() if count} == {"connection_refused": 3}


def test_a_store_that_confirms_nothing(gate, upstream):
    message = wire.pack(wire_v2.request({"__name__": "up"}))
    assert gate.send(message, wire_v2.HEADERS).status == 204
    stats = validate(gate)
    assert (stats["requests"]["unconfirmed"], stats["samples"]["failed"]) == (1, 1)


def test_a_store_that_writes_less(gate, upstream):
    upstream.default = Answer(204, [("X-Prometheus-Remote-Write-Samples-Written", "1")])
    message = wire.pack(wire_v2.request(*({"__name__": "up", "job": job} for job in "abc")))
    assert gate.send(message, wire_v2.HEADERS).status == 204
    stats = validate(gate)
    assert (stats["requests"]["partlyWritten"], stats["requests"]["unconfirmed"]) == (1, 0)
    assert (stats["samples"]["stored"], stats["samples"]["failed"]) == (1, 2)


def test_what_is_left_out_is_counted(limited, upstream):
    gate = limited("maxHourlySeries: 10\nupstream: {protocol: v1}\n")
    stale = wire.series({"__name__": "m"}, wire.field(wire.SAMPLES, wire.sample(wire.STALE, 1)))
    assert gate.send(wire.pack(stale)).status == 204
    no_name = wire.pack(wire_v2.request({"__name__": "up"}, {"job": "no name"}))
    assert gate.send(no_name, wire_v2.HEADERS).status == 400
    nameless = wire.pack(wire.series([("", "x")], wire.field(wire.SAMPLES, wire.sample(1.0, 1))))
    assert gate.send(nameless).status == 204
    dropped = validate(gate)["dropped"]
    assert {reason: count for reason, count in dropped.pop("leftOutSeries").items() if count} == {"label_without_name": 1}
    assert dropped == {"unknownEntries": 1, "untranslatedSeries": 1, "untranslatedHistograms": 0}


def test_connections_are_counted(limited, upstream):
    gate = limited("server: {maxConnections: 1, maxConnectionsPerPeer: 1}\n")
    with gate.client() as first:
        first.write(body(numbered(1)))
        with gate.client() as second:
            second.write(body(numbered(1)))
        connections = validate(gate)["connections"]
    assert sum(connections["givenUpByReason"].values()) >= 1
    assert connections["accepted"] >= 3


def test_a_gate_that_has_been_restarted_and_reloaded(limited, upstream, tmp_path):
    text = LIMITED + f"state: {{dir: {tmp_path / 'state'}}}\n"
    first = limited(text)
    offer(first, upstream, numbered(3, job="x"), "team-a")
    first.stop()
    second = limited(text)
    assert validate(second)["windows"]["hourly"]["currentSeries"] == 3
    assert second.reload(text.replace("perTenant: true", "perTenant: false") + "mode: observe\n").status == 200
    assert validate(second)["mode"] == "observe"


def test_names_of_all_bytes(limited, upstream):
    gate = limited(LIMITED)
    for name in (b"\xff", b'"},{"', b"\\u0000", b"\xe2\x80\xae", b"x" * 1024):
        assert gate.send(body(numbered(2, job=name)), [("X-Scope-OrgID", name.decode("latin-1"))]).status == 204
    assert validate(gate)["tenantsTotal"] == 5


# --- the schema itself

def objects_in(value, path=()):
    """Every object of /stats with keys of its own; those that are tables by reason, status or label are none."""
    if isinstance(value, dict) and not (path and (path[-1].startswith("by") or "By" in path[-1] or path[-1] == "group")):
        yield value
        for key, inner in value.items():
            yield from objects_in(inner, (*path, key))
    if isinstance(value, list):
        for inner in value:
            yield from objects_in(inner, path)


def test_the_schema_takes_no_other_key_and_needs_each(limited, upstream):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    gate = limited(LIMITED)
    offer(gate, upstream, numbered(3, job="x"), "team-a")
    stats = gate.stats
    VALIDATOR.validate(stats)
    places = len(list(objects_in(stats)))
    assert places > 15
    for place in range(places):
        more = copy.deepcopy(stats)
        list(objects_in(more))[place]["another"] = 0
        assert not VALIDATOR.is_valid(more), place
        for key in list(objects_in(stats))[place]:
            less = copy.deepcopy(stats)
            there = list(objects_in(less))[place]
            del there[key]
            assert not VALIDATOR.is_valid(less) or (key == "tenant" and "name" in there), key
    for table in ("byStatus", "rejectedByReason"):
        more = copy.deepcopy(stats)
        more["requests"][table]["Ärger"] = 1
        assert not VALIDATOR.is_valid(more)


# --- the documentation

def test_every_reason_is_documented(gate):
    stats = gate.stats
    for table in (stats["requests"]["rejectedByReason"], stats["requests"]["upstreamErrorsByReason"],
                  stats["connections"]["givenUpByReason"], stats["connections"]["turnedAwayByReason"]):
        assert table
        for reason in table:
            assert f"| `{reason}` |" in PAGE, reason


def test_every_family_of_metrics_is_documented(limited, upstream):
    gate = limited(LIMITED)
    for series in recorded.bodies()[:1], [body(numbered(9, job="x"))]:
        gate.send(series[0], [("X-Scope-OrgID", "team-a")])
    families = re.findall(r"^# TYPE (seriesgate_\w+) ", gate.get("/metrics").body.decode(), re.MULTILINE)
    assert len(families) > 50
    assert [family for family in families if f"`{family}`" not in PAGE] == []


# --- GET /stats?limit=N&tenant=NAME&name=NAME OF A LIMIT

WITH_PATHS = """
tenants: {default: {maxHourlySeries: 100}}
limits:
  - {name: per-job, each: [job], perTenant: true, maxHourlySeries: 50}
  - {name: per.path, each: [path]}
"""


@pytest.fixture
def shared(limited, upstream):
    """A gate that two teams and one without a name have written to."""
    gate = limited(WITH_PATHS)
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
