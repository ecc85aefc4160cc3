"""Reloads without end, and a pipe in place of the file. Files that are all mistakes: tests/scenes."""

import os
import signal

import pytest

import traffic
from bounds import OwnTime, within
from busy import Busy
from gate import sanitized
from waiting import eventually
from world import time

RELOADS = "seriesgate_config_reloads_total"
ASKED = "seriesgate_config_reload_requests_total"
# Takes a while to read: many patterns, many overrides. Sanitizers take four times as long, and a request waits 30 s.
OVERRIDES = 50 if sanitized("asan", "tsan", "ubsan") else 200
LARGE = "limits:\n" + "".join(
    f"  - {{name: l{n}, each: [job], match: '{{job=~\"(a|b|c){{0,50}}x{n}\"}}', overrides: [" +
    ", ".join(f"{{group: {{job: j{i}}}, maxHourlySeries: 5}}" for i in range(OVERRIDES)) + "]}\n" for n in range(64))


@pytest.mark.parametrize("by", ["request", "signal"])
def test_a_storm_of_reloads_is_one_a_second_and_the_last_file_counts(limited, upstream, by):
    gate = limited("maxHourlySeries: 1\nserver: {threads: 1}\n")
    statuses, slowest = [], 0

    def storm(client, _):
        if by == "request":
            statuses.append(client.request("POST", "/-/reload").status)
        else:
            for _ in range(10):
                gate.signal(signal.SIGHUP)
            time.sleep(0.001)

    gate.config_file.write_text(LARGE)
    began = time.monotonic()
    with within(gate, memory_mib=64, cpu=1, cores=1), Busy(gate.address, 10 if by == "request" else 1, storm):
        with gate.client() as client:
            while time.monotonic() < began + 3:
                own_time = OwnTime(gate)
                assert client.write(traffic.body(traffic.numbered(1))).status == 204
                slowest = max(slowest, own_time.seconds())
                time.sleep(0.002)
        gate.config_file.write_text("maxHourlySeries: 77\n")
    if by == "signal":
        gate.signal(signal.SIGHUP)
    else:
        statuses.append(gate.post("/-/reload").status)
    eventually(lambda: gate.stats["windows"]["hourly"]["maxSeries"] == 77, "the last file is taken over", seconds=60)
    assert gate.metric(RELOADS) <= time.monotonic() - began + 2
    assert gate.metric(ASKED) >= gate.metric(RELOADS)
    assert set(statuses) <= {200}
    assert slowest < (5 if sanitized("asan", "tsan", "ubsan") else 0.25), f"{slowest:.2f} s"


def test_a_pipe_in_place_of_the_file_holds_nobody_up(limited):
    gate = limited("maxHourlySeries: 1\n")
    gate.config_file.unlink()
    os.mkfifo(gate.config_file)
    assert gate.post("/-/reload").status == 200  # nobody writes: a file without limits
    assert gate.stats["windows"]["hourly"]["maxSeries"] == 0
    gate.stop()
