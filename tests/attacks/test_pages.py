"""/stats and /metrics for many budgets: slow readers, pipelines, and names that are made to be mistaken."""

import collections
import itertools
import json

import pytest

import exposition
import servers
import traffic
import wire
from bounds import within
from client import RawConnection
from gate import sanitized
from traffic import figures, limits, offer, tenants
from waiting import eventually, in_time
from world import socket, threading, time

GROUPS = 2_000 if sanitized("asan", "tsan", "ubsan") else 10_000


def groups(count, start=0):
    return [{"__name__": "m", "g": f"group-{n:06}"} for n in range(start, start + count)]


@pytest.fixture
def crowded(limited, upstream):
    """A gate with one worker and GROUPS budgets."""
    gate = limited("limits: [{name: per-group, each: [g], maxGroups: 100000, maxHourlySeries: 100}]\n"
                   "server: {threads: 1}\n")
    assert gate.send(traffic.body(groups(GROUPS))).status == 204
    return gate


def slow_reader(gate, request):
    """A connection that asks and reads nothing."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(gate.address)
    reader.sendall(request)
    return reader


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: gate\r\n\r\n".encode()


def slowest_write(gate, count):
    """Seconds that the slowest of some requests took."""
    slowest, body = 0, traffic.body(groups(10))
    with gate.client() as client:
        for _ in range(count):
            began = time.monotonic()
            assert client.write(body).status == 204
            slowest = max(slowest, time.monotonic() - began)
    return slowest


def writes_in_time(slowest):
    in_time(slowest < (5 if sanitized("asan", "tsan", "ubsan") else 0.25), f"{slowest:.2f} s")


# --- what readers cost

def test_slow_readers_share_one_answer_and_hold_nobody_up(crowded):
    with within(crowded, memory_mib=96, cpu=4, seconds=20):
        readers = [slow_reader(crowded, get("/stats")) for _ in range(40)]
        slowest = slowest_write(crowded, 50)
        whole = crowded.stats
    writes_in_time(slowest)
    assert whole["limitsTotal"] == len(whole["limits"]) == GROUPS
    for reader in readers:
        reader.close()


def test_slow_readers_who_come_one_by_one_hold_a_bounded_number_of_answers(crowded):
    crowded.send(traffic.body(groups(GROUPS, GROUPS)))
    with within(crowded, memory_mib=128, seconds=30):
        readers = []
        for n in range(20):
            readers.append(slow_reader(crowded, get("/stats")))
            readers[-1].recv(1)  # its answer is there
            crowded.send(traffic.body(groups(1, 3 * GROUPS + n)))
        held = crowded.get("/stats")
        assert held.status == 200 and len(held.body) > 100 * GROUPS
    writes_in_time(slowest_write(crowded, 20))
    for reader in readers:
        reader.close()
    eventually(lambda: crowded.stats["limitsTotal"] == 2 * GROUPS + 20, "what is told is new again")


def test_a_pipeline_of_heads_makes_no_answers(crowded):
    heads = 300 if sanitized("asan", "tsan", "ubsan") else 3_000
    with within(crowded, memory_mib=32, cpu=1, seconds=10):
        for path in ("/stats", "/metrics"):
            with RawConnection(crowded.address) as raw:
                threading.Thread(target=raw.send_what_it_takes, daemon=True,
                                 args=(f"HEAD {path} HTTP/1.1\r\nHost: gate\r\n\r\n".encode() * heads,)).start()
                for _ in range(heads):
                    assert raw.reply("HEAD").status == 200


def test_pipelines_that_nobody_reads_hold_one_answer_each_at_most(crowded):
    with within(crowded, memory_mib=96):
        readers = [slow_reader(crowded, get(path) * 200) for path in ("/stats", "/metrics", "/stats?limit=1") * 8]
        writes_in_time(slowest_write(crowded, 50))
    for reader in readers:
        reader.close()


def test_many_different_lists_at_once_are_bounded_and_leave_the_others_alone(crowded):
    with within(crowded, memory_mib=128):
        readers = [slow_reader(crowded, get(f"/stats?limit={GROUPS - n}")) for n in range(100)]
        assert crowded.get("/metrics").status == 200
        assert crowded.get("/stats").status == 200
    for reader in readers:
        reader.close()
    eventually(lambda: crowded.get("/stats?limit=7").status == 200, "lists again")


@pytest.mark.parametrize("path", ["/", "/stats", "/metrics"])
def test_readers_cannot_take_a_core(gate, path):
    stop, answers = threading.Event(), []

    def read():
        with gate.client() as client:
            while not stop.is_set():
                answers.append(client.get(path).status)

    readers = [threading.Thread(target=read) for _ in range(4)]
    with within(gate, cpu=1.5):
        for reader in readers:
            reader.start()
        stop.wait(2)
        stop.set()
        for reader in readers:
            reader.join()
    assert set(answers) == {200}


@pytest.mark.parametrize("path", ["/stats?tenant=team-{}", "/stats?name=limit-{}", "/stats?limit={}"])
def test_questions_that_are_all_different_take_a_quarter_of_a_core(crowded, path):
    """Four at a time, so that a page is always asked for, and no two are the same."""
    for more in range(1, 5):
        assert crowded.send(traffic.body(groups(GROUPS, more * GROUPS))).status == 204
    stop, answers, numbers = threading.Event(), [], itertools.count(1)

    def read():
        with crowded.client() as client:
            while not stop.is_set():
                answers.append(client.get(path.format(next(numbers))).status)

    readers = [threading.Thread(target=read) for _ in range(4)]
    with within(crowded, memory_mib=96, cores=0.25, cpu=0.25):  # the rest is what the front desk takes
        for reader in readers:
            reader.start()
        stop.wait(3)
        stop.set()
        for reader in readers:
            reader.join()
    assert set(answers) == {200}
    assert len(answers) > 4


def test_a_storm_of_different_questions_is_bounded_and_leaves_the_others_alone(crowded):
    """A hundred at a time: all but four are told to come again, at the price of a short answer."""
    tenant = "x" * 1000
    with within(crowded, memory_mib=64):
        readers = [slow_reader(crowded, get(f"/stats?tenant={tenant}{n}") * 50) for n in range(100)]
        assert crowded.get("/stats").status == crowded.get("/metrics").status == crowded.get("/").status == 200
        writes_in_time(slowest_write(crowded, 50))
    for reader in readers:
        reader.close()
    eventually(lambda: crowded.get("/stats?tenant=team-a").status == 200, "parts again")


def test_groups_with_long_names_in_all_limits_are_bounded(limited, upstream):
    """The page that is largest: each name takes 5 bytes for one that is no UTF-8."""
    gate = limited("limits:\n" + "".join(
        f"  - {{name: l{n}, match: '{{l=\"{n}\"}}', each: [g]}}\n" for n in range(12)))
    for n in range(12):
        assert gate.send(wire.pack(b"".join(
            wire.series([("__name__", b"m"), ("g", b"\xff" * 900 + b"%d" % group), ("l", b"%d" % n)],
                        wire.field(wire.SAMPLES, wire.sample(1.0, 1))) for group in range(100)))).status == 204
    with within(gate, memory_mib=128, cpu=2):
        samples = exposition.samples_of(gate.metrics, "seriesgate_limit_series_current")
    by_limit = collections.Counter(dict(labels)["limit"] for labels in samples)
    assert by_limit == {f"l{n}": 2 * (1000 // 12) for n in range(12)}


# --- what they are told

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


def test_a_limit_cuts_both_lists_to_those_with_the_most_demand(limited, upstream):
    gate = limited("limits: [{name: per-group, each: [g]}]\n")
    for n in range(1, 6):
        offer(gate, upstream, [{"__name__": "m", "g": f"g{n}", "i": str(i)} for i in range(n)], f"team-{n}")

    def told(query):
        stats = json.loads(gate.get("/stats" + query).body)
        assert (stats["tenantsTotal"], stats["limitsTotal"]) == (5, 5)
        return [entry["tenant"] for entry in stats["tenants"]], [entry["group"]["g"] for entry in stats["limits"]]

    everything = [f"team-{n}" for n in (5, 4, 3, 2, 1)], [f"g{n}" for n in (5, 4, 3, 2, 1)]
    assert told("") == told("?limit=5") == told("?limit=99999999") == everything
    assert told("?limit=2") == told("?&lim%69t=2") == (everything[0][:2], everything[1][:2])
    assert told("?limit=0") == ([], [])


# --- names

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


def test_tenants_that_look_alike_are_two(limited, upstream):
    gate = limited("maxHourlySeries: 0\n")
    names = [name for name in TWINS if b"\x01" not in name]
    for name in names:
        assert gate.send(wire.pack(wire.sampled("m")), [("X-Scope-OrgID", name.decode("latin-1"))]).status == 204
    assert is_shown_once(gate)[0] == len(names)


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


# --- who is rejected

def test_who_is_turned_away_is_counted_and_told_now_and_then(gate):
    def rejected(reason):
        return gate.metric("seriesgate_requests_rejected_total", reason=reason)

    for _ in range(5):
        gate.send(b"\xff no snappy", [("X-Scope-OrgID", "team-\x9b")])
        gate.send(b"", [("Content-Type", "text/plain")])
        gate.get("/nowhere")
    assert [rejected(reason) for reason in ("malformed", "unsupported_media", "unknown_path")] == [5, 5, 5]
    events = eventually(lambda: len(found := gate.said("requests rejected")) >= 3 and found, "lines about it")
    assert [event["reason"] for event in events] == ["malformed", "unsupported_media", "unknown_path"]
    assert (events[0]["sender"], events[0]["tenant"]) == ("127.0.0.1", r"team-\x9b")
