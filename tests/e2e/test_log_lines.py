"""Every line of docs/logs.md is provoked here or named as one that cannot be, in logfmt and in JSON."""

import re
import resource
import signal
import socket
import threading

import pytest

import faked_clock
import recorded
import wire
import wire_v2
from client import WRITE, post
from faked_clock import FakedClock
from gate import REPOSITORY, run, sanitized
from log_lines import parse
from traffic import numbered, offer
from upstream import Answer
from waiting import eventually

DOCUMENT = (REPOSITORY / "docs/logs.md").read_text()
GOOD = recorded.bodies("metadata-v1")[0]
LINES = {}  # msg: what provokes it


def line(message, **how):
    """Registers what provokes a line: a function of a `scene`."""
    def register(provoke):
        assert message not in LINES
        LINES[message] = pytest.param(message, provoke, id=message[:50], **how)
        return provoke

    return register


class Scene:
    """A gate that logs in one form."""

    def __init__(self, form, start_gate, upstream, folder):
        self.form, self.upstream, self.folder, self._start = form, upstream, folder, start_gate
        self.state = folder / "state"
        self.held = []  # connections that stay open

    def gate(self, text="", *flags, level="info", **how):
        text = f"log: {{format: {self.form}, level: {level}}}\n{text}"
        return self._start(f"--upstream.url={self.upstream.url}", *flags, config=text, **how)

    def keeping(self, interval="1h"):
        return self.gate(f"state: {{dir: {self.state}, interval: {interval}}}\n")


@pytest.fixture(params=["logfmt", "json"])
def scene(request, start_gate, upstream, tmp_path):
    return Scene(request.param, start_gate, upstream, tmp_path)


# --- what provokes each

@line("seriesgate is up")
def at_the_start(scene):
    return scene.gate(), {"version": run("--version").stdout.split()[-1]}


@line("cannot serve")
def a_port_in_use(scene):
    file = scene.folder / "gate.yaml"
    file.write_text(f"log: {{format: {scene.form}}}\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run(f"--config.file={file}", "--upstream.url=discard:", f"--listen={address}")
    assert result.returncode == 2
    return [result.stderr], {"err": f"cannot listen on {address}: Address already in use"}


@line("state loaded")
def a_restart_with_state(scene):
    first = scene.keeping()
    offer(first, scene.upstream, numbered(3))
    first.stop()
    return scene.keeping(), {"hourly_series": "3", "daily_series": "3"}


@line("state not loaded, all series are new")
def a_damaged_state(scene):
    scene.keeping().stop()
    (scene.state / "state").write_bytes(b"x" * 100)
    return scene.keeping(), {}


def obstructed(scene):
    (scene.state / "state" / "in the way").mkdir(parents=True)
    gate = scene.keeping("100ms")
    offer(gate, scene.upstream, numbered(3))
    return gate


@line("state not saved")
def a_directory_in_the_way(scene):
    return obstructed(scene), {}


@line("state.dir was removed or its lock was: made anew, and the state with it")
def a_removed_lock(scene):
    gate = scene.keeping("100ms")
    (scene.state / "lock").unlink()
    return gate, {}


@line("configuration reloaded")
def a_reload(scene):
    gate = scene.gate()
    assert gate.post("/-/reload").status == 200
    return gate, {}


@line("configuration not reloaded")
def a_bad_reload(scene):
    gate = scene.gate()
    assert gate.reload("maxHourlySeries: many\n").status == 400
    return gate, {"err": f"{gate.config_file}:1: maxHourlySeries: 'many' is not a whole number"}


@line("configuration not reloaded, --check-config prints all mistakes")
def a_reload_of_many_mistakes(scene):
    gate = scene.gate()
    assert gate.reload("".join(f"wrong{n}: 1\n" for n in range(15))).status == 400
    return gate, {"more_mistakes": "5"}


@line("series refused")
def a_spent_limit(scene):
    gate = scene.gate("maxHourlySeries: 2\n")
    offer(gate, scene.upstream, numbered(5))
    return gate, {"samples": "3"}


@line("requests rejected")
def garbage(scene):
    gate = scene.gate()
    gate.send(b"\xff no snappy", [("X-Scope-OrgID", "shop")])
    return gate, {"requests": "1", "reason": "malformed", "sender": "127.0.0.1", "tenant": "shop", "status": "400"}


@line("too many connections: some are closed or turned away")
def more_connections_than_there_is_room_for(scene):
    gate = scene.gate("server: {maxConnections: 1, maxConnectionsPerPeer: 0}\n")
    scene.held = [gate.raw() for _ in range(3)]
    return gate, {}


@line("server.maxConnections is lowered, the process may have too few descriptors")
def few_descriptors(scene):
    return scene.gate(descriptors=256), {"configured": "8192", "descriptors": "256"}


def without_descriptors(scene):
    gate = scene.gate()
    assert gate.send(GOOD).status == 204
    resource.prlimit(gate.process.pid, resource.RLIMIT_NOFILE, (48, 48))
    scene.held = [gate.raw() for _ in range(64)]
    return gate


NO_UBSAN = pytest.mark.skipif(sanitized("ubsan"), reason="UBSan asks with a pipe whether an object may be read")


@line("server.maxConnections is lowered, there are fewer descriptors", marks=NO_UBSAN)
def fewer_descriptors(scene):
    return without_descriptors(scene), {"max_connections": "8"}


@line("cannot accept a connection", marks=NO_UBSAN)
def no_descriptor(scene):
    return without_descriptors(scene), {"err": "Too many open files"}


@line("draining")
def a_signal(scene):
    gate = scene.gate()
    gate.signal(signal.SIGINT)
    gate.wait()
    return gate, {"signal": "SIGINT"}


@line("stopped")
def the_end(scene):
    gate = scene.gate()
    gate.stop()
    return gate, {}


@line("requests not finished, their senders will try again")
def a_store_that_hangs_at_the_end(scene):
    gate = scene.gate("server: {drainTimeout: 100ms}\n")
    scene.upstream.default = Answer(hold=threading.Event())
    connection = gate.raw()
    connection.send(post(GOOD))
    eventually(lambda: scene.upstream.requests, "it waits for the store")
    gate.signal()
    gate.wait()
    return gate, {"requests": "1"}


@line("request answered")
def a_request_with_debug(scene):
    gate = scene.gate(level="debug")
    gate.send(b"bad", [("X-Scope-OrgID", "shop")])
    return gate, {"sender": "127.0.0.1", "tenant": "shop", "method": "POST", "path": "/api/v1/write", "status": "400"}


@line("the clock has leapt by over an hour")
def a_clock_that_leaps(scene):
    clock = FakedClock(scene.folder, "2026-03-10 12:30:00")
    gate = scene.gate(environment=clock.environment)
    clock.set("2026-03-10 15:30:00")
    eventually(lambda: gate.metric("seriesgate_clock_in_doubt") == 1, "the clock is in doubt")
    gate.stop()
    faked_clock.clean_up(gate.process)
    return gate, {"believed_in_minutes": "5"}


@line("the upstream has not answered")
def a_store_that_is_away(scene):
    gate = scene.gate()
    scene.upstream.stop()
    assert gate.send(GOOD).status == 502
    return gate, {"requests": "1"}


@line("the upstream took remote write 2 without saying what it has written: it may know only remote write 1 and have "
      "stored nothing; set upstream.protocol to v1, or let the senders write version 1 (Prometheus: protobuf_message: "
      "prometheus.WriteRequest)")
def a_store_that_confirms_nothing(scene):
    gate = scene.gate()
    gate.send(wire.pack(wire_v2.request({"__name__": "up"})), wire_v2.HEADERS)
    return gate, {"upstream": scene.upstream.host}


@line("a sender's query argument was left out: put it into upstream.url, or name it in upstream.forwardQuery; this is said "
      "once")
def an_argument_that_does_not_go_on(scene):
    gate = scene.gate()
    gate.send(wire.pack(wire.sampled("up")), path=f"{WRITE}?extra_label=a")
    return gate, {}


# --- the tests

@pytest.mark.parametrize("message, provoke", LINES.values())
def test_what_happens_is_said(scene, message, provoke):
    said_by, fields = provoke(scene)

    def events():
        lines = said_by if isinstance(said_by, list) else said_by.log.split("\n")[:-1]
        assert all(line.startswith("{") == (scene.form == "json") for line in lines)
        return [event for event in map(parse, lines) if event["msg"] == message]

    event = eventually(events, f"a line: {message}")[0]
    _, level, keys = table(1)[message]
    assert event["level"] == level
    assert list(event)[3:] == keys
    assert {key: str(event[key]) for key in fields} == fields


def table(which):
    """{msg: its cells, the third as a list of keys} of one of the document's tables."""
    rows = [[cell.strip() for cell in row.strip("|").split(" | ")]
            for row in re.split(r"^\| msg .*\n\|[- |]+\n", DOCUMENT, flags=re.MULTILINE)[which].split("\n")
            if row.startswith("| `")]
    return {cells[0].strip("`"): [cells[0], cells[1], re.findall(r"`(\w+)`", cells[2]) if len(cells) > 2 else []]
            for cells in rows}


def test_the_document_has_all_lines_and_no_others():
    said = set()
    for file in sorted((REPOSITORY / "src").rglob("*.cpp")):
        text = re.sub(r'"\s*"', "", file.read_text())
        said |= set(re.findall(r'\blog::(?:debug|info|warn|error)\(\s*"((?:[^"\\]|\\.)*)"', text))
        said |= set(re.findall(r'\blog::write\(\s*log::level::\w+,\s*"((?:[^"\\]|\\.)*)"', text))
        said |= set(re.findall(r'"((?:[^"\\]|\\.)* (?:failed|was dropped))"', text))  # handed to net/background
    said.add("lines of the log were lost, who reads it is too slow")  # by log/ itself
    assert said == table(1).keys() | table(2).keys()


def test_each_line_of_the_document_is_provoked():
    elsewhere = {"lines of the log were lost, who reads it is too slow"}  # tests/attacks/test_log_reader.py
    assert LINES.keys() | elsewhere == table(1).keys()
