"""Other limits for a running gate while many send: SIGHUP and POST /-/reload."""

import itertools
import signal

import pytest

import traffic
from busy import Busy
from traffic import numbered, offer
from waiting import eventually

LIMIT = "limits: [{{name: {}, each: [{}], maxHourlySeries: {}, mode: {}}}]\n"


@pytest.mark.parametrize("by", ["signal", "request"])
def test_reloads_under_traffic_lose_nothing(limited, upstream, by):
    texts = ["maxHourlySeries: 400\n" + LIMIT.format("per-job", "job", 200, "enforce"),
             "maxDailySeries: 300\ntenants: {default: {maxHourlySeries: 250}}\n", "", "mode: observe\n"]
    gate = limited(texts[0])
    known = {job: numbered(100, job=job) for job in ("a", "b")}
    for series in known.values():
        assert offer(gate, upstream, series) == series
    upstream.clear()
    sent, failures = {job: 0 for job in known}, []

    def send(client, number):
        job = "ab"[number]
        reply = client.write(traffic.body(known[job]))
        sent[job] += 1
        if reply.status != 204 or reply.refused:
            failures.append(reply)

    with Busy(gate.address, 2, send):
        for at in itertools.count():
            if (at >= 5 and sum(sent.values()) >= 200) or failures:
                break
            if by == "request":
                assert gate.reload(texts[at % 4]).status == 200
            else:
                gate.config_file.write_text(texts[at % 4])
                gate.signal(signal.SIGHUP)
                eventually(lambda: gate.metric("seriesgate_config_reloads_total") == at + 1, "it is read")
    assert failures == []
    assert len(upstream.requests) == sum(sent.values()) >= 200
    assert all(len(request.body) > 100 for request in upstream.requests)
    assert gate.stats["samples"]["refused"] == 0
    gate.reload(texts[0])
    assert gate.current() == 200
