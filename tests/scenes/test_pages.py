"""/stats and /metrics for many budgets: what is told, and names that would be mistaken. What it costs: tests/attacks."""

import json

import pytest

import servers
import traffic
import wire
from traffic import figures, limits, offer, tenants
from world import threading


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


def twins_in(names):
    return b"".join(wire.series([("__name__", b"m"), *labels], wire.field(wire.SAMPLES, wire.sample(1.0, 1_700_000_000_000)))
                    for labels in names)


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
    assert gate.send(wire.pack(twins_in([*labels, *long]))).status == 204
    assert gate.send(wire.pack(wire.series([("a", b"1")], wire.field(wire.SAMPLES, wire.sample(1.0, 1))))).status == 204
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
