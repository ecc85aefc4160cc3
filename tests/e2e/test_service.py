"""A gate that a service manager runs: what it is told, and sockets that it gives."""

import itertools
import os
import re
import subprocess

import pytest

from busy import Busy
from client import Client, get
from gate import ACTIVATE, BINARY, sanitized
from service_manager import ServiceManager, StuckThread, threads
from traffic import body, numbered, offer
from waiting import eventually
from world import socket, time


@pytest.fixture
def manager(keep, tmp_path):
    return keep(ServiceManager(tmp_path))


# --- what it is told

def test_the_manager_is_told_when_the_gate_is_ready_and_when_it_stops(manager, start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", environment=manager.environment())
    eventually(lambda: "READY=1" in manager.texts, "it says that it is ready")
    assert gate.get("/-/ready").status == 200
    gate.stop()
    assert manager.texts[-1].split("\n") == ["STOPPING=1", "STATUS=draining"]
    assert manager.texts.count("READY=1") == 1
    assert not gate.said("the service manager cannot be told")


def test_a_gate_that_is_not_ready_does_not_say_so(manager, start_gate):
    gate = start_gate("--upstream.url=http://nowhere.invalid/api/v1/write", environment=manager.environment())
    eventually(lambda: gate.get("/-/ready").body.startswith(b"starting: "), "it has tried to resolve the name")
    assert gate.get("/-/healthy").status == 200  # what probes of Kubernetes ask for before they let a Prometheus start
    gate.signal(1)  # SIGHUP: the end of a reload would be taken for the end of the start
    status = eventually(lambda: manager.texts, "the status says what it waits for")
    assert len(status) == 1
    assert status[0].startswith("STATUS=starting: the upstream's name does not resolve: nowhere.invalid"), status
    gate.stop()
    assert manager.texts[1:] == ["STOPPING=1\nSTATUS=draining"]


def test_a_reload_has_a_beginning_and_an_end(manager, start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", environment=manager.environment(), config="")
    eventually(lambda: "READY=1" in manager.texts, "it says that it is ready")
    asked = time.clock_gettime(time.CLOCK_MONOTONIC)
    gate.signal(1)
    eventually(lambda: manager.texts.count("READY=1") == 2, "the reload has ended")
    begins = [text for text in manager.texts if text.startswith("RELOADING=1\n")]
    assert len(begins) == 1
    assert manager.texts.index(begins[0]) < len(manager.texts) - 1 - manager.texts[::-1].index("READY=1")
    when = int(re.fullmatch(r"RELOADING=1\nMONOTONIC_USEC=(\d+)", begins[0])[1]) / 1e6
    assert asked <= when <= asked + 15
    assert gate.reload("maxHourlySeries: many\n").status == 400
    eventually(lambda: manager.texts.count("READY=1") == 3, "one that finds a mistake has ended, too")


def fill(address):
    """Sends as much as one socket can. @return how many datagrams"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
        made.setblocking(False)
        for count in range(100_000):
            try:
                made.sendto(b"X=1", address)
            except BlockingIOError:
                return count
    raise AssertionError("the queue has no end")


@pytest.mark.parametrize("err", ["No such file or directory", "Resource temporarily unavailable"], ids=["away", "full"])
def test_a_manager_that_does_not_listen_holds_nobody_up(start_gate, upstream, manager, err):
    """It is not there, or its queue is full: the gate neither waits nor says more than one line."""
    while fill(manager.address):  # each socket by itself may send only so much
        pass
    environment = {"NOTIFY_SOCKET": "/nowhere/at/all"} if "No such" in err else manager.environment()
    gate = start_gate(f"--upstream.url={upstream.url}", environment=environment, config="")
    assert gate.send(body(numbered(1))).status == 204
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    for _ in range(3):
        assert gate.post("/-/reload").status == 200
    said = eventually(lambda: gate.said("the service manager cannot be told"), "the log says so")
    assert [event["err"] for event in said] == [err]


# --- signs of life

def test_signs_of_life_come_twice_in_the_time_that_they_are_waited_for(manager, start_gate, upstream):
    start_gate(f"--upstream.url={upstream.url}", environment=manager.environment(watchdog=2))
    eventually(lambda: len(manager.times("WATCHDOG=1")) >= 9, "nine signs of life", 60)
    times = manager.times("WATCHDOG=1")
    gaps = sorted(later - sooner for sooner, later in zip(times, times[1:]))
    assert gaps[len(gaps) // 2] <= 1, gaps  # where the machine stands still, some are longer


def test_nobody_gets_a_sign_of_life_who_does_not_wait_for_one(manager, start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", environment=manager.environment(watchdog=0.4, pid=1))
    eventually(lambda: any(text.startswith("STATUS=") for text in manager.texts), "a status")
    gate.send(body(numbered(1)))
    eventually(lambda: "STATUS=hour: 1 series, 0 refused; upstream up" in manager.texts, "the next, seconds later", 30)
    assert not manager.times("WATCHDOG=1")


@pytest.mark.skipif(sanitized("asan", "tsan"), reason="the thread that is stopped may hold a lock of the sanitizer's")
def test_a_worker_that_is_stuck_ends_the_signs_of_life(manager, start_gate, upstream):
    """One of two workers stops where it is. The front desk still answers, and nothing else shows that connections hang."""
    gate = start_gate(f"--upstream.url={upstream.url}", config="server: {threads: 2}",
                      environment=manager.environment(watchdog=2))
    assert sorted(name for name in threads(gate.pid) if name.startswith("worker-")) == ["worker-0", "worker-1"]
    eventually(lambda: len(manager.times("WATCHDOG=1")) >= 2, "signs of life")
    with StuckThread(gate.pid, "worker-1"):
        stuck = time.monotonic()
        eventually(lambda: time.monotonic() - manager.times("WATCHDOG=1")[-1] > 2, "none for as long as they are waited for")
        assert gate.get("/-/ready").status == 200
        assert manager.times("WATCHDOG=1")[-1] < stuck + 2
    before = len(manager.times("WATCHDOG=1"))
    eventually(lambda: len(manager.times("WATCHDOG=1")) > before, "signs of life again")


# --- sockets that are given

def listening(family=socket.AF_INET, address=("127.0.0.1", 0)):
    made = socket.socket(family)
    made.bind(address)
    made.listen(128)
    return made


def test_the_gate_serves_at_the_socket_that_is_given(start_gate, upstream):
    with listening() as given:
        gate = start_gate(f"--upstream.url={upstream.url}", given={"gate": given}, listen="127.0.0.1:1")
        assert gate.address == gate.admin_address == given.getsockname()
        assert offer(gate, upstream, numbered(3)) == numbered(3)
        assert list(gate.open_files()).count(f"socket:[{os.fstat(given.fileno()).st_ino}]") == 1


def test_each_socket_is_found_its_use_by_its_name(start_gate, upstream):
    with listening() as gate_socket, listening() as admin_socket:
        gate = start_gate(f"--upstream.url={upstream.url}", "--admin.listen=127.0.0.1:1", listen="127.0.0.1:2",
                          given={"admin": admin_socket, "gate": gate_socket})
        assert (gate.address, gate.admin_address) == (gate_socket.getsockname(), admin_socket.getsockname())
        assert get(gate.address, "/-/ready").status == 404
        eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")


def test_the_file_of_a_given_unix_socket_is_left_where_it_is(start_gate, upstream, tmp_path):
    """And the address for people, which is not given, is opened."""
    path = str(tmp_path / "s")
    with listening(socket.AF_UNIX, path) as given:
        gate = start_gate(f"--upstream.url={upstream.url}", "--admin.listen=127.0.0.1:0", listen=f"unix:{path}", given={"x": given})
        eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
        gate.stop()
        assert os.path.exists(path)


def refused(names, numbers, *flags):
    """What a gate says that does not start with these."""
    result = subprocess.run([os.sys.executable, "-c", ACTIVATE, ":".join(names), *map(str, numbers), str(BINARY),
                             "--upstream.url=discard:", *flags], capture_output=True, text=True, timeout=30,
                            pass_fds=numbers)
    assert result.returncode == 2, result.stderr
    return re.search(r'err="(.*)"', result.stderr)[1]


def test_a_socket_that_fits_nowhere_is_a_mistake():
    """Whoever connects to it would wait for ever. More: tests/process/inherited_sockets_test.cpp."""
    with listening() as one, socket.socket() as silent:
        at = "127.0.0.1:%d" % one.getsockname()[1]
        assert refused(["x"], [one.fileno()], "--listen=127.0.0.1:1") == (
            f"the socket {at} that was given as 'x' is neither at listen (127.0.0.1:1): call it gate (FileDescriptorName=)")
        silent.bind(("127.0.0.1", 0))
        assert "does not listen for connections" in refused(["gate"], [silent.fileno()])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            assert "does not listen for connections" in refused(["gate"], [datagrams.fileno()])


def test_sockets_for_another_process_are_not_taken(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", environment={"LISTEN_PID": "1", "LISTEN_FDS": "1"})
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")


def test_a_restart_under_load_refuses_no_connection(start_gate, upstream, tmp_path):
    """systemd keeps the socket. Whoever connects while nobody accepts waits, and is answered by the next gate."""
    statuses, numbers = [], itertools.count()

    def connect_and_write(_, number):
        with Client(given.getsockname()) as client:
            statuses.append(client.write(body(numbered(1, next(numbers), name=f"s{number}"))).status)

    def start():
        return start_gate(f"--upstream.url={upstream.url}", given={"gate": given}, listen=None,
                          config=f"listen: 127.0.0.1:1\nstate: {{dir: {tmp_path}/state}}\n")

    def go_on():
        before = len(statuses)
        eventually(lambda: len(statuses) >= before + 50, "senders are answered")

    with listening() as given:
        gate = start()
        with Busy(given.getsockname(), 4, connect_and_write):
            for _ in range(3):
                go_on()
                gate.stop()
                gate = start()
            go_on()
        gate.stop()
    assert set(statuses) == {204}
    assert len(upstream.requests) == len(statuses)
