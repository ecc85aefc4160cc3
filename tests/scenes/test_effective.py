"""What is in force can be seen: at the start, at a reload, and at GET /config; and no secret with it.

The first line of the real binary, and what is wrong before the start: tests/e2e/test_life_cycle.py.
"""

import json
import signal

import pytest

import wire
from traffic import numbered, offer
from upstream import Answer
from waiting import eventually

FORMS = pytest.mark.parametrize("form", ["logfmt", "json"])
HEAD = "# The configuration in force, defaults included; <secret> stands for what is not shown."


def log_in(form, level="info"):
    return f"log: {{format: {form}, level: {level}}}\n"


def shown(gate):
    reply = gate.get("/config")
    assert reply.status == 200, reply
    return reply.body.decode()


# --- the first line

@FORMS
def test_the_first_line_without_a_configuration_says_so(start_gate, form):
    gate = start_gate("--upstream.url=discard:", config=log_in(form) if form == "json" else None)
    event, = gate.said("seriesgate is up")
    said = {key: event[key] for key in ("upstream", "max_hourly_series", "tenants", "limits", "state")}
    assert said == {"upstream": "discard:", "max_hourly_series": "no limit", "tenants": "no limit", "limits": "none",
                    "state": "none: a restart forgets all series"}
    assert event["config_file"] == (str(gate.config_file) if form == "json" else "none")


# --- GET /config

ALL = """
maxHourlySeries: 1000
tenants: {overrides: {"team: a": {maxHourlySeries: 5, onLimit: reject}}}
limits:
  - {name: per-job, match: '{job=~"a|b"}', each: [job], overrides: [{group: {job: "it's"}, maxDailySeries: 9}]}
exempt: [up, '{a="b"}']
state: {interval: 90s}
log: {level: warn}
"""


def test_the_configuration_in_force_is_shown_and_can_be_read_again(start_gate, tmp_path):
    # What stands at info says the port, so log.level is as it was.
    gate = start_gate("--upstream.url=discard:", config=ALL.replace("level: warn", "format: json"))
    text = shown(gate)
    assert text.startswith(HEAD + "\nlisten: 127.0.0.1:0\nadmin:\n  listen: ''\nweb:\n  config: {file: ''}\n"
                           "upstream:\n  url: 'discard:'\n  urls: []\n  timeout: 25s\n")
    for line in ("\nmaxHourlySeries: 1000\nmaxDailySeries: 0\n", "\n  interval: 1m30s\n",
                 "\n  overrides: {'team: a': {maxHourlySeries: 5, maxDailySeries: 0, maxActiveSeries: 0, onLimit: reject}}\n",
                 "\n    overrides: [{group: {job: 'it''s'}, maxHourlySeries: 0, maxDailySeries: 9, maxActiveSeries: 0}]\n",
                 "\nexempt: [up, '{a=\"b\"}']\n", "\n  maxInflightBytes: 512MiB\n", "\n  format: json\n"):
        assert line in text, line
    gate.stop()
    again = start_gate(config=text, listen=None)
    assert shown(again) == text


def test_a_file_of_a_megabyte_is_shown_whole(start_gate):
    tenants = "".join(f"    team-{i:05}: {{maxHourlySeries: {i}}}\n" for i in range(25_000))
    text = f"tenants:\n  overrides:\n{tenants}"
    assert 1_000_000 < len(text) < 1 << 20
    gate = start_gate("--upstream.url=discard:", config=text)
    page = shown(gate)
    assert page.count("\n    team-") == 25_000
    assert "\n    team-24999: {maxHourlySeries: 24999, maxDailySeries: 0, maxActiveSeries: 0}\n" in page
    reply = gate.reload(text.replace("maxHourlySeries", "maxDailySeries"))
    lines = reply.body.decode().splitlines()
    assert lines == ["configuration reloaded", "tenants.overrides"]


# --- reload

BEFORE = """
maxHourlySeries: 10
limits: [{name: per-job, each: [job], maxHourlySeries: 8}, {name: gone}]
tenants: {overrides: {team-a: {maxDailySeries: 5}}}
server: {readTimeout: 10s}
"""
AFTER = """
maxHourlySeries: 20
limits: [{name: per-job, each: [job], maxHourlySeries: 20}, {name: new, match: up}]
tenants: {overrides: {team-a: {maxDailySeries: 6}}}
exempt: ['{a="b"}']
server: {readTimeout: 20s}
"""
CHANGES = ["maxHourlySeries 10 -> 20", "tenants.overrides", "limits", "exempt"]
AT_RESTART = "server.readTimeout 10s -> 20s"


@FORMS
@pytest.mark.parametrize("by", ["request", "signal"])
def test_a_reload_says_what_changed(limited, upstream, form, by):
    gate = limited(log_in(form) + BEFORE)
    if by == "request":
        reply = gate.reload(log_in(form) + AFTER)
        assert (reply.status, reply.body.decode().splitlines()) == (200, [
            "configuration reloaded", *CHANGES, f"a restart is needed for: {AT_RESTART}"])
    else:
        gate.config_file.write_text(log_in(form) + AFTER)
        gate.signal(signal.SIGHUP)
    event, = eventually(lambda: gate.said("configuration reloaded"), "it is reloaded")
    assert (event["level"], event["changes"], event["restart_needed"]) == ("info", "; ".join(CHANGES), AT_RESTART)
    # What is shown is what is in force: the new limits, and the old timeout.
    page = shown(gate)
    assert page.startswith(f"{HEAD}\n# A restart is needed for: {AT_RESTART}\nlisten: ")
    assert "\nmaxHourlySeries: 20\n" in page and "\n  readTimeout: 10s\n" in page
    series = numbered(50)
    assert offer(gate, upstream, series) == series[:20]


@FORMS
def test_a_reload_of_the_same_says_that_nothing_changed(limited, form):
    gate = limited(log_in(form) + BEFORE)
    reply = gate.reload(log_in(form) + BEFORE + "# a comment\n")
    assert (reply.status, reply.body) == (200, b"configuration reloaded: nothing has changed\n")
    event, = eventually(lambda: gate.said("configuration reloaded"), "the log says so")
    assert (event["changes"], event["restart_needed"]) == ("none", "none")


def test_another_way_to_log_is_a_change_and_the_line_that_says_so_has_it(limited):
    gate = limited("log: {format: logfmt}\n")
    reply = gate.reload("log: {format: json}\n")
    assert reply.body.decode() == "configuration reloaded\nlog.format logfmt -> json\n"
    event, = eventually(lambda: gate.said("configuration reloaded"), "the log says so")
    assert event["changes"] == "log.format logfmt -> json"
    assert json.loads(gate.log.splitlines()[-1]) == event


# --- secrets

TOKEN = "opensesame"


@FORMS
def test_the_query_of_the_upstream_is_in_nothing_that_the_gate_says(start_gate, upstream, form):
    """The token is where it belongs, in what the store gets, and nowhere else."""
    mark = f"http://127.0.0.1:{upstream.port}/write?"
    config = log_in(form, "debug") + f"upstream: {{url: '{mark}token={TOKEN}', timeout: 1s}}\nmaxHourlySeries: 1\n"
    gate = start_gate(config=config)
    bodies = [wire.pack(wire.sampled(f"m{i}", job="a")) for i in range(2)]
    upstream.answers.extend([Answer(204), Answer(400, [], b"no"), Answer(500, [], b"broken"), Answer(cut=3)])
    answers = [gate.send(bodies[0]) for _ in range(4)] + [gate.send(bodies[1]), gate.send(b"broken")]  # one is refused
    assert upstream.requests[0].target == f"/write?token={TOKEN}"
    upstream.stop()
    answers.append(gate.send(bodies[0]))
    assert answers[-1].status == 502
    answers.append(gate.reload(config.replace(TOKEN, TOKEN + "2")))
    assert answers[-1].body == \
        b"configuration reloaded: nothing has changed\na restart is needed for: upstream.url\n"
    answers.append(gate.reload(config + f"listen: 'http://h/?{TOKEN}'\nupstream: '{mark}{TOKEN}'\n"))
    assert answers[-1].status == 400
    answers += [gate.get(path) for path in ("/config", "/stats", "/metrics", "/-/ready", "/health", "/nothing", "/")]
    gate.stop()
    for answer in answers:
        assert TOKEN not in f"{answer.headers}{answer.body}", answer
    assert TOKEN not in gate.log
    assert f"{mark}<secret>" in gate.log and f"url: '{mark}<secret>'" in answers[-7].body.decode()


def test_what_a_sender_asks_in_its_query_is_not_logged(limited, upstream):
    gate = limited("log: {level: debug}\n")
    for path in (f"/api/v1/write?{TOKEN}", f"/api/v1/write?token={TOKEN}&x=y", f"/stats?limit={TOKEN}",
                 f"/nothing?token={TOKEN}", f"/api/v1/write?token={TOKEN}%zz"):
        gate.send(wire.pack(wire.sampled("up", job="a")), path=path)
        gate.get(path)
    assert not any(TOKEN in request.target for request in upstream.requests)
    gate.stop()
    assert TOKEN not in gate.log
    event = gate.said("a sender's query argument was left out, see upstream.forwardQuery")[0]
    assert event["argument"] == "", "a value alone is no name"


def test_one_is_one(limited, upstream):
    gate = limited("server: {maxRequestBytes: 1B, readTimeout: 1s}\n")
    reply = gate.send(b"ab")
    assert reply.first_line == "body larger than server.maxRequestBytes: 2 bytes, at most 1 byte"
    with gate.raw() as connection:
        connection.send(b"POST /api/v1/write HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")
        assert b"0 of 1 byte of its body came" in connection.reply().body
