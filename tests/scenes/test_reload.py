"""Other limits for a running gate: SIGHUP and POST /-/reload."""

import re
import signal

import pytest

import servers
from traffic import figures, limits, numbered, offer
from waiting import eventually

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


LIMIT = "limits: [{{name: {}, each: [{}], maxHourlySeries: {}, mode: {}}}]\n"


def test_a_limit_keeps_its_counts_whatever_else_of_it_changes(limited, upstream):
    gate = limited(LIMIT.format("per-job", "job", 5, "enforce"))
    assert len(offer(gate, upstream, numbered(9, job="a"))) == 5
    reload(gate, """
limits:
  - {name: first, maxHourlySeries: 100}
  - {name: per-job, match: '{job!=""}', each: [job], maxGroups: 3, maxHourlySeries: 6,
     overrides: [{group: {job: a}, maxHourlySeries: 7}]}
""")
    assert len(offer(gate, upstream, numbered(9, job="a"))) == 7
    assert len(offer(gate, upstream, numbered(9, start=20, job="b"))) == 6
    assert {key: figures(entry)[:2] for key, entry in limits(gate.stats).items()} == {
        ("first",): (100, 8), ("per-job", "a"): (7, 7), ("per-job", "b"): (6, 6)}


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
    good = "maxHourlySeries: 3\n" + LIMIT.format("per-job", "job", 2, "enforce")
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


# --- what needs a restart

# key: its value, another one, and how the change is named
FIXED = {
    "listen": ("127.0.0.1:0", "127.0.0.1:1", "listen 127.0.0.1:0 -> 127.0.0.1:1"),
    "upstream": ("{url: 'URL'}", "{url: 'URL/other'}", "upstream.url URL -> URL/other"),
    "ignoreLabels": ("[]", "[replica]", "ignoreLabels"),
    "tenants": ("{header: X-Scope-OrgID}", "{header: X-Other}", "tenants.header X-Scope-OrgID -> X-Other"),
    "state": ("{interval: 10s}", "{interval: 20s}", "state.interval 10s -> 20s"),
    "server": ("{readTimeout: 10s}", "{readTimeout: 20s}", "server.readTimeout 10s -> 20s"),
}


def fixed(upstream, changed, limit):
    lines = "".join(f"{key}: {values[key in changed]}\n" for key, values in FIXED.items())
    return lines.replace("URL", upstream.url) + f"maxHourlySeries: {limit}\n"


def test_changed_keys_that_need_a_restart_are_named(start_gate, upstream):
    gate = start_gate(config=fixed(upstream, [], 3), listen=None)
    said = reload(gate, fixed(upstream, FIXED, 5))
    expected = [told.replace("URL", upstream.url) for _, _, told in FIXED.values()]
    assert said.splitlines() == ["configuration reloaded", "maxHourlySeries 3 -> 5",
                                 *(f"a restart is needed for: {each}" for each in expected)]
    eventually(lambda: gate.said("configuration reloaded", restart_needed="; ".join(expected)), "the log says so, too")
    assert len(offer(gate, upstream, numbered(9))) == 5  # the rest is taken over
    assert upstream.requests[0].target == "/api/v1/write"
    assert "restart" not in reload(gate, fixed(upstream, [], 5))


# --- the path

@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
def test_only_a_post_reloads(limited, method):
    gate = limited("maxHourlySeries: 3\n")
    gate.config_file.write_text("maxHourlySeries: 5\n")
    with gate.client() as client:
        reply = client.request(method, "/-/reload")
    assert (reply.status, reply.get("Allow")) == (405, "POST, OPTIONS")
    assert gate.stats["windows"]["hourly"]["maxSeries"] == 3
