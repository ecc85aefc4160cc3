"""One request, as hostile as it can be made, takes memory and work within its bounds and gives them back."""

import json
import statistics

import pytest

import giants
import recorded
import wire
import wire_v2
from bounds import MIB, memory, within
from busy import Busy
from client import WRITE
from gate import sanitized
from giants import scaled
from upstream import Answer
from waiting import eventually
from world import ThreadPoolExecutor, threading, time
from zstd_frame import HEADERS, sized

LIMITS = 64
V2 = wire_v2.HEADERS


def limits(keys):
    """As many limits as a configuration may have, with these keys; {} is the limit's number."""
    rows = (f"  - {{name: n{i}, maxHourlySeries: 1000000, {keys.replace('{}', str(i))}}}\n" for i in range(LIMITS))
    return "limits:\n" + "".join(rows)


def assert_given_back(gate, before, mib=48):
    if not sanitized("asan", "tsan", "ubsan"):
        kept = (memory(gate) - before) / MIB
        assert kept < mib, f"{kept:.0f} MiB kept"


def send(gate, body, headers=(), status=204, kept_mib=48, **bounds):
    """One request within these bounds; what it took is given back but for so much."""
    before = memory(gate)
    with within(gate, **bounds):
        reply = gate.send(body, headers)
    assert reply.status == status
    assert_given_back(gate, before, kept_mib)
    return reply


def test_a_long_tenant_is_not_copied_for_every_series_and_limit(limited, upstream):
    """433 KB of this ended the process: 64 limits x 20,000 series x 60 KiB."""
    gate = limited(limits("each: [a], perTenant: true"))
    reply = send(gate, wire.pack(giants.tiny_series(20_000)), [("Content-Encoding", "snappy"), ("X-Scope-OrgID", "t" * 60_000)], 400,
                 memory_mib=64, cpu=2, seconds=10)
    assert reply.first_line == "tenant name of more than 1024 bytes: 60000"
    assert gate.current() == 0
    assert gate.metric("seriesgate_requests_rejected_total", reason="too_large") == 1
    assert gate.send(wire.pack(wire.sampled("up")), [("X-Scope-OrgID", "t" * 1024)]).status == 204
    assert [len(request.get("X-Scope-OrgID")) for request in upstream.requests] == [1024]


def test_long_values_are_not_copied_for_every_series_and_limit(limited):
    """98 KB of this took 2 GB."""
    gate = limited(limits("each: [l0]"))
    body = wire.pack(giants.long_symbol_series(scaled(4000)))
    assert len(body) < 200_000
    send(gate, body, V2, memory_mib=96, cpu=2, seconds=10)
    assert gate.current() == scaled(4000)
    figures = gate.stats["limits"]
    assert [each["group"] for each in figures] == [{"l0": "__overflow__"}] * LIMITS
    assert {each["hourly"]["currentSeries"] for each in figures} == {scaled(4000)}


def test_many_parts_of_a_key_are_not_copied_either(limited):
    """Sixteen labels whose values stay below the bound of a key one by one, and not together."""
    gate = limited(limits(f"each: [{', '.join(f'l{i}' for i in range(16))}]"))
    body = wire.pack(giants.long_symbol_series(scaled(5000), labels=16, text_bytes=1000))
    with within(gate, memory_mib=96, cpu=2, seconds=10):
        assert gate.send(body, V2).status == 204
    assert gate.stats["limits"][0]["group"] == {f"l{i}": "__overflow__" for i in range(16)}


def test_a_million_tiny_series(limited):
    gate = limited("maxHourlySeries: 1000\nlimits: [{name: a, each: [a], maxGroups: 10, maxHourlySeries: 10}]\n")
    count = scaled(1 << 20)
    send(gate, wire.pack(giants.tiny_series(count)), kept_mib=96, memory_mib=320, cpu=4, seconds=30)  # refusals are remembered
    assert gate.stats["samples"]["received"] == count
    assert gate.current() == 20  # ten groups of one series, and ten series in the overflow group


def test_a_million_empty_entries(limited, upstream):
    gate = limited("maxHourlySeries: 1\n")
    body = wire.pack(giants.empty_entries(1 << 20))
    send(gate, body, kept_mib=64, memory_mib=64, cpu=1, seconds=10)
    assert upstream.bodies == [body]
    assert gate.current() == 0


def test_four_million_symbols(limited):
    gate = limited("maxHourlySeries: 10\nupstream: {protocol: v1}\n")
    body = wire.pack(giants.symbols(1 << 22))
    before = memory(gate)
    with within(gate, memory_mib=400, cpu=2, seconds=10):
        assert gate.send(body, V2).status in (204, 400)
    assert_given_back(gate, before)


def test_a_bomb_of_zstd_that_decodes_to_more_is_refused_before_it_is_decoded(limited):
    gate = limited("")
    reply = send(gate, sized(bytes(96 * MIB)), HEADERS, 400, memory_mib=16, cpu=0.5, seconds=10)
    assert reply.first_line.startswith("decompresses to more than 512 times its size")


def test_nobody_waits_for_giants(limited):
    """Two KB that take long to read, from eight connections: others are served between the steps of one giant."""
    gate = limited("server: {threads: 2}\n")
    giant, small = sized(giants.unordered(15)), wire.pack(wire.sampled("up"))
    assert len(giant) < 3000

    def seconds(client, body, headers=recorded.HEADERS):
        began = time.monotonic()
        assert client.request("POST", WRITE, body, headers).status == 204
        return time.monotonic() - began

    giants_take, others_take = [], []  # in the same seconds, on the same busy machine
    with Busy(gate.address, 8, lambda client, _: giants_take.append(seconds(client, giant, HEADERS))):
        time.sleep(1)
        with Busy(gate.address, 4, lambda client, _: others_take.append(seconds(client, small))):
            eventually(lambda: len(others_take) >= 200 and len(giants_take) >= 16, "enough of both", 90, every=0.1)
    assert sorted(others_take)[len(others_take) * 9 // 10] < statistics.median(giants_take) / 4


def test_a_bomb_of_zstd_is_given_back_while_the_store_takes_its_time(limited, upstream):
    """3 KB of this are 15 MB, of which half is refused: what goes on is small again, and no room for more is kept."""
    gate = limited("upstream: {timeout: 5m}\nlimits: [{name: a, match: '{a=~\".*[13579]\"}', maxHourlySeries: 1}]\n")
    entries = (wire.series({"a": str(i), "b": "x" * 60_000}, giants.POINT) for i in range(scaled(256)))
    body = sized(b"".join(entries))
    assert len(body) < 10_000
    upstream.default = Answer(hold=threading.Event())
    before = memory(gate)
    requests = 8
    with within(gate, memory_mib=96, cpu=4, seconds=30), ThreadPoolExecutor(requests) as senders:
        replies = []
        for i in range(requests):
            replies.append(senders.submit(gate.send, body, HEADERS))
            eventually(lambda: len(upstream.requests) > i, "it has come to the store", 20)
        assert_given_back(gate, before, 64)
        upstream.default.hold.set()
        assert [reply.result().status for reply in replies] == [204] * requests
    assert gate.metric("seriesgate_inflight_bytes") == 0


# --- what a request asks of selectors, and that what senders really send passes

TOO_MUCH = "more work for the limits than one request may make: fewer series, labels or bytes, please"
#: Keys of all limits, series that would take seconds with them, and what it may take to find that out.
TOO_DEAR = {
    "long values that differ": (  # 16 s on one worker
        """match: '{l0=~"(x+y?)+[a-f0-9]*{}"}'""", lambda: giants.unlike_long_series(scaled(1600), 60_000),
        {"cpu": 1, "seconds": 5}),
    "a million series": (
        """match: '{a!="",b!="{}"}', each: [a], maxGroups: 10""", lambda: giants.tiny_series(1 << 20),
        {"memory_mib": 320, "cpu": 2, "seconds": 20}),
    "UTF-8 that is repaired": (
        """match: '{l0=~"(.+y?)+{}"}'""", lambda: b"".join(wire.series({"l0": b"\xff" * 60_000 + str(i).encode()}, giants.POINT)
                                                         for i in range(scaled(400))),
        {"memory_mib": 256, "cpu": 1, "seconds": 5}),
}


@pytest.mark.parametrize("keys, series, bounds", TOO_DEAR.values(), ids=TOO_DEAR)
def test_what_asks_too_much_of_selectors_is_refused_for_little(limited, keys, series, bounds):
    gate = limited(limits(keys))
    body = wire.pack(series())
    with within(gate, **bounds):
        reply = gate.send(body)
        assert (reply.status, reply.first_line) == (400, TOO_MUCH)
        assert gate.current() == 0
        assert gate.stats["samples"]["received"] == 0
        assert gate.metric("seriesgate_requests_rejected_total", reason="too_large") == 1
    with within(gate, cpu=0.2):
        assert gate.send(wire.pack(wire.sampled("up"))).status == 204


def test_regular_expressions_over_one_long_symbol_cost_one_match_each(limited):
    gate = limited(limits("""match: '{l0=~"(x+y?)+{}"}'"""))
    body = wire.pack(giants.long_symbol_series(scaled(4000)))
    with within(gate, cpu=0.5, seconds=5):
        assert gate.send(body, V2).status == 204
    assert gate.current() == scaled(4000)


def test_many_labels_times_many_matchers(limited):
    """The product of series, labels, and matchers: each label is looked at once."""
    others = ",".join(f'z{i}!="y"' for i in range(20))
    gate = limited(limits(f"""match: '{{b!="",{others},y{{}}!="y"}}'"""))
    labels = {f"a{i:04}": "v" for i in range(1000)}
    body = wire_v2.request(*({**labels, "b": str(i)} for i in range(scaled(1600))))
    with within(gate, cpu=1, seconds=10):
        assert gate.send(wire.pack(body), V2).status == 204
    assert gate.current() == scaled(1600)


def test_real_traffic_passes(limited):
    """10,000 new series, 64 regular expressions that match them all, groups of their own, values of 60 bytes."""
    gate = limited(limits("""match: '{a=~"[a-z]+-[0-9a-z]+-{}?.*[0-9a-f]"}', each: [a]"""))
    pad = "pod-" + "x" * 47 + "-"
    count = scaled(10_000)
    body = wire.pack(b"".join(wire.sampled("up", a=f"{pad}{i:08x}", job="shop", instance="127.0.0.1:9100")
                              for i in range(count)))
    with within(gate, cpu=4, seconds=20):
        assert gate.send(body).status == 204
    # 640,000 budgets: beside other tests a page of them may take longer than the gate lets anybody wait.
    page = eventually(lambda: (asked := gate.get("/stats?limit=1")).status == 200 and asked, "the page is made", 60)
    assert json.loads(page.body)["windows"]["hourly"]["currentSeries"] == count
