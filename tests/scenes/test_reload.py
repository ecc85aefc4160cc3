"""Other limits for a running gate: SIGHUP and POST /-/reload. Storms of them: tests/attacks/test_reload_storm.py."""

import re
import signal

import pytest

import servers
from traffic import figures, numbered, offer
from waiting import eventually
from world import threading, time

RELOADED = "seriesgate_config_last_reload_successful"


def reload(gate, text):
    reply = gate.reload(text)
    assert reply.status == 200, reply
    return reply.body.decode()


# --- what a reload does to counts

@pytest.mark.parametrize("by", ["signal", "request"])
def test_a_raised_limit_lets_newcomers_in_at_once(limited, upstream, by):
    gate = limited("maxHourlySeries: 5\nmaxDailySeries: 5\n")
    series = numbered(10)
    for _ in range(2):  # so that the refusals are remembered
        assert offer(gate, upstream, series) == series[:5]
    text = "maxHourlySeries: 8\nmaxDailySeries: 8\n"
    if by == "request":
        reload(gate, text)
    else:
        gate.config_file.write_text(text)
        gate.signal(signal.SIGHUP)
        eventually(lambda: gate.stats["windows"]["hourly"]["maxSeries"] == 8, "the limit is raised")
    assert offer(gate, upstream, series) == series[:8]
    windows = gate.stats["windows"]
    assert (figures(windows), figures(windows, "daily")) == ((8, 8, 5), (8, 8, 0))


def test_flags_override_the_file_after_a_reload_too(limited, upstream):
    gate = limited("maxHourlySeries: 1\nmaxDailySeries: 100\n", "--maxHourlySeries=7")
    reload(gate, "maxHourlySeries: 2\nmaxDailySeries: 200\n")
    windows = gate.stats["windows"]
    assert [windows[window]["maxSeries"] for window in ("hourly", "daily")] == [7, 200]


def test_a_gate_without_a_file_has_nothing_to_reload(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=7")
    assert gate.post("/-/reload").status == 200
    assert gate.stats["windows"]["hourly"]["maxSeries"] == 7
    gate.signal(signal.SIGHUP)
    assert gate.get("/health").status == 200


# --- what is wrong with a file

BAD = [
    ("maxHourlySeries: 9\nmaxHourlySerie: 5\n", [(2, "maxHourlySerie")]),
    ("limits:\n  - {name: it, match: '{a=b}', maxHourlySeries: 9}\n", [(2, "limits[0].match")]),
    ("maxHourlySeries: 9\nexempt: ['{a=~\"(\"}']\n", [(2, "exempt[0]")]),
    ("maxHourlySeries: many\nmode: off\n\nserver: {threads: x}\n",
     [(1, "maxHourlySeries"), (2, "mode"), (4, "server.threads")]),
    ("maxHourlySeries: [\n", None),
    (None, None),
]


@pytest.mark.parametrize("text, errors", BAD, ids=["unknown key", "selector", "exempt", "several", "yaml", "missing"])
@pytest.mark.parametrize("by", ["signal", "request"])
def test_a_bad_file_changes_nothing_and_says_why(limited, upstream, by, text, errors):
    good = "maxHourlySeries: 3\nlimits: [{name: per-job, each: [job], maxHourlySeries: 2}]\n"
    gate = limited(good)
    assert gate.metric(RELOADED) == 1
    assert len(offer(gate, upstream, numbered(5, job="a"))) == 2
    before = gate.stats
    if text is None:
        gate.config_file.unlink()
    else:
        gate.config_file.write_text(text)
    if by == "signal":
        gate.signal(signal.SIGHUP)
        eventually(lambda: gate.metric(RELOADED) == 0, "the reload has failed")
        eventually(lambda: str(gate.config_file) in gate.log, "the log says why")
    else:
        reply = gate.post("/-/reload")
        assert reply.status == 400
        lines = reply.body.decode().splitlines()
        if errors:
            form = re.compile(rf"{re.escape(str(gate.config_file))}:(\d+): (\S+): .{{5,}}")
            starts = [form.fullmatch(line) for line in lines]
            assert all(starts), lines
            assert [(int(start[1]), start[2]) for start in starts] == errors
        else:
            assert len(lines) == 1 and lines[0].startswith(f"{gate.config_file}:")
        assert gate.metric(RELOADED) == 0
        eventually(lambda: all(line in gate.log for line in lines), "the log says why")
    after = gate.stats
    assert (after["windows"], after["limits"]) == (before["windows"], before["limits"])
    assert len(offer(gate, upstream, numbered(5, job="a") + numbered(5, start=10, job="b"))) == 2 + 1
    servers.check_metrics(gate.get("/metrics").body)

    reload(gate, good)
    assert gate.metric(RELOADED) == 1


# --- side by side, and files that are all mistakes

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


# --- what a file may be written with

def test_variables_are_filled_in_at_the_start_and_at_a_reload(start_gate, upstream):
    environment = {"STORE": upstream.url, "LIMIT": "3k"}
    text = "upstream:\n  url: ${STORE}\nmaxHourlySeries: ${LIMIT}\nlimits:\n- {name: a, match: '{job=~\"x$\"}'}\n"
    gate = start_gate(config=text, environment=environment)
    assert gate.stats["windows"]["hourly"]["maxSeries"] == 3000
    assert gate.reload(text + "maxDailySeries: ${LIMIT}\n").status == 200
    assert gate.stats["windows"]["daily"]["maxSeries"] == 3000
    reply = gate.reload(text + "maxDailySeries: ${OTHER_LIMIT}\n")
    assert (reply.status, reply.body.decode().strip()) == (
        400, f"{gate.config_file}:6: maxDailySeries: the environment variable 'OTHER_LIMIT' is not set")
