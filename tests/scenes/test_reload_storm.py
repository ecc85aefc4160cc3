"""Reloads side by side, and files that are all mistakes. Storms of them: tests/attacks/test_reload_storm.py."""

import pytest

from waiting import eventually
from world import threading, time

ASKED = "seriesgate_config_reload_requests_total"


def test_the_file_is_read_once_a_second_at_most(limited):
    gate = limited("maxHourlySeries: 1\n")
    gate.post("/-/reload")
    began = time.monotonic()
    gate.post("/-/reload")
    assert time.monotonic() - began == pytest.approx(1, abs=0.01)


def test_a_file_of_mistakes_is_ten_lines_in_the_log_and_whole_in_the_answer(limited):
    gate = limited("maxHourlySeries: 1\n")
    reply = gate.reload("".join(f"wrong{n}: 1\n" for n in range(500)))
    assert reply.status == 400
    assert len(reply.body.splitlines()) == 500
    eventually(lambda: gate.said("configuration not reloaded, --check-config prints all mistakes", more_mistakes="490"),
               "the rest is a number")
    assert len(gate.said("configuration not reloaded")) == 10
    reply = gate.reload("".join(f"wrong{n}: 1\n" for n in range(5000)))
    assert reply.status == 400
    assert len(reply.body.splitlines()) <= 1001 and len(reply.body) < 1 << 20


def test_a_drain_does_not_wait_for_those_who_wait_for_a_reload(limited):
    gate = limited("maxHourlySeries: 1\n")
    replies = []
    askers = [threading.Thread(target=lambda: replies.append(gate.post("/-/reload").status)) for _ in range(4)]
    gate.post("/-/reload")
    for asker in askers:
        asker.start()
    eventually(lambda: gate.metric(ASKED) == 5, "all have asked")
    began = time.monotonic()
    gate.stop()
    assert time.monotonic() - began < 2, "it has ended at once"
    for asker in askers:
        asker.join()
    assert set(replies) == {200}
