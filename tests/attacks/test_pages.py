"""/stats and /metrics for many budgets: slow readers and pipelines. Told: tests/scenes/test_budgets_shown.py."""

import collections
import contextlib
import itertools

import pytest

import exposition
import traffic
import wire
from bounds import OwnTime, within
from busy import Busy
from client import RawConnection
from gate import sanitized
from waiting import eventually
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


@contextlib.contextmanager
def slow_readers(gate, requests=()):
    """A connection for each that asks and reads nothing. Yields what makes one more, for the block's time like these."""
    with contextlib.ExitStack() as readers:
        def ask(request):
            reader = readers.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(gate.address)
            reader.sendall(request)
            return reader

        for each in requests:
            ask(each)
        yield ask


def get(path):
    return f"GET {path} HTTP/1.1\r\nHost: gate\r\n\r\n".encode()


def slowest_write(gate, count):
    """Seconds that the slowest of some requests took, others' share of the cores apart."""
    slowest, body = 0, traffic.body(groups(10))
    with gate.client() as client:
        for _ in range(count):
            own_time = OwnTime(gate)
            assert client.write(body).status == 204
            slowest = max(slowest, own_time.seconds())
    return slowest


def writes_in_time(slowest):
    assert slowest < (5 if sanitized("asan", "tsan", "ubsan") else 0.25), f"{slowest:.2f} s"


# --- what readers cost

def test_slow_readers_share_one_answer_and_hold_nobody_up(crowded):
    with within(crowded, memory_mib=96, cpu=4, seconds=20), slow_readers(crowded, [get("/stats")] * 40):
        slowest = slowest_write(crowded, 50)
        whole = crowded.stats
    writes_in_time(slowest)
    assert whole["limitsTotal"] == len(whole["limits"]) == GROUPS


def test_slow_readers_who_come_one_by_one_hold_a_bounded_number_of_answers(crowded):
    crowded.send(traffic.body(groups(GROUPS, GROUPS)))
    with slow_readers(crowded) as ask:
        with within(crowded, memory_mib=128, seconds=30):
            for n in range(20):
                ask(get("/stats")).recv(1)  # its answer is there
                crowded.send(traffic.body(groups(1, 3 * GROUPS + n)))
            held = crowded.get("/stats")
            assert held.status == 200 and len(held.body) > 100 * GROUPS
        writes_in_time(slowest_write(crowded, 20))
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
    requests = [get(path) * 200 for path in ("/stats", "/metrics", "/stats?limit=1") * 8]
    with within(crowded, memory_mib=96), slow_readers(crowded, requests):
        writes_in_time(slowest_write(crowded, 50))


@pytest.mark.parametrize("path", ["/", "/stats", "/metrics"])
def test_readers_cannot_take_a_core(gate, path):
    answers = []

    def read(client, _):
        answers.append(client.get(path).status)

    with within(gate, cpu=0.3, cores=0.6), Busy(gate.address, 4, read):
        time.sleep(2)
    assert set(answers) == {200}


@pytest.mark.parametrize("path", ["/stats?tenant=team-{}", "/stats?name=limit-{}", "/stats?limit={}"])
def test_questions_that_are_all_different_take_a_quarter_of_a_core(crowded, path):
    """Two at a time, so that a page is always asked for, and no two are the same."""
    for more in range(1, 5):
        assert crowded.send(traffic.body(groups(GROUPS, more * GROUPS))).status == 204
    answers, numbers = [], itertools.count(1)

    def read(client, _):
        answers.append(client.get(path.format(next(numbers))).status)

    with within(crowded, memory_mib=96, cores=0.25, cpu=0.25):  # the rest is what the front desk takes
        with Busy(crowded.address, 2, read):
            time.sleep(3)
            eventually(lambda: len(answers) > 4, "there are answers", 60)
    assert set(answers) == {200}


@pytest.mark.parametrize("path", ["/stats?tenant=team-a", "/stats?name=limit-1"])
def test_a_question_for_one_costs_little_beside_many(crowded, path):
    with within(crowded, cpu=0.5):  # with the figures of all it is two
        for _ in range(40):
            assert crowded.get(path).status == 200


@pytest.mark.parametrize("memory_mib, asked, again", [
    pytest.param(128, lambda n: get(f"/stats?limit={GROUPS - n}"), "/stats?limit=7", id="lists"),
    pytest.param(64, lambda n: get(f"/stats?tenant={'x' * 1000}{n}") * 50, "/stats?tenant=team-a", id="parts")])
def test_a_storm_of_different_questions_is_bounded_and_leaves_the_others_alone(crowded, memory_mib, asked, again):
    """A hundred at a time: all but four are told to come again, at the price of a short answer."""
    with within(crowded, memory_mib=memory_mib), slow_readers(crowded, map(asked, range(100))):
        assert crowded.get("/stats").status == crowded.get("/metrics").status == crowded.get("/").status == 200
        writes_in_time(slowest_write(crowded, 50))
    eventually(lambda: crowded.get(again).status == 200, "they are answered again")


@pytest.mark.one_thread
def test_groups_with_long_names_in_all_limits_are_bounded(limited, upstream):
    """The page that is largest: each name takes 5 bytes for one that is no UTF-8."""
    gate = limited("limits:\n" + "".join(f"  - {{name: l{n}, match: '{{l=\"{n}\"}}', each: [g]}}\n" for n in range(12)))
    for n in range(12):
        assert gate.send(wire.pack(b"".join(
            wire.series([("__name__", b"m"), ("g", b"\xff" * 900 + b"%d" % group), ("l", b"%d" % n)],
                        wire.field(wire.SAMPLES, wire.sample(1.0, 1))) for group in range(100)))).status == 204
    with within(gate, memory_mib=128, cpu=2):
        samples = exposition.samples_of(gate.metrics, "seriesgate_limit_series_current")
    by_limit = collections.Counter(dict(labels)["limit"] for labels in samples)
    assert by_limit == {f"l{n}": 2 * (1000 // 12) for n in range(12)}
