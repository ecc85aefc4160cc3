"""What provokes each line of docs/logs.md: for tests/scenes/test_seeing.py, or for tests/e2e if it is `real`."""

import datetime
import fcntl
import functools
import json
import resource
import signal
from pathlib import Path

import recorded
import wire
import wire_v2
from certificates import Authority
from client import WRITE, RawConnection, head, post
from documents import log_lines
from faked_clock import FakedClock
from faked_names import FakedNames
from gate import Gate, run, sanitized
from log_lines import parse
from query_store import OLD, YOUNG, QueryStore
from secure import Secured
from shared_stores import SharedStore
from taking_over import asking, is_given_all
from traffic import numbered, offer
from upstream import Answer, Upstream
from waiting import eventually
from world import SIMULATED, socket, threading, time

GOOD = recorded.bodies("metadata-v1")[0]
LINES = {}  # what they are about: {msg: what provokes it}
REAL = set()  # those that need a process and what the system gives it, or another server


def about(what):
    """The lines that follow are one test in tests/e2e."""
    LINES[what] = {}


def line(message, real=False, unless=False):
    """Registers what provokes a line: a function of a `scene`. `unless`: it cannot be, with this binary."""
    def register(provoke):
        assert not any(message in lines for lines in LINES.values())
        list(LINES.values())[-1][message] = None if unless else provoke
        if real:
            REAL.add(message)
        return provoke

    return register


def lines(provoked, **how):
    """The same for {msg: a function of a scene that is one expression}."""
    for message, provoke in provoked.items():
        line(message, **how)(provoke)


def lines_for(real):
    """As LINES, of all that can be provoked with this binary."""
    wanted = {what: {message: provoke for message, provoke in lines.items() if provoke and (message in REAL) == real}
              for what, lines in LINES.items()}
    return {what: lines for what, lines in wanted.items() if lines}


class Scene:
    """Gates that log in one form, a stub upstream and a folder of their own."""

    def __init__(self, form, folder):
        self.form, self.folder = form, folder
        self.upstream = Upstream()
        self.state = folder / "state"
        self.held = []  # connections that stay open
        self.stores = []  # besides the upstream, in the order in which they came
        self._started = []

    def __enter__(self):
        return self

    def __exit__(self, failed, *_):
        """All gates have to end well."""
        try:
            for gate in self._started:
                gate.kill() if failed else gate.stop()
        finally:
            for gate in self._started:
                if gate.running:
                    gate.kill()
            for store in self.stores:
                store.stop()
            self.upstream.stop()

    def start(self, *flags, config, **how):
        file = self.folder / f"gate-{len(self._started)}.yaml"
        file.write_text(config)
        self._started.append(Gate(*flags, config_file=file, **how))
        return self._started[-1]

    def as_configured(self, text, *flags, level="info", **how):
        return self.start(*flags, config=f"log: {{format: {self.form}, level: {level}}}\n{text}", **how)

    def gate(self, text="", *flags, **how):
        return self.as_configured(text, f"--upstream.url={self.upstream.url}", *flags, **how)

    def keep(self, store):
        self.stores.append(store)
        return store

    def in_fleet(self, text="", **how):
        """A gate, and the store of its fleet, which is as SharedStore says."""
        self.keep(SharedStore("redis", self.folder, **how))
        return self.join_fleet(text)

    def join_fleet(self, text=""):
        """Another gate of that fleet, which is ready."""
        secret = self.folder / "fleet.secret"
        secret.write_bytes(bytes(range(32)))
        gate = self.gate(f"shared: {json.dumps({**self.stores[-1].settings_of(0), 'timeout': '10s'})}\n"
                         f"fingerprint: {{secretFile: {secret}}}\nmaxHourlySeries: 5\n{text}")
        eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
        return gate

    def keeping(self, interval="1h", text=""):
        return self.gate(f"state: {{dir: {self.state}, interval: {interval}}}\n{text}")


# --- what provokes each

about("start and state")


lines({"seriesgate is up": lambda scene: (scene.gate(), {
    "version": run("--version").stdout.split()[-1], "mode": "enforce", "tenants": "no limit", "tls": "no",
    "authentication": "none"})}, real=True)


@line("cannot serve", real=True)
def a_port_in_use(scene):
    file = scene.folder / "gate.yaml"
    file.write_text(f"log: {{format: {scene.form}}}\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run(f"--config.file={file}", "--upstream.url=discard:", f"--listen={address}")
    assert result.returncode == 2
    return [result.stderr], {"err": f"cannot listen on {address}: Address already in use"}


def restarted(scene, text=""):
    """A gate that knows three series from before."""
    first = scene.keeping()
    offer(first, scene.upstream, numbered(3))
    first.stop()
    return scene.keeping(text=text)


def a_damaged_file(scene, name):
    scene.keeping().stop()
    (scene.state / name).write_bytes(b"x" * 100)
    return scene.keeping(), {}


def a_directory_in_the_way(scene, name):
    (scene.state / name / "in the way").mkdir(parents=True)
    gate = scene.keeping()
    offer(gate, scene.upstream, numbered(3))
    gate.stop()
    return gate, {}


lines({
    "state loaded": lambda scene: (restarted(scene), {"hourly_series": "3", "daily_series": "3"}),
    "state not loaded, all series are new": functools.partial(a_damaged_file, name="state"),
    "what was seen before is not loaded": functools.partial(a_damaged_file, name="observed"),
    "what was seen is not saved": functools.partial(a_directory_in_the_way, name="observed"),
    "state not saved": functools.partial(a_directory_in_the_way, name="state"),
})


@line("state.dir was removed or its lock was: made anew, and the state with it")
def a_removed_lock(scene):
    gate = scene.keeping("100ms")
    (scene.state / "lock").unlink()
    return gate, {}


def warm_gate(scene, *has, answers=(), respond_after=0):
    """`has`: (series, ages) of the store that it asks."""
    store = scene.keep(QueryStore())
    for series, ages in has:
        store.add(series, ages)
    store.scripted += answers
    store.respond_after = respond_after
    return scene.gate(f"maxHourlySeries: 4\nwarmStart: {{url: '{store.root}'}}\n")


def five_minutes_after_a_warm_start(scene, sent):
    gate = warm_gate(scene, (numbered(4), OLD))
    eventually(lambda: "warm start is complete" in gate.log, "its end")
    offer(gate, scene.upstream, numbered(sent))
    time.sleep(301)
    return gate, {"met_ratio": str(sent / 4).removesuffix(".0")}


lines({
    "warm start begins": lambda scene: (
        warm_gate(scene), {"store": scene.stores[0].host, "lookback_seconds": "3600", "timeout_seconds": "300"}),
    "warm start goes on": lambda scene: (
        warm_gate(scene, (numbered(3), OLD), respond_after=6), {"metric_names": "1", "metric_names_read": "0"}),
    "warm start is complete": lambda scene: (warm_gate(scene, (numbered(5), OLD), (numbered(2, name="young"), YOUNG)), {
        "series": "5", "younger": "0", "without_room": "2", "limits_exceeded": "1"}),
    "warm start is incomplete: limits apply, and series that were not read are new": lambda scene: (
        warm_gate(scene, answers=[Answer(404)]),
        {"err": "listing metric names: it answers 404", "series": "0", "metric_names": "0"}),
    "no warm start: the gate knows series from before": lambda scene: (
        restarted(scene, "warmStart: {url: 'http://127.0.0.1:9'}\n"), {}),
    "senders have the series of the warm start": lambda scene: five_minutes_after_a_warm_start(scene, 4),
    "senders have few of the series of the warm start: are the store's labels others than those that senders send?":
        lambda scene: five_minutes_after_a_warm_start(scene, 1),
})


about("configuration")


def reloaded(scene, text=None):
    """A gate that was told to read its file again, or this one that is no good."""
    gate = scene.gate()
    if text:
        assert gate.reload(text).status == 400
    else:
        assert gate.post("/-/reload").status == 200
    return gate


def with_another_web_configuration(scene, text):
    file = scene.folder / "web.yml"
    file.write_text("auth_excluded_paths: [/health]\n")
    gate = scene.gate("", f"--web.config.file={file}")
    file.write_text(text)
    return gate


lines({
    "configuration reloaded": lambda scene: (reloaded(scene), {"changes": "none", "restart_needed": "none"}),
    "configuration not reloaded": lambda scene: (reloaded(scene, "maxHourlySeries: many\n"), {
        "err": f"{scene.folder}/gate-0.yaml:1: maxHourlySeries: 'many' is not a whole number such as 5000 or 500k; 0 is no limit"}),
    "configuration not reloaded, --check-config prints all mistakes": lambda scene: (
        reloaded(scene, "".join(f"wrong{n}: 1\n" for n in range(15))), {"more_mistakes": "5"}),
    "web configuration reread": lambda scene: (with_another_web_configuration(
        scene, "auth_excluded_paths: [/health, /-/healthy]\nadmin_users: []\n"
        "basic_auth_users: {a: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW}\n"), {
            "changes": "basic_auth_users, admin_users, auth_excluded_paths"}),
    "web configuration not reread": lambda scene: (with_another_web_configuration(scene, "basic_auth_user: {}\n"), {
        "err": f"{scene.folder}/web.yml:1: basic_auth_user: unknown key, did you mean 'basic_auth_users'?"}),
})


@line("token refused")
def a_token_that_is_gone(scene):
    (scene.folder / "token").write_text("t0ken")
    file = scene.folder / "web.yml"
    file.write_text("bearer_tokens: [{name: ci, token_file: token}]\nauth_excluded_paths: [/metrics, /stats]\n")
    gate = scene.gate("", f"--web.config.file={file}")
    (scene.folder / "token").unlink()
    return gate, {"err": f"token_file {scene.folder}/token cannot be read: No such file or directory"}


@line("doubtful configuration")
def a_day_below_the_hour(scene):
    text = "maxHourlySeries: 10\nmaxDailySeries: 9\n"
    gate = scene.gate(text)
    doubt = "is below maxHourlySeries, so the limit of the hour never refuses anything"
    assert [event["warning"] for event in gate.said("doubtful configuration")] == [doubt]
    assert gate.reload(f"log: {{format: {scene.form}}}\n{text}").status == 200
    assert len(eventually(lambda: gate.said("doubtful configuration")[1:], "the same at the reload")) == 1
    return gate, {"where": f"{gate.config_file}:3", "key": "maxDailySeries", "warning": doubt}


@line("doubtful configuration, --check-config prints all warnings")
def doubts_without_end(scene):
    gate = scene.gate("maxHourlySeries: 10\nlimits:\n" +
                      "".join(f"  - {{name: l{n}, maxHourlySeries: 11}}\n" for n in range(13)))
    assert len(gate.said("doubtful configuration")) == 10
    return gate, {"more_warnings": "3"}


about("series, requests and connections")


def two_of_five(scene, text, limit, group="", window="hourly", example='m{n="2"}'):
    gate = scene.gate(text)
    offer(gate, scene.upstream, numbered(5, **({"job": "a"} if group else {})), "shop")
    return gate, {"samples": "3", "tenant": "shop", "limit": limit, "group": group, "window": window, "max": "2",
                  "current": "2", "example": example}


lines({
    "series refused": functools.partial(two_of_five, text="maxHourlySeries: 2\n", limit="global"),
    "series would be refused": functools.partial(
        two_of_five, text="limits: [{name: per-job, each: [job], mode: observe, maxDailySeries: 2}]\n", limit="per-job",
        group='{job="a"}', window="daily", example='m{n="2",job="a"}'),
    "exempt series beyond their limit": functools.partial(
        two_of_five, text="maxHourlySeries: 9\nexempt: [m]\nmaxExemptSeries: 2\n", limit="exempt"),
    "values of ignored labels beyond their limit": functools.partial(
        two_of_five, text="ignoreLabels: [n]\nmaxIgnoredValues: 2\n", limit="ignored-values"),
})


def eleven_explosions(scene, text):
    gate = scene.gate(text)
    for at in range(11):
        offer(gate, scene.upstream, numbered(5), f"t{at}")
    return gate, {"samples": "3", "limits": "1"}


LIMIT_OF_TENANTS = "tenants: {default: {maxHourlySeries: 2}}\n"
lines({
    "more series refused": lambda scene: eleven_explosions(scene, LIMIT_OF_TENANTS),
    "more series would be refused": lambda scene: eleven_explosions(scene, "mode: observe\n" + LIMIT_OF_TENANTS),
    "more exempt series or ignored values beyond their limits": lambda scene: eleven_explosions(
        scene, "exempt: [m]\nmaxExemptSeries: 2\n"),
})

NAMELESS = wire.pack(wire.series([("__name__", "up"), ("", "x")], wire.field(2, wire.sample(1.0, 1))))


SHOP = ("X-Scope-OrgID", "shop")


def sent(scene, body, status=204, times=1, headers=(SHOP,), path=WRITE, answer=Answer(), **how):
    """A gate that was sent this by a tenant, so many times, before a store with that answer."""
    scene.upstream.default = answer
    gate = scene.gate(**how)
    for _ in range(times):
        assert gate.send(body, headers, path).status == status
    return gate


OF_SHOP = {"sender": "127.0.0.1", "tenant": "shop"}
lines({
    "series left out": lambda scene: (sent(scene, NAMELESS), {
        "series": "1", "reason": "label_without_name", "metric": "up", "label": "", "example": 'up{="x"}', **OF_SHOP}),
    "more series left out": lambda scene: (
        sent(scene, NAMELESS, times=50), {"series": "49", "reason": "label_without_name"}),
    "requests rejected": lambda scene: (
        sent(scene, b"\xff no snappy", 400), {"requests": "1", "reason": "malformed", "status": "400", **OF_SHOP}),
    "more requests rejected": lambda scene: (sent(scene, b"bad", 400, times=50), {"requests": "49", "reason": "malformed"}),
    "request answered": lambda scene: (
        sent(scene, b"bad", 400, level="debug"), {"method": "POST", "path": "/api/v1/write", "status": "400", **OF_SHOP}),
})


@line("too many connections: some are closed or turned away")
def more_connections_than_there_is_room_for(scene):
    gate = scene.gate("server: {maxConnections: 1, maxConnectionsPerPeer: 0}\n")
    scene.held = [gate.raw() for _ in range(3)]
    return gate, {}


@line("TLS handshakes failed")
def a_sender_without_https(scene):
    gate = scene.gate("", Secured(scene.folder).web())
    with gate.raw() as connection:
        connection.send(head("GET", "/health"))
        assert connection.read_to_end().startswith(b"HTTP/1.0 400 Bad Request\r\n")
    return gate, {"connections": "1", "outcome": "plain_http", "sender": "127.0.0.1",
                  "err": "not TLS: looks like plain HTTP"}


@line("connections closed for their PROXY headers")
def a_proxy_without_its_header(scene):
    gate = scene.gate("server: {proxyProtocol: true, trustedProxies: [127.0.0.9]}\n")
    with RawConnection(gate.address, source="127.0.0.9") as connection:
        connection.send(post(GOOD))
        assert connection.closed_within(5)
    return gate, {"connections": "1", "outcome": "malformed", "sender": "127.0.0.9"}


def without_descriptors(scene):
    gate = scene.gate()
    assert gate.send(GOOD).status == 204
    resource.prlimit(gate.pid, resource.RLIMIT_NOFILE, (48, 48))
    scene.held = [gate.raw() for _ in range(64)]
    return gate


SANITIZED = not SIMULATED and sanitized("asan", "tsan", "ubsan")  # its runtime wants to be loaded first
UBSAN = sanitized("ubsan")  # it asks with a pipe whether an object may be read


lines({"server.maxConnections is lowered, the process may have too few descriptors": lambda scene: (
    scene.gate(descriptors=256), {"configured": "8192", "descriptors": "256"})}, real=True)
lines({
    "server.maxConnections is lowered, there are fewer descriptors": lambda scene: (
        without_descriptors(scene), {"max_connections": "8"}),
    "cannot accept a connection": lambda scene: (without_descriptors(scene), {"err": "Too many open files"}),
}, real=True, unless=UBSAN)


about("the end, and another gate in its place")


def ended(scene):
    gate = scene.gate()
    gate.signal(signal.SIGINT)
    gate.wait()
    return gate


def keeps(scene):
    return f"state: {{dir: {scene.state}, interval: 1h}}\n"


def taken_over(scene):
    """The gate whose place was taken."""
    before = scene.gate(keeps(scene))
    assert before.get("/-/healthy").status == 200  # who is answered can meet it
    scene.gate(keeps(scene), "--takeover")
    before.wait()
    return before


lines({
    "draining": lambda scene: (ended(scene), {"signal": "SIGINT"}),
    "stopped": lambda scene: (ended(scene), {}),
    "handing over to another process": lambda scene: (taken_over(scene), {}),
    "another process serves in this one's place": lambda scene: (taken_over(scene), {}),
    "no gate listens at the takeover socket, so none is taken over": lambda scene: (scene.gate(keeps(scene), "--takeover"), {}),
    "the service manager cannot be told": lambda scene: (
        scene.gate(environment={"NOTIFY_SOCKET": "/nowhere/at/all"}), {"err": "No such file or directory"}),
}, real=True)


@line("the place was not handed over", real=True)
def somebody_asks_for_it(scene):
    gate = scene.gate(keeps(scene))
    assert gate.get("/-/healthy").status == 200  # who is answered can meet it
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as peer:
        peer.connect(str(scene.state / "takeover"))
        peer.send(b"hello")
        peer.recv(100)
    return gate, {"times": "1", "err": "whoever asked speaks another protocol, or is too slow"}


@line("state.dir is another process', the next save tries to get it back", real=True)
def somebody_keeps_the_state(scene):
    gate = scene.gate(keeps(scene))
    assert gate.get("/-/healthy").status == 200
    with open(scene.state / "lock") as lock:
        with asking(scene.state / "takeover") as peer:
            is_given_all(peer)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        eventually(lambda: gate.said("state.dir is another process', the next save tries to get it back"), "it says so")
    return gate, {}


@line("no other gate can take this one's place", real=True)
def a_file_where_gates_meet(scene):
    place = scene.folder / "met"
    place.write_text("")
    return scene.gate(f"server: {{takeoverSocket: {place}}}\n"), {"path": str(place), "err": "Address already in use"}


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


about("the store, its addresses and replicas")


@line("the clock has leapt by over an hour")
def a_clock_that_leaps(scene):
    clock = FakedClock(scene.folder, "2026-03-10 12:30:00")
    gate = scene.gate(environment=clock.environment)
    clock.set("2026-03-10 15:30:00")
    clock.await_doubt(gate, True)
    gate.stop()
    return gate, {"believed_in_minutes": "5"}


def without_a_store(scene, requests=1):
    gate = scene.gate()
    scene.upstream.stop()
    for _ in range(requests):
        assert gate.send(GOOD).status == 502
    return gate


lines({"the upstream has not answered": lambda scene: (without_a_store(scene), {
    "requests": "1", "reason": "connection_refused", "upstream": scene.upstream.host, "status": "502"})})


@line("the upstream answers again")
def a_store_that_is_back(scene):
    gate = without_a_store(scene)
    scene.keep(Upstream(port=scene.upstream.port))
    assert gate.send(GOOD).status == 204
    return gate, {"requests": "1", "upstream": scene.upstream.host, "status": "204"}


def two_backends(scene):
    """A gate before the upstream and another, which is there no more."""
    other = scene.keep(Upstream())
    other.stop()
    gate = scene.as_configured(f"upstream: {{urls: ['{scene.upstream.url}', '{other.url}']}}\n")
    assert [gate.send(GOOD).status for _ in range(2)] == [204] * 2
    return gate


@line("an address of the store is back")
def one_backend_that_comes_back(scene):
    gate = two_backends(scene)
    back = scene.keep(Upstream(port=scene.stores[0].port))
    eventually(lambda: gate.send(GOOD).status == 204 and back.requests, "it is asked again", 30)
    return gate, {"upstream": back.host}


def replicated(scene, best_effort):
    """@return a gate, and its replica"""
    replica = scene.keep(Upstream())
    return scene.as_configured(
        f"server: {{drainTimeout: 200ms}}\nupstream:\n  url: '{scene.upstream.url}'\n"
        f"  replicateTo: [{{url: '{replica.url}', bestEffort: {best_effort}}}]\n"), replica


def without_a_replica(scene, requests):
    """A gate that was asked so many times."""
    gate, replica = replicated(scene, "false")
    replica.stop()
    for _ in range(requests):
        assert gate.send(wire.pack(wire.sampled("up"))).status == 502
    return gate


lines({
    "an address of the store is out": lambda scene: (two_backends(scene), {
        "upstream": scene.stores[0].host, "outages": "1", "reason": "connection_refused"}),
    "a replica has not stored what it was sent": lambda scene: (without_a_replica(scene, 1), {
        "requests": "1", "samples": "1", "replica": scene.stores[0].host, "reason": "connection_refused"}),
    "a replica has not stored more of what it was sent": lambda scene: (without_a_replica(scene, 20), {
        "requests": "19", "samples": "19", "replica": scene.stores[0].host}),
})


@line("copies for replicas not finished, what is in them is lost")
def a_replica_that_is_slow(scene):
    gate, replica = replicated(scene, "true")
    replica.default = Answer(hold=threading.Event())
    assert gate.send(GOOD).status == 204
    eventually(lambda: replica.requests, "it is on its way")
    gate.signal()
    assert gate.wait() == 0
    replica.default.hold.set()
    return gate, {"requests": "1"}


@line("markers were not written")
def a_store_that_takes_no_markers(scene):
    clock = FakedClock(scene.folder, "2026-03-10 12:30:00")
    gate = scene.gate("marker: true\nmaxHourlySeries: 1\n", environment=clock.environment)
    offer(gate, scene.upstream, numbered(2), "shop")
    scene.upstream.default = Answer(400, body=b"no series for you\nnor you")
    clock.set("2026-03-10 12:31:00")
    return gate, {"markers": "1", "upstream": scene.upstream.host, "tenant": "shop", "reason": "400",
                  "err": "no series for you"}


about("bursts")


def partly_written(scene, requests):
    message = wire.pack(wire_v2.request(*({"__name__": "up", "job": job} for job in "abc")))
    return sent(scene, message, times=requests, headers=[*wire_v2.HEADERS, SHOP],
                answer=Answer(204, [("X-Prometheus-Remote-Write-Samples-Written", "1")]))


lines({
    "the store rejected more requests": lambda scene: (
        sent(scene, GOOD, 503, times=50, answer=Answer(503)), {"requests": "49", "status": "503", "senders": "retry"}),
    "the store wrote less of more requests": lambda scene: (
        partly_written(scene, 50), {"requests": "49", "samples": "98"}),
    "more requests without an answer": lambda scene: (
        without_a_store(scene, 50), {"requests": "49", "reason": "connection_refused"}),
})


about("what the store says, and its name")


lines({"the store rejected requests": lambda scene: (
    sent(scene, GOOD, 400, answer=Answer(400, [], b"out of order\nfor 7 days\n")),
    {"requests": "1", "status": "400", "senders": "drop", "err": "out of order"})})


def elsewhere(scene, names):
    return scene.as_configured(f"upstream: {{url: 'http://store.test:{scene.upstream.port}/w'}}\n{names.one_thread}",
                               environment=names.environment)


@line("the upstream's name does not resolve", unless=SANITIZED)
def a_name_that_nobody_knows(scene):
    return elsewhere(scene, FakedNames(scene.folder)), {"upstream": "store.test", "addresses_kept": "0"}


@line("the upstream's name resolves again", unless=SANITIZED)
def a_name_that_comes_late(scene):
    names = FakedNames(scene.folder)
    gate = elsewhere(scene, names)
    eventually(lambda: gate.said("the upstream's name does not resolve"), "it does not")
    names.set(**{"store.test": "127.0.0.1"})
    return gate, {"upstream": "store.test"}


about("fleets")


def a_gate_that_joins_others(scene, *forbidden):
    offer(scene.in_fleet(), scene.upstream, numbered(3))
    scene.stores[0].call("ACL", "SETUSER", "default", *forbidden)
    return scene.join_fleet()


lines({
    "joined the fleet": lambda scene: (scene.in_fleet(), {"namespace": "default", "gates": "1"}),
    "the fleet's series are known": lambda scene: (a_gate_that_joins_others(scene), {"series": "3", "incumbents": "0"}),
    "the fleet's series cannot be read": lambda scene: (a_gate_that_joins_others(scene, "-dump", "-sscan"), {}),
}, real=True)


@line("the shared store is away", real=True)
def a_shared_store_that_is_killed(scene):
    gate = scene.in_fleet()
    offer(gate, scene.upstream, numbered(3))  # so that it has heard of this hour's room
    scene.stores[0].kill()
    return gate, {"new_series": "a part of the room"}


@line("the shared store answers again", real=True)
def a_shared_store_that_is_back(scene):
    gate = a_shared_store_that_is_killed(scene)[0]
    eventually(lambda: gate.said("the shared store is away"), "it is")
    scene.stores[0].restart()
    return gate, {}


@line("the fleet's feed cannot be read", real=True)
def a_gate_that_must_not_read_the_feed(scene):
    gate = scene.in_fleet()
    scene.stores[0].call("ACL", "SETUSER", "default", "-xrange")
    offer(gate, scene.upstream, numbered(3))
    return gate, {}


@line("the shared store has lost data", real=True)
def a_shared_store_that_is_emptied(scene):
    gate = scene.in_fleet()
    eventually(lambda: gate.said("joined the fleet"), "it has joined")
    scene.stores[0].call("FLUSHALL")
    return gate, {"new_series": "refused"}


lines({"the shared store has its data again": lambda scene: (
    a_shared_store_that_is_emptied(scene)[0], {"gates": "1"})}, real=True)


def a_store_whose_clock_leaps(scene):
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None, microsecond=0)
    clock = FakedClock(scene.folder, str(now), runs=True)
    gate = scene.in_fleet(clock=clock)
    eventually(lambda: gate.said("joined the fleet"), "it has joined")
    offer(gate, scene.upstream, numbered(3))
    clock.set(str(now + datetime.timedelta(days=1)))
    return gate, clock


lines({"the shared store's clock is wrong": lambda scene: (
    a_store_whose_clock_leaps(scene)[0], {"new_series": "a part of the room"})}, real=True)


@line("the shared store's clock is right again", real=True)
def a_store_whose_clock_comes_back(scene):
    gate, clock = a_store_whose_clock_leaps(scene)
    eventually(lambda: gate.said("the shared store's clock is wrong"), "it is")
    clock.set(str(datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None, microsecond=0)))
    return gate, {}


about("what is confirmed, secrets and certificates")


lines({
    "the upstream does not confirm remote write 2": lambda scene: (
        sent(scene, wire.pack(wire_v2.request({"__name__": "up"})), headers=wire_v2.HEADERS),
        {"requests": "1", "samples": "1", "upstream": scene.upstream.host}),
    "the store wrote less than it was sent": lambda scene: (partly_written(scene, 1), {
        "requests": "1", "samples": "2", "upstream": scene.upstream.host, **OF_SHOP}),
    "a sender's query argument was left out, see upstream.forwardQuery": lambda scene: (
        sent(scene, wire.pack(wire.sampled("up")), path=f"{WRITE}?extra_label=a"),
        {"arguments": "1", "argument": "extra_label"}),
})


def with_token(scene, change):
    """A gate whose token is changed, and the file."""
    file = scene.folder / "token"
    file.write_text("one")
    gate = scene.gate(f"upstream: {{bearerTokenFile: {file}}}\n")
    change(file)
    return gate, {"key": "upstream.bearerTokenFile", "file": str(file)}


lines({
    "a secret file was read": lambda scene: with_token(scene, lambda file: file.write_text("two")),
    "a secret file cannot be used, what it held before is kept": lambda scene: (with_token(scene, Path.unlink)[0], {
        "key": "upstream.bearerTokenFile", "err": f"cannot read {scene.folder}/token: No such file or directory"}),
})


def with_certificate(scene, **how):
    authority = Authority(scene.folder)
    ours = authority.issue("gate.test", **how)
    return authority, ours, scene.as_configured(
        "upstream: {url: 'https://127.0.0.1:1/w', "
        f"tls: {{caFile: {authority.certificate}, certFile: {ours.certificate}, keyFile: {ours.key}}}}}\n")


@line("TLS files taken")
def another_certificate(scene):
    authority, ours, gate = with_certificate(scene)
    other = authority.issue("other.test")
    other.key.rename(ours.key)
    other.certificate.rename(ours.certificate)
    return gate, {"certificate": "CN=other.test", "file": str(ours.certificate)}


@line("TLS files not taken, the last good ones stay")
def a_certificate_that_is_gone(scene):
    _, ours, gate = with_certificate(scene)
    ours.certificate.unlink()
    return gate, {"err": f"cannot read {ours.certificate}: No such file or directory"}


@line("a TLS certificate expires soon, or has")
def a_certificate_that_has_expired(scene):
    _, ours, gate = with_certificate(scene, expired=True)
    return gate, {"not_after": "2020-01-02T00:00:00Z", "file": str(ours.certificate)}


# --- the test

def said_in(form, folder, message, provoke):
    """Provokes it, and looks at what is said then."""
    with Scene(form, folder) as scene:
        said_by, fields = provoke(scene)

        def events():
            lines = said_by if isinstance(said_by, list) else said_by.log.split("\n")[:-1]
            assert all(line.startswith("{") == (form == "json") for line in lines), lines
            return [event for event in map(parse, lines) if event["msg"] == message]

        event = eventually(events, f"a line: {message}", 30)[0]
        _, level, keys = log_lines(1)[message]
        assert (event["level"], list(event)[3:]) == (level, keys), (event, level, keys)
        assert {key: str(event[key]) for key in fields} == fields, (event, fields)
