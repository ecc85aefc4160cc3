"""warmStart: a new gate admits the series that a store has."""

import json
import re

import pytest

import wire
import wire_v2
from faked_clock import FakedClock
from kept_state import directory, kept  # noqa: F401 (a fixture)
from query_store import ENDED, OLD, YOUNG, QueryStore, json_answer, refusal
from traffic import numbered, offer
from upstream import Answer
from waiting import eventually
from world import threading, time

TEN = "maxHourlySeries: 10\n"


@pytest.fixture
def store():
    with QueryStore() as one:
        yield one


@pytest.fixture
def warm(limited, store):
    """warm(text, *flags, until=how it has to end, if that is waited for, **keys of warmStart)"""
    def start(text, *flags, until="complete", **keys):
        keys = {"url": f'"{store.root}"', **keys}
        inner = ", ".join(f"{name}: {value}" for name, value in keys.items())
        gate = limited(f"{text}warmStart: {{{inner}}}\n", *flags)
        if until:
            ended(gate, until)
        return gate

    return start


def progress(gate):
    return gate.stats["warmStart"]


def ended(gate, state="complete"):
    eventually(lambda: progress(gate)["state"] != "reading", "the warm start ends", 400)
    assert progress(gate)["state"] == state


def counts(gate):
    return [progress(gate)[name] for name in ("series", "youngerSeries", "seriesWithoutRoom", "metricNamesInPart")]


def test_old_series_of_the_store_pass_above_the_limit_and_new_ones_are_refused(warm, store, upstream):
    store.add(numbered(15), OLD)
    gate = warm(TEN)
    assert counts(gate) == [15, 0, 0, 0]
    assert gate.current() == 15
    assert len(offer(gate, upstream, numbered(20))) == 15
    line, = gate.said("warm start is complete")
    assert (line["series"], line["limits_exceeded"]) == ("15", "1")


def test_a_rule_is_tried_on_what_the_warm_start_has_read(warm, store, upstream):
    def of_shop(path):
        return {"__name__": "requests_total", "job": "shop", "path": path}

    healthy = [of_shop(f"/p{i}") for i in range(300)]
    store.add(healthy, OLD)
    gate = warm("maxHourlySeries: 100000\n")
    for scrape in range(4):
        offer(gate, upstream, healthy + [of_shop(f"/user/{7919 * (400 * scrape + i):08}") for i in range(400)])
        time.sleep(15)
    found, = json.loads(gate.get("/api/v1/findings").body)["data"]
    rule, = re.findall("regex: '(.*)'", found["remedy"]["relabel"])
    assert rule == "requests_total;shop;/user/[0-9]{8}" and found["remedy"]["remembered"] == 300


def test_an_explosion_in_the_store_gets_only_the_room_that_old_series_leave(warm, store, upstream):
    store.add(numbered(50, name="boom"), YOUNG)  # listed before the old ones
    store.add(numbered(8, name="steady"), OLD)
    store.add(numbered(30, name="gone"), ENDED)
    gate = warm(TEN)
    assert counts(gate) == [8, 2, 48, 0]
    assert gate.stats["windows"]["hourly"]["refusedSamples"] == 0
    assert len(offer(gate, upstream, numbered(8, name="steady"))) == 8
    assert len(offer(gate, upstream, numbered(50, name="boom"))) == 2
    assert offer(gate, upstream, numbered(30, name="gone")) == []


def test_until_it_ends_everything_passes_and_nothing_is_counted(warm, store, upstream):
    store.add(numbered(5), OLD)
    held = threading.Event()
    store.scripted.append(Answer(200, hold=held))
    gate = warm(TEN, until=None)
    for _ in range(2):
        assert len(offer(gate, upstream, numbered(100, name="new"))) == 100
        time.sleep(20)
    ready = gate.get("/-/ready")
    assert (ready.status, ready.body.decode().startswith("OK; warm start: 0 series, 0 of 0 metric names")) == (200, True)
    assert b"A warm start reads the store, 0 of 0 metric names so far." in gate.get("/").body
    assert gate.current() == 0
    assert progress(gate)["state"] == "reading"
    held.set()  # an empty answer: it asks again
    ended(gate, "failed")
    assert len(offer(gate, upstream, numbered(100, name="new"))) == 10
    assert gate.get("/-/ready").body == b"OK\n"


def test_a_store_that_refuses_much_is_asked_for_less(warm, store, upstream):
    store.series_max = 7
    for name in "abcdefghij":
        store.add(numbered(2, name=name), OLD)
    store.add(numbered(7, name="later"), YOUNG)
    store.add([labels for labels in numbered(8, name="wave")], [])
    store.series[-8:] = [(labels, range(5 * n * 60, 5 * n * 60 + 60, 10), None)
                         for n, labels in enumerate(numbered(8, name="wave"))]
    gate = warm("maxHourlySeries: 1000\n")
    assert counts(gate) == [20, 15, 0, 0]
    assert {seconds for _, seconds, *_ in store.queries} > {3600, 900}  # "wave" needs shorter times


def test_what_the_store_never_answers_is_said(warm, store, upstream):
    store.series_max = 7
    store.add(numbered(8, name="huge"), OLD)
    store.add(numbered(5, name="small"), OLD)
    gate = warm(TEN, until="incomplete")
    assert counts(gate) == [5, 0, 0, 1]
    line, = gate.said("warm start is incomplete: limits apply, and series that were not read are new")
    assert line["err"].startswith('"huge": 422: 8 series are more than 7')
    assert len(offer(gate, upstream, numbered(8, name="huge"))) == 5


@pytest.mark.parametrize("answer", [Answer(404, body=b"not here"), Answer(401), Answer(301),
                                    refusal("parse error", 400), Answer(200, body=b"<html>")])
def test_a_store_that_has_no_query_api_ends_it_at_once(warm, store, upstream, answer):
    store.scripted.append(answer)
    before = time.monotonic()
    gate = warm(TEN, until="failed")
    assert time.monotonic() - before < 1
    assert len(offer(gate, upstream, numbered(20))) == 10


@pytest.mark.parametrize("answer", [Answer(503, body=b"starting"), Answer(429), Answer(500), Answer(502),
                                    Answer(200, cut=40)])
def test_a_store_that_is_busy_is_asked_again(warm, store, upstream, answer):
    store.add(numbered(15), OLD)
    store.scripted += [answer, answer, answer]
    gate = warm(TEN)
    assert counts(gate) == [15, 0, 0, 0]


def test_a_store_that_is_away_is_waited_for_as_long_as_configured(warm, store, upstream):
    store.stop()
    before = time.monotonic()
    gate = warm(TEN, timeout="1m", until=None)
    assert len(offer(gate, upstream, numbered(20))) == 20
    ended(gate, "incomplete")
    assert 60 <= time.monotonic() - before < 62
    assert len(offer(gate, upstream, numbered(20))) == 10


def test_a_store_that_never_answers_is_waited_for_as_long_as_configured(warm, store, upstream):
    store.scripted.append(Answer(200, hold=threading.Event()))
    before = time.monotonic()
    gate = warm(TEN, timeout="30s", until="incomplete")
    assert 30 <= time.monotonic() - before < 32


def test_a_part_of_an_answer_counts_and_the_rest_is_said(warm, store, upstream):
    store.add(numbered(5), OLD)
    store.scripted.append(json_answer({"status": "success", "data": ["m"], "warnings": ["one of two stores is away"]}))
    gate = warm(TEN, until="incomplete")
    assert counts(gate) == [5, 0, 0, 0]
    assert "one of two stores is away" in gate.log


def test_a_gate_that_knows_series_needs_no_warm_start_unless_it_is_asked_for(warm, store, upstream, directory):
    store.add(numbered(15), OLD)
    text = kept(directory, TEN)
    gate = warm(text)
    gate.stop()
    asked = len(store.queries)
    gate = warm(text, until="skipped")
    assert gate.said("no warm start: the gate knows series from before")
    assert len(offer(gate, upstream, numbered(20))) == 15
    gate.stop()
    assert len(store.queries) == asked
    store.add(numbered(3, start=15), OLD)
    gate = warm(text, f"--warm-from={store.root}/")
    assert counts(gate)[:2] == [3, 0]
    assert len(offer(gate, upstream, numbered(20))) == 18


def test_each_tenant_is_asked_for(warm, store, upstream):
    for tenant in ("a", "b"):
        store.add(numbered(6), OLD, tenant)
    gate = warm("tenants: {default: {maxHourlySeries: 5}}\n", tenants="[a, b]")
    assert counts(gate) == [12, 0, 0, 0]
    for tenant in ("a", "b"):
        assert len(offer(gate, upstream, numbered(9), tenant)) == 6
    assert len(offer(gate, upstream, numbered(9), "c")) == 5


def test_the_tenant_may_stand_in_the_url(warm, store, upstream):
    store.add(numbered(6), OLD)
    gate = warm("tenants: {default: {maxHourlySeries: 5}}\n", tenants='["7"]',
                url=f'"{store.root}/select/{{tenant}}/prometheus"')
    assert {request.target.split("?")[0] for request in store.requests} == {
        f"/select/7/prometheus/api/v1/{path}" for path in ("label/__name__/values", "query")}
    assert len(offer(gate, upstream, numbered(9), "7")) == 6


def test_selectors_say_which_series(warm, store, upstream):
    store.add(numbered(5, job="a"), OLD)
    store.add(numbered(5, start=5, job="b"), OLD)
    store.add(numbered(3, name="up"), OLD)
    gate = warm(TEN, match="['{job=\"a\"}', up]")
    assert counts(gate) == [8, 0, 0, 0]
    assert ('__name__="up",__name__="up"', 3600, 0, None) in store.queries


def test_fingerprints_are_those_of_senders(warm, store, upstream):
    odd = [{"__name__": "ünï.cöde", "a.b": "x"}, {"__name__": "m", "a": 'q"\\\n\t\x7f', "z": "ß"}, {"__name__": "m", "B": "1", "b": "2"}]
    store.add(odd, OLD)
    gate = warm("maxHourlySeries: 1\n")
    assert len(offer(gate, upstream, [*odd, {"__name__": "m", "a": "", "c": "9"}])) == 3
    upstream.clear()
    assert wire_v2.write(gate, wire.pack(wire_v2.request(*odd))).status == 204
    assert len(wire_v2.series_of(upstream.requests[0].raw)) == 3


def test_replicas_that_count_as_one_are_entered_as_one(warm, store, upstream):
    store.add(numbered(8, prometheus_replica="a"), OLD)
    gate = warm("maxHourlySeries: 5\nignoreLabels: [prometheus_replica]\n")
    assert len(offer(gate, upstream, numbered(9, prometheus_replica="b"))) == 8


def test_a_warm_series_is_active(warm, store, upstream):
    store.add(numbered(15), OLD)
    gate = warm("seriesSet: exact\nmaxActiveSeries: 10\n")
    assert gate.current("active") == 15
    assert len(offer(gate, upstream, numbered(20))) == 15


@pytest.mark.parametrize("sent, share, level", [(15, "1", "info"), (3, "0.2", "warn")])
def test_after_five_minutes_it_says_whether_senders_have_these_series(warm, store, upstream, sent, share, level):
    store.add(numbered(15), OLD)
    gate = warm("maxHourlySeries: 100\n")
    assert progress(gate)["metRatio"] is None
    offer(gate, upstream, numbered(sent))
    time.sleep(301)
    line, = [each for each in gate.events if "met_ratio" in each]
    assert (line["met_ratio"], line["level"]) == (share, level)
    assert progress(gate)["metRatio"] == float(share)
    assert gate.metric("seriesgate_warm_start_met_ratio") == float(share)


def test_a_drain_does_not_wait_for_it(warm, store, upstream):
    store.scripted.append(Answer(200, hold=threading.Event()))
    gate = warm(TEN, until=None)
    offer(gate, upstream, numbered(20))
    gate.stop()


def test_many_series_and_long_names_go_through_in_pieces(warm, store, upstream):
    names = [f"metric_{n}_{'x' * 200}" for n in range(150)]
    for name in names:
        store.add(numbered(20, name=name), OLD)
    gate = warm("maxHourlySeries: 10\n")
    assert counts(gate) == [3000, 0, 0, 0]
    assert len(store.queries) < 20
    assert max(len(matchers) for matchers, *_ in store.queries) < 9000


def test_a_gate_that_ends_while_it_reads_begins_anew(warm, store, upstream, directory):
    store.add(numbered(8, name="a"), OLD)
    store.add(numbered(8, name="b"), OLD)
    text = kept(directory, TEN, "100ms")
    for end in ("stop", "crash"):
        store.respond_after = 10
        gate = warm(text, until=None, match='["{__name__=\\"a\\"}", "{__name__=\\"b\\"}"]')
        eventually(lambda: progress(gate)["series"] == 8, "half of it", 60)
        assert progress(gate)["state"] == "reading"
        time.sleep(1)
        getattr(gate, end)()
        store.respond_after = 0
    gate = warm(text)
    assert counts(gate)[0] == 16
    assert len(offer(gate, upstream, numbered(8, name="b"))) == 8


def test_an_hour_that_ends_meanwhile_takes_no_old_series_its_room(limited, store, upstream, tmp_path):
    clock = FakedClock(tmp_path, "2026-03-10 12:59:50")
    store.add(numbered(8, name="a"), OLD)
    store.respond_after = 30
    gate = limited(f"{TEN}incumbentGrace: 0s\nwarmStart: {{url: '{store.root}', match: [a, b]}}\n",
                   environment=clock.environment)
    eventually(lambda: progress(gate)["series"] == 8, "half of it", 100)
    clock.set("2026-03-10 13:00:10")
    time.sleep(1)
    assert len(offer(gate, upstream, numbered(8, name="a") + numbered(9, name="new"))) == 17
    assert gate.stats["windows"]["hourly"]["start"] == "2026-03-10T13:00:00Z"
    assert gate.current() == 8
    ended(gate)
    assert len(offer(gate, upstream, numbered(9, name="new"))) == 2
    assert len(offer(gate, upstream, numbered(8, name="a"))) == 8


def test_a_stale_marker_meanwhile_frees_the_slot_of_a_warm_series(warm, store, upstream):
    store.add(numbered(10, name="a"), OLD)
    store.respond_after = 20
    gate = warm("seriesSet: exact\nmaxActiveSeries: 10\n", match="[a, b]", until=None)
    eventually(lambda: progress(gate)["series"] == 10, "half of it", 100)
    stale = wire.field(wire.SAMPLES, wire.sample(wire.STALE, 1_700_000_000_000))
    gate.send(wire.pack(b"".join(wire.series(labels, stale) for labels in numbered(3, name="a"))))
    assert gate.current("active") == 7


def test_a_store_that_fails_at_a_question_is_asked_for_less(warm, store, upstream):
    for name in "abcd":
        store.add(numbered(2, name=name), OLD)
    store.breaks_above = 2
    gate = warm(TEN)
    assert counts(gate) == [8, 0, 0, 0]


@pytest.mark.parametrize("match", [None, "[first, middle, other]"])
@pytest.mark.parametrize("failing", ["first", "middle", "other"])
def test_a_name_that_the_store_always_fails_at_costs_only_its_own_series(warm, store, upstream, failing, match):
    for name in ("first", "middle", "other"):
        store.add(numbered(3, name=name), OLD)
    store.fails_at = failing
    gate = warm("maxHourlySeries: 20\n", until="incomplete", **({"match": match} if match else {}))
    assert counts(gate) == [6, 0, 0, 1]
    line, = gate.said("warm start is incomplete: limits apply, and series that were not read are new")
    assert line["err"].startswith(f'"{failing}": ')


def test_a_store_without_series_is_told_of(warm, store, upstream):
    gate = warm(TEN, until="incomplete")
    line, = gate.said("warm start is incomplete: limits apply, and series that were not read are new")
    assert line["err"] == "the store has none of these series: is it asked for the right tenant?"


@pytest.mark.parametrize("answer", [
    lambda secret: json_answer({"status": "success", "data": [], "warnings": [f"no {secret}\n"]}),
    lambda secret: refusal(f"no {secret}\n", 401),
    lambda secret: refusal("x" * 990 + secret, 401)])
def test_the_log_has_no_secret_of_the_gate(warm, store, upstream, answer):
    secret = "s3cret-of-the-gate-in-a-header"
    store.scripted.append(answer(secret))
    gate = warm(TEN, until=None, headers=f"{{X-Token: {secret}}}")
    eventually(lambda: progress(gate)["state"] != "reading", "the warm start ends", 100)
    assert store.requests[0].get("X-Token") == secret
    assert "s3cret" not in gate.log


@pytest.mark.parametrize("body", [b"x" * 5_000_000, b'{"data":{"result":[{"metric":{' + b'"":"",' * 1_000_000],
                         ids=["no JSON", "a series without end"])
def test_a_body_that_is_no_answer_is_not_read_to_its_end(warm, store, upstream, body):
    store.scripted.append(Answer(200, body=body))
    gate = warm(TEN, until="failed")
    assert len(offer(gate, upstream, numbered(20))) == 10
