"""Who did it: /api/v1/top, /findings and /refused of a gate that real requests come to."""

import pytest

from culprits import NAME, ask, error, requests, send
from tables import check_rows
from traffic import numbered


@pytest.fixture
def gate(start_gate):
    return start_gate("--upstream.url=discard:", "--maxHourlySeries=2000")


def test_an_explosion_is_found_with_its_culprit_and_its_remedy(gate):
    send(gate, numbered(100, name="up", job="node"), agent="vmagent")
    send(gate, requests(5000))
    found, = ask(gate, "findings")
    assert {key: found[key] for key in ("window", "kind", "tenant", "metric", "metrics", "label", "series", "refused",
                                        "job", "sender", "userAgent")} == {
        "window": "hourly", "kind": "label", "tenant": "", "metric": NAME, "metrics": [NAME], "label": "trace_id",
        "series": 5000, "refused": 3100, "job": "shop", "sender": "127.0.0.1", "userAgent": "Prometheus/3.5.0"}
    assert 4500 <= found["distinctValues"] <= 5000
    assert found["text"].startswith(f"label trace_id of {NAME} has ")
    assert found["remedy"]["relabel"] == ("- source_labels: ['__name__', 'job', 'trace_id']\n"
                                          f"  regex: '{NAME};shop;.+'\n  action: drop\n")
    assert found["remedy"]["limit"].startswith(f"- name: '{NAME}'\n")
    assert ask(gate, "findings", window="daily")[0]["series"] == 5000
    assert ask(gate, "findings", tenant="other") == []


def test_those_with_the_most_series_come_first(gate):
    send(gate, numbered(300, name="a", job="one"))
    send(gate, numbered(200, name="b", job="two", namespace="shop"), agent="vmagent")
    send(gate, requests(2500))

    def short(**arguments):
        return [(each["value"], each["series"], each["error"]) for each in ask(gate, "top", **arguments)]

    assert short() == [(NAME, 1500, 0), ("a", 300, 0), ("b", 200, 0)]
    assert short(limit=1) == [(NAME, 1500, 0)]
    assert short(kind="refused") == [(NAME, 1000, 0)]
    assert short(by="job") == [("shop", 1500, 0), ("one", 300, 0), ("two", 200, 0)]
    assert short(by="namespace") == [("shop", 200, 0)]
    assert short(by="instance", kind="refused") == [(f"a{i}:80", 200, 0) for i in range(5)]
    assert short(by="tenant", window="daily") == [("", 2000, 0)]
    senders = ask(gate, "top", by="sender")
    assert [(each["value"], each["userAgent"], each["series"]) for each in senders] == [
        ("127.0.0.1", "Prometheus/3.5.0", 1800), ("127.0.0.1", "vmagent", 200)]
    label = ask(gate, "top", by="label", kind="refused")[0]
    assert (label["value"], label["metric"], label["tenant"]) == ("trace_id", NAME, "")
    assert 950 <= label["distinctValues"] <= 1000
    assert all(each["firstSeen"] <= each["lastSeen"] for each in senders)


def test_tenants_are_counted_apart_and_together(gate):
    for tenant, count in (("a", 30), ("b", 20)):
        send(gate, numbered(count, name="one"), tenant=tenant)
    send(gate, numbered(40, name="two"), tenant="b")
    assert [(e["value"], e["series"]) for e in ask(gate, "top")] == [("one", 50), ("two", 40)]
    assert [(e["value"], e["series"], e["tenant"]) for e in ask(gate, "top", tenant="b")] == [
        ("two", 40, "b"), ("one", 20, "b")]
    assert [(e["value"], e["series"]) for e in ask(gate, "top", by="tenant")] == [("b", 60), ("a", 30)]
    assert ask(gate, "top", tenant="c") == []


def test_a_tenant_has_its_finding_whoever_else_explodes(start_gate):
    gate = start_gate("--upstream.url=discard:", config="tenants: {default: {maxHourlySeries: 100}}\n")
    for n in range(12):
        send(gate, requests(1500 + 10 * n), tenant=f"t{n}")
    assert all(ask(gate, "findings", tenant=f"t{n}") for n in range(12))
    assert len(ask(gate, "findings", limit=1000)) == 10


def test_the_last_refused_series_are_kept_with_all_that_is_known(gate):
    send(gate, numbered(2000, name="up"))
    send(gate, requests(1500), agent="x" * 300)
    send(gate, requests(10, start=2000, job="other"), tenant="team")
    all_refused = ask(gate, "refused", limit=1000)
    assert [each["labels"]["trace_id"] for each in all_refused] == (
        [f"t{i}" for i in range(2009, 1999, -1)] + [f"t{i}" for i in range(1499, 509, -1)])
    newest = all_refused[0]
    assert newest["labels"] == {"__name__": NAME, "job": "other", "instance": "a4:80", "trace_id": "t2009"}
    assert {key: newest[key] for key in ("tenant", "reason", "limit", "window", "sender", "labelsCut")} == {
        "tenant": "team", "reason": "the global limit has no room this hour", "limit": "global", "window": "hourly",
        "sender": "127.0.0.1", "labelsCut": False}
    assert all_refused[-1]["userAgent"] == "x" * 128
    assert len(ask(gate, "refused")) == 100
    assert len(ask(gate, "refused", match='{job="other"}')) == 10
    assert [e["labels"]["trace_id"] for e in ask(gate, "refused", match=f'{NAME}{{trace_id=~"t10[01]0"}}')] == [
        "t1010", "t1000"]
    assert len(ask(gate, "refused", tenant="team")) == 10
    assert ask(gate, "refused", tenant="nobody") == []


def test_who_did_it_survives_a_restart(start_gate, tmp_path):
    config = f"state: {{dir: {tmp_path / 'state'}}}"
    flags = "--upstream.url=discard:", "--maxHourlySeries=2000"
    first = start_gate(*flags, config=config)
    send(first, requests(3000))
    before = {path: ask(first, path, **how) for path, how in (("findings", {}), ("top", {"kind": "refused"}))}
    assert before["findings"][0]["series"] == 3000
    first.stop()
    second = start_gate(*flags, config=config)
    assert {path: ask(second, path, **how) for path, how in (("findings", {}), ("top", {"kind": "refused"}))} == before
    send(second, requests(3000))
    assert ask(second, "top", kind="refused")[0]["series"] == 1000
    second.stop()
    other = start_gate(*flags, config=config + "\ntopLabels: [team]\n")
    assert other.said("what was seen before is not loaded")
    assert ask(other, "top", kind="refused") == []


def test_names_that_senders_chose_are_text(gate):
    hostile = "<script>\u202e\x1b[31m\"\\"
    send(gate, numbered(2000, name="up"))
    send(gate, [{"__name__": "m", "job": hostile, "big": "x" * 65536}])
    assert ask(gate, "refused")[0]["labels"]["job"] == "<script>\\u202e\\x1b[31m\"\\\\"
    assert len(ask(gate, "refused")[0]["labels"]["big"]) == 65536
    assert ask(gate, "top", by="job", kind="refused")[0]["value"] == "<script>\\u202e\\x1b[31m\"\\\\"


ASKED_WRONGLY = [
    ("top", "by=nothing", "by: expected metric, label, sender, tenant or one of the counted labels: job, namespace, "
                          "instance; possible are by, window, kind, tenant, limit, each once at most and "
                          "percent-encoded"),
    ("top", "window=weekly", "window: expected hourly or daily;"),
    ("top", "kind=all", "kind: expected new or refused;"),
    ("top", "limit=1001", "limit: expected a whole number up to 1000;"),
    ("top", "limit=-1", "limit: expected a whole number up to 1000;"),
    ("top", "limit=1&limit=2", "limit: comes twice;"),
    ("findings", "kind=new", 'unknown argument "kind"; possible are window, tenant, limit, each once'),
    ("refused", "match=%7Bjob%3D", "match: expected "),
    ("refused", "match=" + "x" * 4097, "match: expected a selector of at most 4096 bytes"),
    ("refused", "tenant=" + "x" * 5000, "tenant: expected a name of at most"),
    ("refused", "a;b", "the query has a ';'"),
]


def test_what_is_asked_wrongly_is_told(gate):
    def is_told(path, query, said):
        assert error(gate, path, query).startswith(said)

    check_rows({f"{path}?{query[:40]}": (path, query, said) for path, query, said in ASKED_WRONGLY}, is_told, gate)


def test_a_selector_may_have_4096_bytes(gate):
    assert gate.get("/api/v1/refused?match=" + "x" * 4096).status == 200
