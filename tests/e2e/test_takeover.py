"""One gate takes another's place while senders write: none of them is told of an error, and no count is lost."""

import contextlib
import fcntl
import itertools
import json
import math
import os
import shutil
import signal
import subprocess

import pytest

from answering import Answering
from busy import Busy
from client import Client, get, post
from gate import BINARY, run
from secure import Secured, connection
from servers import start_sender
from shared_stores import SharedStore
from taking_over import asking, is_given_all
from traffic import arrived, body, identity, numbered, offer
from upstream import Answer, Upstream
from waiting import eventually
from world import ThreadPoolExecutor, socket, threading, time

HANDED, GONE_ON = "another process serves in this one's place", "the place was not handed over"


@pytest.fixture
def kept(start_gate, upstream, tmp_path):
    """kept(text): a gate with state; @return a function that starts another in its place. Both are stopped after the test."""
    def start(text="", *flags, **how):
        text = f"state: {{dir: {tmp_path}/state, interval: 1h}}\n{text}"

        def take_over(*further):
            return start_gate(f"--upstream.url={upstream.url}", "--takeover", *flags, *further, config=text, **how)

        return start_gate(f"--upstream.url={upstream.url}", *flags, config=text, **how), take_over

    return start


def written(client, request):
    """As senders do: one whose idle connection has been closed meanwhile connects anew and writes again."""
    try:
        return client.write(request)
    except ConnectionError:
        client.close()
        return client.write(request)


@contextlib.contextmanager
def written_meanwhile(write, request):
    """What happens inside happens while `write` waits for the answer to the request, which is 204."""
    with ThreadPoolExecutor(1) as thread:
        reply = thread.submit(write, request)
        yield
        assert reply.result().status == 204


class Series(Busy):
    """Senders that write a new series with each request: half of them keep their connection, the others connect for
    each request."""

    def __init__(self, address):
        super().__init__(address, 6, self._send)
        self.offered, self.wrong = [], []
        self._numbers = itertools.count()

    def _send(self, kept, number):
        series = numbered(1, next(self._numbers), name=f"s{number}")[0]
        client = kept if number % 2 == 0 else Client(self._address)
        try:
            reply = written(client, body([series]))
            self.offered.append((identity(series), reply.refused is not None))
            if reply.status != 204:
                self.wrong.append(reply)
        except OSError as error:
            self.wrong.append(repr(error))
        if client is not kept:
            client.close()

    def answered(self, more):
        """Waits until so many more requests have been answered."""
        before = len(self.offered)
        eventually(lambda: len(self.offered) >= before + more, f"{more} more answers", 60)


@pytest.mark.parametrize("limit", [0, 150])
def test_three_in_a_row_cost_no_sender_anything(kept, upstream, limit):
    gate, take_over = kept(f"maxHourlySeries: {limit}\nfalsePositiveRate: 0.000000001\nserver: {{threads: 2}}\n")
    address = gate.address
    with Series(address) as senders:
        senders.answered(60)
        for _ in range(3):
            before, gate = gate, take_over()
            assert gate.address == address
            assert before.wait() == 0
            assert len(before.said(HANDED)) == 1
            assert len(gate.said("state loaded")) == 1
            senders.answered(60)
    assert senders.wrong == []
    came = arrived(upstream.requests)
    assert sorted(came) == sorted(series for series, is_refused in senders.offered if not is_refused)
    window = gate.stats["windows"]["hourly"]
    admitted = min(limit or len(senders.offered), len(senders.offered))
    assert window["currentSeries"] == len(came) == len(set(came)) == admitted
    assert window["refusedSamples"] == len(senders.offered) - admitted
    assert set(came) <= {series for series, _ in senders.offered}


def test_a_signal_to_the_gate_that_has_handed_over_changes_nothing_about_its_end(kept):
    gate, take_over = kept("maxHourlySeries: 20\n")
    take_over()
    while gate.running:
        gate.signal(signal.SIGTERM)
    assert gate.wait() == 0


def counted_in_hour(gate):
    window = gate.stats["windows"]["hourly"]
    return window["currentSeries"], window["overLimitSeries"]


def test_no_bound_beside_the_limits_begins_anew(kept, upstream):
    """What is exempt, ignored or completes a histogram, and all of it beyond its bound: twice, from one gate to the next."""
    gate, take_over = kept("maxHourlySeries: 20\nexempt: [up]\nmaxExemptSeries: 5\nignoreLabels: [replica]\n"
                           "maxIgnoredValues: 3\nwholeHistograms: true\nmaxHistogramSeries: 4\n")
    buckets = [{"__name__": "b_bucket", "le": str(bound)} for bound in range(30)]
    pair = [{"__name__": "m", "replica": f"r{at}"} for at in range(3)]
    series = pair + numbered(5, name="up") + buckets + numbered(20)
    passed = offer(gate, upstream, series)
    healthy = [each for each in series if each in passed]
    counted = counted_in_hour(gate)
    for _ in range(2):
        gate = take_over()
        assert offer(gate, upstream, series) == passed
        assert offer(gate, upstream, numbered(50, 5, name="up")) == []
        assert offer(gate, upstream, [{"__name__": "m", "replica": f"s{at}"} for at in range(50)]) == []
        assert offer(gate, upstream, [{"__name__": "b_bucket", "le": str(bound)} for bound in range(30, 60)]) == []
        assert offer(gate, upstream, healthy) == healthy
        assert counted_in_hour(gate) == counted


def test_idle_connections_are_closed(kept, upstream):
    gate, take_over = kept("server: {threads: 2}")
    clients = [Client(gate.address) for _ in range(150)]
    for number, each in enumerate(clients):
        assert each.write(body(numbered(1, number))).status == 204
    gate_after = take_over()
    gate.wait()
    for each in clients:
        assert each._connection.sock.recv(1) == b""
        each.close()
        assert each.write(body(numbered(1))).status == 204
    assert gate_after.metric("seriesgate_connections") == len(clients) + 1
    for each in clients:
        each.close()


def test_a_request_that_is_written_meanwhile_is_answered(kept, upstream):
    """The gate that has begun a request finishes it; a new connection waits for the next gate."""
    hold = threading.Event()
    gate, take_over = kept("server: {threads: 1, headerTimeout: 2m, readTimeout: 2m}")
    with socket.create_connection(gate.address) as half, ThreadPoolExecutor(1) as thread:
        request = post(body(numbered(1, 7)))
        half.sendall(request[:40])
        upstream.answers.append(Answer(hold=hold))
        with written_meanwhile(gate.send, body(numbered(1))):
            eventually(lambda: upstream.requests, "the slow request is at the store")
            made = thread.submit(take_over)
            eventually(lambda: gate.said("handing over to another process"), "the gate hands over")
            late = socket.create_connection(gate.address)  # nobody accepts it at the moment, and nobody refuses it
            late.sendall(request)
            half.sendall(request[40:])
            answer = half.recv(4096)
            assert answer.startswith(b"HTTP/1.1 204 ") and b"\r\nConnection: close\r\n" in answer
            assert half.recv(4096) == b""
            assert not made.done()
            hold.set()
        assert late.recv(4096).startswith(b"HTTP/1.1 204 ")
        late.close()
    assert gate.wait() == 0
    assert made.result().current() == 2


def test_a_reload_meanwhile_is_in_force_afterwards(kept, start_gate, upstream):
    """The new gate has read the file before; the old one says that it was reloaded."""
    hold = threading.Event()
    gate, _ = kept("maxHourlySeries: 100\n")
    upstream.answers.append(Answer(hold=hold))
    with written_meanwhile(gate.send, body(numbered(1))), ThreadPoolExecutor(1) as thread:
        eventually(lambda: upstream.requests, "the slow request is at the store")
        made = thread.submit(start_gate, f"--upstream.url={upstream.url}", f"--config.file={gate.config_file}", "--takeover")
        eventually(lambda: gate.said("handing over to another process"), "the gate hands over")
        gate.config_file.write_text(gate.config_file.read_text().replace("100", "7"))
        gate.signal(signal.SIGHUP)
        eventually(lambda: gate.said("configuration reloaded"), "the running gate does so")
        hold.set()
        after = made.result()
    eventually(lambda: after.stats["windows"]["hourly"]["maxSeries"] == 7, "the new gate has the limit")
    assert gate.wait() == 0


def test_a_replica_that_nobody_waits_for_delays_nothing(kept, keep):
    replica = keep(Upstream())
    replica.default = Answer(hold=threading.Event())
    gate, take_over = kept("server: {drainTimeout: 1s}\nupstream:\n"
                           f"  timeout: 1m\n  replicateTo: [{{url: '{replica.url}', bestEffort: true}}]\n")
    assert gate.send(body(numbered(1))).status == 204
    eventually(lambda: replica.requests, "the copy is on its way")
    after = take_over()
    assert after.current() == 1
    assert gate.wait() == 0
    assert gate.said("copies for replicas not finished, what is in them is lost", requests="1")
    replica.default.hold.set()


def test_a_unix_socket_and_one_for_people_go_along(kept, tmp_path):
    path = f"{tmp_path}/gate.sock"
    gate, take_over = kept("", "--admin.listen=127.0.0.1:0", listen=f"unix:{path}")
    with Client(path) as writes, Client(gate.admin_address) as asks:
        assert writes.write(body(numbered(1))).status == 204
        eventually(lambda: asks.get("/-/ready").status == 200, "it is ready")
        after = take_over()
        assert gate.wait() == 0
        assert written(writes, body(numbered(1, 1))).status == 204
        asks.close()
        assert asks.get("/stats").status == 200
    assert (after.address, after.admin_address) == (path, gate.admin_address)
    assert os.path.exists(path)
    assert get(after.admin_address, "/api/v1/write").status == 404
    after.stop()
    assert not os.path.exists(path)


def test_readiness_is_not_interrupted(kept, upstream):
    gate, take_over = kept()
    eventually(lambda: get(gate.address, "/-/ready").status == 200, "it is ready")
    statuses = []
    with Busy(gate.address, 1, lambda *_: statuses.append(get(gate.address, "/-/ready").status)):
        take_over()
        gate.wait()
    assert set(statuses) == {200}


def test_senders_with_tls_connect_anew(kept, upstream, tmp_path):
    secured = Secured(tmp_path)
    gate, take_over = kept("", secured.web(), authority=str(secured.authority.certificate))
    idle = connection(gate.address, secured.trusting())
    idle.request("GET", "/-/ready")
    assert idle.getresponse().read()
    after = take_over()
    assert gate.wait() == 0
    assert idle.sock.recv(1) == b""
    assert after.send(body(numbered(1))).status == 204


# --- nothing to take


def test_without_a_place_to_meet_it_is_a_mistake():
    result = run("--upstream.url=discard:", "--takeover")
    assert (result.returncode, result.stderr) == (1, "seriesgate: --takeover: state.dir or server.takeoverSocket has to say "
                                                     "where the gate that runs can be met\n")


# --- the new gate fails

def unharmed(gate, upstream, known):
    """It serves as before: what it knew is known, and it accepts connections."""
    assert gate.running
    assert gate.get("/-/ready").status == 200
    assert gate.current() == known
    assert offer(gate, upstream, numbered(known)) == numbered(known)
    assert gate.current() == known


def test_a_gate_that_cannot_start_changes_nothing(kept, upstream, tmp_path):
    gate, _ = kept()
    offer(gate, upstream, numbered(3))
    with socket.create_server(("127.0.0.1", 0)) as taken, Client(gate.address) as client:
        client.get("/-/ready")
        port = client._connection.sock.getsockname()
        file = tmp_path / "wrong.yaml"
        for text, status in (("maxHourlySeries: many\n", 1), (f"listen: 127.0.0.1:{taken.getsockname()[1]}\n", 2)):
            file.write_text(f"state: {{dir: {tmp_path}/state}}\n{text}")
            result = run(f"--config.file={file}", f"--upstream.url={upstream.url}", "--takeover")
            assert result.returncode == status, result.stderr
            assert client.get("/-/ready").status == 200
            assert client._connection.sock.getsockname() == port
    assert not gate.said("handing over to another process")
    unharmed(gate, upstream, 3)


@contextlib.contextmanager
def never_ready(gate, folder, listen="127.0.0.1:0"):
    """A gate that takes over and whose upstream's name does not resolve: it has the state and waits, and the other one for it."""
    log = folder / "never-ready.log"
    with open(log, "wb") as said:
        other = subprocess.Popen([BINARY, f"--config.file={gate.config_file}", f"--listen={listen}", "--takeover",
                                  "--upstream.url=http://nowhere.invalid/write"], stdout=subprocess.DEVNULL, stderr=said)
    try:
        eventually(lambda: "name does not resolve" in log.read_text(), "the new gate has the state")
        yield other
    finally:
        other.terminate()
        other.wait(30)


def test_a_gate_that_dies_before_it_serves_leaves_the_place(kept, start_gate, upstream, tmp_path):
    """The one that ran gets its lock back, and all connections that have come meanwhile."""
    gate, take_over = kept("server: {threads: 2}")
    offer(gate, upstream, numbered(3))
    for how in (signal.SIGKILL, signal.SIGTERM):
        with Client(gate.address) as client:
            assert client.write(body(numbered(1))).status == 204
            with never_ready(gate, tmp_path) as other, written_meanwhile(gate.send, body(numbered(1))):
                other.send_signal(how)
                other.wait(30)
            assert written(client, body(numbered(1))).status == 204
        eventually(lambda: gate.said(GONE_ON), "the log says so")
        assert {event["err"] for event in gate.said(GONE_ON)} == {"the new process has ended it"}
        unharmed(gate, upstream, 3)
    offer(gate, upstream, numbered(5))
    after = take_over()
    assert gate.wait() == 0
    assert after.current() == 5


def test_a_gate_that_dies_when_the_other_has_all_leaves_its_place(kept, upstream, tmp_path):
    """Nobody else has the listeners and the counts then."""
    gate, _ = kept("server: {threads: 2}")
    offer(gate, upstream, numbered(3))
    with Client(gate.address) as client:
        assert client.get("/-/ready").status == 200
        with never_ready(gate, tmp_path) as other:
            gate.crash()
            client.close()
            assert client.get("/-/ready").status == 503  # for it knows no address of its store
            assert gate.current() == 3
    assert other.returncode == 0


def test_a_gate_that_is_told_to_end_when_the_other_has_all_leaves_its_unix_socket(kept, tmp_path):
    path = f"{tmp_path}/gate.sock"
    gate, _ = kept(listen=f"unix:{path}")
    eventually(lambda: get(path, "/-/ready").status == 200, "it is ready")
    with never_ready(gate, tmp_path, f"unix:{path}") as other:
        gate.signal(signal.SIGTERM)
        assert gate.wait() == 0
        assert get(path, "/-/ready").status == 503
    assert other.returncode == 0
    assert not os.path.exists(path)


def test_a_connection_that_says_nothing_delays_it_by_seconds_at_most(kept, tmp_path):
    secured = Secured(tmp_path)
    gate, take_over = kept("server: {handshakeTimeout: 5m, drainTimeout: 5m}\n", secured.web(),
                           authority=str(secured.authority.certificate))
    with socket.create_connection(gate.address):
        eventually(lambda: gate.metric("seriesgate_tls_handshakes_running") == 1, "it is accepted")
        began = time.monotonic()
        take_over()
        assert gate.wait() == 0
        assert time.monotonic() - began < 15  # and not the minutes of the two limits


def test_what_is_begun_and_does_not_end_leaves_the_place(kept, upstream, tmp_path):
    gate, _ = kept("server: {drainTimeout: 500ms, threads: 1}")
    hold = threading.Event()
    upstream.answers.append(Answer(hold=hold))
    with written_meanwhile(gate.send, body(numbered(1))):
        eventually(lambda: upstream.requests, "the request is at the store")
        result = run(f"--config.file={gate.config_file}", f"--upstream.url={upstream.url}", "--listen=127.0.0.1:0", "--takeover")
        assert result.returncode == 2
        assert "the running gate: requests were not finished within server.drainTimeout" in result.stderr
        hold.set()
    unharmed(gate, upstream, 1)


def test_a_state_that_cannot_be_saved_leaves_the_place(kept, upstream, tmp_path):
    gate, _ = kept()
    offer(gate, upstream, numbered(2))
    (tmp_path / "state" / "state" / "in the way").mkdir(parents=True)
    result = run(f"--config.file={gate.config_file}", f"--upstream.url={upstream.url}", "--listen=127.0.0.1:0", "--takeover")
    assert (result.returncode, "the running gate: the state was not saved" in result.stderr) == (2, True)
    unharmed(gate, upstream, 2)
    shutil.rmtree(tmp_path / "state" / "state")


def test_whoever_keeps_the_state_for_a_while_costs_no_count(kept, upstream, tmp_path):
    """As a gate does that is loading it, and is not waited for any more."""
    gate, take_over = kept()
    offer(gate, upstream, numbered(2))
    with open(tmp_path / "state" / "lock") as lock:
        with asking(tmp_path / "state" / "takeover") as peer:
            is_given_all(peer)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        eventually(lambda: gate.said("state.dir is another process', the next save tries to get it back"), "the log says so")
        eventually(lambda: gate.said(GONE_ON), "it goes on")
        unharmed(gate, upstream, 2)
        assert offer(gate, upstream, numbered(5)) == numbered(5)
    gate.stop()
    assert take_over().current() == 5


# --- who else asks

@pytest.fixture
def met(open_folder, limited):
    """A gate that can be met at a path of its own, and that path."""
    path = str(open_folder / "takeover")
    gate = limited(f"server: {{takeoverSocket: {path}}}\n")
    assert gate.get("/-/healthy").status == 200  # who is answered can meet it
    return gate, path


def test_whoever_speaks_another_protocol_changes_nothing(met, upstream):
    gate, path = met
    offer(gate, upstream, numbered(2))
    for said in (b"hello", b"\0" * 1024, b"x" * 5000, b"seriesgate takeover 2"):
        with asking(path) as peer:
            peer.send(said)
            assert peer.recv(1024) == b"no whoever asked speaks another protocol, or is too slow"
        unharmed(gate, upstream, 2)
    asking(path).close()
    eventually(lambda: gate.said(GONE_ON), "the log says so")
    unharmed(gate, upstream, 2)


def is_offered_the_listeners(peer):
    peer.send(b"seriesgate takeover 1")
    message, given, _, _ = socket.recv_fds(peer, 1024, 4)
    assert (message, len(given)) == (b"socket gate", 1)
    os.close(given[0])
    assert peer.recv(1024) == b"that is all"


@pytest.mark.parametrize("word, answer", [(b"stop", b"no the new process has ended it"), (None, None), (b"go", b"yours")],
                         ids=["another word", "no word", "when the place is free"])
def test_whoever_stops_amid_it_changes_nothing(met, upstream, word, answer):
    gate, path = met
    offer(gate, upstream, numbered(2))
    with asking(path) as peer:
        is_offered_the_listeners(peer)
        if word:
            peer.send(word)
            assert peer.recv(1024) == answer
    eventually(lambda: gate.said(GONE_ON), "the log says so")
    unharmed(gate, upstream, 2)


def test_whoever_goes_at_once_again_and_again_changes_nothing(met, upstream):
    """Connections are on their way out when they are wanted back."""
    gate, path = met
    with Series(gate.address) as senders:
        for _ in range(30):
            with asking(path) as peer:
                is_offered_the_listeners(peer)
                peer.send(b"go")
            senders.answered(3)
    assert senders.wrong == []
    assert gate.current() == len(senders.offered) == len(arrived(upstream.requests))
    assert not gate.said("cannot accept a connection")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_turned_away(met, upstream):
    gate, path = met
    os.chmod(path, 0o666)
    ask = ("import socket, sys; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.settimeout(20); s.connect(sys.argv[1]);"
           "print(s.recv(1024).decode())")
    result = subprocess.run(["/usr/bin/python3", "-c", ask, path], user=65534, group=65534, capture_output=True, text=True,
                            timeout=30)
    assert result.stdout == "no it is a process of the user 65534\n", result.stderr
    eventually(lambda: gate.said(GONE_ON), "the log says so")
    assert [event["err"] for event in gate.said(GONE_ON)] == ["it is a process of the user 65534"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_whose_file_is_in_the_way_is_told(start_gate, upstream, tmp_path):
    path = tmp_path / "met"
    path.write_text("")
    os.chown(path, 65534, 65534)
    gate = start_gate(f"--upstream.url={upstream.url}", config=f"server: {{takeoverSocket: {path}}}\n")
    line, = eventually(lambda: gate.said("no other gate can take this one's place"), "the log says so")
    assert line["err"] == "Address already in use; what is there belongs to the user 65534"


# --- fleets and real senders

def test_a_gate_of_a_fleet_leaves_its_place(start_gate, upstream, keep, tmp_path):
    store = keep(SharedStore("redis", tmp_path))
    (tmp_path / "secret").write_bytes(bytes(range(32)))
    text = (f"shared: {json.dumps({**store.settings_of(0), 'timeout': '10s'})}\nmaxHourlySeries: 200\n"
            f"falsePositiveRate: 0.000000001\nfingerprint: {{secretFile: {tmp_path}/secret}}\n"
            f"server: {{takeoverSocket: {tmp_path}/t, threads: 2}}\n")
    gate = start_gate(f"--upstream.url={upstream.url}", config=text)
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    looked = []

    def look(*_):
        looked.extend(each.split() for each in store.call("HVALS", "sg:{default}:4:gates"))

    with Series(gate.address) as senders, Busy(gate.address, 1, look):
        senders.answered(40)
        for _ in range(2):
            before, gate = gate, start_gate(f"--upstream.url={upstream.url}", "--takeover", config=text)
            assert before.wait() == 0
            senders.answered(40)
        eventually(lambda: len(senders.offered) > 220 and len(looked) > 50, "the limit is spent, and was looked at", 60)
    left = [record for record in looked if record[2] == "-2"]
    assert (senders.wrong, left) == ([], [])  # the other one is there in its place
    came = arrived(upstream.requests)
    assert len(came) == len(set(came)) == 200
    assert gate.current() == 200


def values_of(pb, requests, name):
    """The values of that metric's samples, in the order in which they arrived, without stale markers."""
    return [sample.value for request in requests for series in pb.WriteRequest.FromString(request.raw).timeseries
            if any((label.name, label.value) == (b"__name__", name) for label in series.labels)
            for sample in series.samples if not math.isnan(sample.value)]


@pytest.mark.slow
@pytest.mark.parametrize("sender", ["Prometheus", "vmagent"])
def test_a_real_sender_loses_nothing(kept, upstream, keep, tmp_path, pb, sender):
    """Each scrape's number is at the store, and each once, whichever gate it came through."""
    numbers = itertools.count(1)
    target = keep(Answering(lambda _: f"scrape_number {next(numbers)}\n".encode()))
    gate, take_over = kept()
    process = keep(start_sender(sender, tmp_path, gate, {"p": target}, queue="batch_send_deadline: 100ms, min_shards: 4",
                               flags=("-remoteWrite.flushInterval=100ms",)))

    def found():
        return values_of(pb, upstream.requests, b"scrape_number")

    def writes_on():
        count = len(found())
        eventually(lambda: len(found()) >= count + 3, "it writes", 60)

    for _ in range(3):
        writes_on()
        before, gate = gate, take_over()
        assert before.wait() == 0
    writes_on()
    if sender == "Prometheus":
        assert process.metric("prometheus_remote_storage_samples_failed_total") == 0
        assert process.metric("prometheus_remote_storage_samples_dropped_total") == 0
    process.stop()
    came = found()
    assert len(came) == len(set(came))
    missing = set(range(1, int(max(came)) + 1)) - set(came)
    assert len(missing) <= values_of(pb, upstream.requests, b"up").count(0), missing  # too late for the sender
