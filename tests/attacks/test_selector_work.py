"""What a request asks of selectors is bounded, whatever it is made of; what senders really send passes."""

import giants
import wire
import wire_v2
from bounds import within
from giants import scaled

REGEXES = 64
TOO_MUCH = "more work for the limits than one request may make: fewer series, labels or bytes, please"
V2 = wire_v2.HEADERS


def limits_with(matcher, each=""):
    rows = "".join(f"  - {{name: n{i}, match: '{{{matcher.format(i)}}}', maxHourlySeries: 1000000{each}}}\n"
                   for i in range(REGEXES))
    return f"limits:\n{rows}"


def assert_too_much(gate, reply):
    assert (reply.status, reply.first_line) == (400, TOO_MUCH)
    assert gate.current() == 0
    assert gate.stats["samples"]["received"] == 0
    assert gate.metric("seriesgate_requests_rejected_total", reason="too_large") == 1


def test_regular_expressions_over_long_values_that_differ(limited):
    """16 s on one worker."""
    gate = limited(limits_with('l0=~"(x+y?)+[a-f0-9]*{}"'))
    body = wire.pack(giants.unlike_long_series(scaled(1600), 60_000))
    with within(gate, cpu=1, seconds=5):
        assert_too_much(gate, gate.send(body))
    with within(gate, cpu=0.2):
        assert gate.send(wire.pack(wire.sampled("up"))).status == 204


def test_regular_expressions_over_one_long_symbol_cost_one_match_each(limited):
    gate = limited(limits_with('l0=~"(x+y?)+{}"'))
    body = wire.pack(giants.long_symbol_series(scaled(4000)))
    with within(gate, cpu=0.5, seconds=5):
        assert gate.send(body, V2).status == 204
    assert gate.current() == scaled(4000)


def test_many_labels_times_many_matchers(limited):
    """The product of series, labels, and matchers: each label is looked at once."""
    others = ",".join(f'z{i}!="y"' for i in range(20))
    gate = limited(limits_with(f'b!="",{others},y{{}}!="y"'))
    labels = {f"a{i:04}": "v" for i in range(1000)}
    body = wire_v2.request(*({**labels, "b": str(i)} for i in range(scaled(1600))))
    with within(gate, cpu=1, seconds=10):
        assert gate.send(wire.pack(body), V2).status == 204
    assert gate.current() == scaled(1600)


def test_a_million_series_times_64_limits(limited):
    gate = limited(limits_with('a!="",b!="{}"', ", each: [a], maxGroups: 10"))
    body = wire.pack(giants.tiny_series(1 << 20))
    with within(gate, memory_mib=320, cpu=2, seconds=20):
        assert_too_much(gate, gate.send(body))


def test_real_traffic_passes(limited):
    """10,000 new series, 64 regular expressions that match them all, groups of their own, values of 60 bytes."""
    gate = limited(limits_with('a=~"[a-z]+-[0-9a-z]+-{}?.*[0-9a-f]"', ", each: [a]"))
    pad = "pod-" + "x" * 47 + "-"
    count = scaled(10_000)
    body = wire.pack(b"".join(wire.sampled("up", a=f"{pad}{i:08x}", job="shop", instance="127.0.0.1:9100")
                              for i in range(count)))
    with within(gate, cpu=4, seconds=20):
        assert gate.send(body).status == 204
    assert gate.current() == count


def test_repaired_utf8_counts_as_what_it_costs(limited):
    gate = limited(limits_with('l0=~"(.+y?)+{}"'))
    body = wire.pack(b"".join(wire.series({"l0": b"\xff" * 60_000 + str(i).encode()}, giants.POINT)
                              for i in range(scaled(400))))
    with within(gate, memory_mib=256, cpu=1, seconds=5):
        assert_too_much(gate, gate.send(body))
