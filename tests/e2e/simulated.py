"""A world that stands still: sockets, threads and clocks of tests, senders and stores, beside a gate on a network in memory.

The gate is in a process of its own (tests/simulation/simulated_gate.cpp). Nothing happens there but at our command, and time
goes on only when all of us wait. Threads are cooperative: one runs, and goes on until it waits. So one test is one history,
whatever else the machine does, and a time limit of a minute takes some milliseconds.

world.py chooses between this and the machine's own.
"""

import io
import itertools
import select as real_select
import socket as real_socket
import ssl as real_ssl
import subprocess
import threading as real_threading
import time as real_time
import types
from collections import deque

HOUR = 3600
NEVER = 24 * HOUR  # nobody waits longer, in vain or not
STUCK = 20  # so many of the machine's seconds no thread goes on without waiting


class Gone(BaseException):
    """The test is over, and with it its threads."""


class _Task:
    """A thread, or the test itself."""

    def __init__(self):
        self.turn = real_threading.Lock()  # held, but while it is given
        self.turn.acquire()
        self.holds = None  # what it waits for
        self.deadline = None
        self.result = None
        self.ended = False


class Stage:
    """The gate's process, and whose turn it is."""

    def __init__(self, binary):
        self._binary = binary
        self._process = None
        self._is_asking = False
        self._ids = itertools.count(1)
        self.sockets = {}
        self.log = []
        self.gate_state = "none"
        self._now = 0
        self._tasks, self._current = [], None
        self.is_over = True
        self._spent = 0
        self._asked = 0  # so many commands

    # --- one test

    def begin(self, seed=1):
        """A world without a gate, at 20 minutes past the machine's next hour: files and certificates are of the past."""
        if self._is_asking and self._process:  # a test was interrupted
            self._process.kill()
            self._process.wait()
        if self._process is None or self._process.poll() is not None:
            self._is_asking = False
            self._process = subprocess.Popen([self._binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 16)
        self.sockets.clear()
        self.log = []
        self._tasks = [_Task()]
        self._current = self._tasks[0]
        self.is_over = False
        self.begins = (int(real_time.time()) // HOUR + 1) * HOUR + 20 * 60
        self.ask("begin", seed, self.begins)
        self._origin = self._now
        self._offset, self._stopped = self.begins, None
        self.ask("name", "localhost", "127.0.0.1")

    def end(self):
        """Threads that wait still are over."""
        self.is_over = True
        for task in self._tasks[1:]:
            if not task.ended:
                task.turn.release()
                assert self._tasks[0].turn.acquire(timeout=STUCK)
        self._tasks = self._tasks[:1]
        if self._process.poll() is None:
            self.is_over = False
            self.ask("begin", 1, self.begins)
            self.is_over = True

    def finish(self):
        """Ends the process, and it has to end well: a sanitizer looks for leaks then."""
        if self._process and self._process.poll() is None:
            self._process.stdin.close()
            assert self._process.wait(120) == 0

    # --- the gate's process

    @property
    def pid(self):
        return self._process.pid

    def ask(self, *words, payload=b""):
        """@return (outcome, bytes)"""
        if self.is_over:
            raise Gone
        self._asked += 1
        self._is_asking = True
        try:
            self._process.stdin.write(f"{' '.join(map(str, words))} {len(payload)}\n".encode() + payload)
            self._process.stdin.flush()
            head = self._process.stdout.readline()
            outcome, now, self.gate_state, logged, size = head.decode().split()
        except (BrokenPipeError, ValueError):
            self.gate_state = "ended"
            raise AssertionError(f"the simulated gate has crashed, exit status {self._process.wait(20)}") from None
        self._now = int(now)
        if int(logged):
            self.log.append(self._process.stdout.read(int(logged)))
        answer = self._process.stdout.read(int(size)) if int(size) else b""
        self._is_asking = False
        return outcome, answer

    def new_id(self):
        return next(self._ids)

    # --- clocks

    def monotonic(self):
        return self._now / 1e9

    def time(self):
        return self._stopped if self._stopped is not None else self._offset + (self._now - self._origin) / 1e9

    def set_time(self, seconds, stands_still=False):
        """The time of day leaps."""
        self._stopped = seconds if stands_still else None
        self._offset = seconds - (self._now - self._origin) / 1e9
        self.ask("stop" if stands_still else "clock", int(seconds))

    # --- whose turn it is

    def wait(self, holds, seconds=None):
        """Lets others go on, and the time, until holds() or so many seconds are over. @return holds()"""
        me = self._current
        me.holds = holds
        me.deadline = None if seconds is None else self._now + int(seconds * 1e9)
        following = self._next()
        if following is not me:
            self._give(following)
            asked = None
            while not me.turn.acquire(timeout=STUCK):
                if self._asked == asked:  # nobody has gone on
                    raise AssertionError("a thread of the test waits for something outside of the simulation")
                asked = self._asked
        if self.is_over:
            raise Gone
        return me.result

    def spawn(self, work):
        task = _Task()
        task.holds = lambda: True
        self._tasks.append(task)

        def run():
            task.turn.acquire()
            try:
                if not self.is_over:
                    work()
            except Gone:
                pass
            finally:
                task.ended = True
                if self.is_over:
                    self._tasks[0].turn.release()
                else:
                    self._tasks.remove(task)
                    try:
                        self._give(self._next())
                    except AssertionError:  # the gate has crashed: the test learns it when it asks
                        self._give(self._tasks[0])

        real_threading.Thread(target=run, daemon=True).start()
        return task

    def _give(self, task):
        self._current = task
        task.turn.release()

    def _next(self):
        """Who goes on: the next one in turn that has nothing to wait for."""
        while True:
            at = self._tasks.index(self._current) + 1 if self._current in self._tasks else 0
            for task in self._tasks[at:] + self._tasks[:at]:
                result = task.holds()
                if result or (task.deadline is not None and self._now >= task.deadline):
                    task.result = result
                    return task
            self._go_on()

    def _go_on(self):
        deadlines = [task.deadline for task in self._tasks if task.deadline is not None]
        _, events = self.ask("run", min(deadlines, default=self._now + NEVER * 10**9))
        if not events and not deadlines:
            raise AssertionError("all wait for something that does not come")
        for line in events.decode().splitlines():
            kind, number, *more = line.split()
            known = self.sockets.get(int(number))
            if known:
                known.happened(kind, *more)

    def spend(self, seconds=1e-4):
        """What a system call takes: who makes them without end is not alone in the world."""
        self._spent += seconds
        if self._spent >= 1e-3:
            self._spent = 0
            self.wait(lambda: False, 1e-3)

    def run_ready(self):
        """All that can be done is done, without the time going on."""
        self.wait(lambda: False, 0)


STAGE = None  # set by begin_session


def begin_session(binary):
    global STAGE
    STAGE = Stage(binary)
    return STAGE


# --- time

class _Module(types.ModuleType):
    """What stands here, and of the machine's module what does nothing: constants, exceptions, and `names`."""

    def __init__(self, real, names=(), **ours):
        super().__init__(real.__name__)
        self.__dict__.update(ours)
        self._real, self._names = real, names

    def __getattr__(self, name):
        if name not in self._names and not name.isupper():
            raise AttributeError(f"a simulation has no {self.__name__}.{name}")
        return getattr(self._real, name)


def _sleep(seconds):
    STAGE.wait(lambda: False, seconds)


time = _Module(real_time, ("gmtime", "strftime", "process_time", "thread_time"), sleep=_sleep,
               monotonic=lambda: STAGE.monotonic(), perf_counter=lambda: STAGE.monotonic(),
               time=lambda: STAGE.time())


# --- threads

class Thread:
    _names = itertools.count(1)

    def __init__(self, group=None, target=None, name=None, args=(), kwargs=None, daemon=None):
        self._work = lambda: target(*args, **(kwargs or {})) if target else self.run()
        self.name, self.daemon = name or f"thread {next(self._names)}", daemon
        self._task = None

    def start(self):
        self._task = STAGE.spawn(self._work)

    def run(self):
        pass

    def is_alive(self):
        return self._task is not None and not self._task.ended

    def join(self, timeout=None):
        task = self._task
        STAGE.wait(lambda: task.ended, timeout)


class Event:
    def __init__(self):
        self._set = False

    def is_set(self):
        return self._set

    def set(self):
        self._set = True

    def clear(self):
        self._set = False

    def wait(self, timeout=None):
        return STAGE.wait(self.is_set, timeout)


class Lock:
    def __init__(self):
        self._held = False

    def acquire(self, blocking=True, timeout=-1):
        if self._held and (not blocking or not STAGE.wait(lambda: not self._held, None if timeout < 0 else timeout)):
            return False
        self._held = True
        return True

    def release(self):
        self._held = False

    def __enter__(self):
        self.acquire()

    def __exit__(self, *_):
        self.release()


threading = _Module(real_threading, ("current_thread",), Thread=Thread, Event=Event, Lock=Lock)


class _Future:
    def __init__(self):
        self._done, self._value, self._error = False, None, None

    def done(self):
        return self._done

    def result(self, timeout=None):
        if not STAGE.wait(self.done, timeout):
            raise TimeoutError
        if self._error:
            raise self._error
        return self._value


class ThreadPoolExecutor:
    """As concurrent.futures has it."""

    def __init__(self, max_workers=8):
        self._room, self._futures = max_workers, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()

    def submit(self, work, *arguments, **named):
        made = _Future()
        self._futures.append(made)

        def run():
            STAGE.wait(lambda: self._room > 0)
            self._room -= 1
            try:
                made._value = work(*arguments, **named)
            except Exception as error:
                made._error = error
            finally:
                made._done = True
                self._room += 1

        STAGE.spawn(run)
        return made

    def map(self, work, *iterables):
        futures = [self.submit(work, *each) for each in zip(*iterables)]
        return (each.result() for each in futures)

    def shutdown(self, wait=True):
        for each in self._futures if wait else ():
            STAGE.wait(each.done)


# --- sockets

class _Stream(io.RawIOBase):
    """What makefile() gives: the socket stays open for as long as it is."""

    def __init__(self, of):
        self._of = of
        of.streams += 1

    def readable(self):
        return True

    def writable(self):
        return True

    def readinto(self, into):
        return self._of.recv_into(into)

    def write(self, data):
        return self._of.send(bytes(data))

    def close(self):
        if not self.closed:
            super().close()
            self._of.streams -= 1
            self._of.close_if_unused()


class _WithStreams:
    """What a socket has in terms of receive_some() and sendall()."""

    streams, is_closing, timeout = 0, False, None

    def makefile(self, mode="r", buffering=None, **_):
        assert "b" in mode
        raw = _Stream(self)
        if buffering == 0:
            return raw
        if "w" in mode:
            return io.BufferedWriter(raw)
        return io.BufferedReader(raw, 1 << 16)  # few words with the gate's process

    def recv_into(self, into, nbytes=0, flags=0):
        data = self.recv(nbytes or len(into))
        into[:len(data)] = data
        return len(data)

    def send(self, data, flags=0):
        self.sendall(data)
        return len(data)

    def settimeout(self, timeout):
        self.timeout = timeout

    def gettimeout(self):
        return self.timeout

    def setblocking(self, blocks):
        self.timeout = None if blocks else 0

    def close_if_unused(self):
        if self.is_closing and self.streams == 0:
            self.close_now()

    def close(self):
        self.is_closing = True
        self.close_if_unused()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _wait(self, holds, doing):
        if not STAGE.wait(holds, self.timeout):
            raise BlockingIOError if self.timeout == 0 else TimeoutError(f"timed out while {doing}")


class Socket(_WithStreams):
    """TCP on the network in memory."""

    _ports = itertools.cycle(range(20_000, 30_000))

    def __init__(self, family=real_socket.AF_INET, type=real_socket.SOCK_STREAM, proto=0, accepted=None, peer=None):
        if family not in (real_socket.AF_INET, real_socket.AF_INET6):
            raise NotImplementedError("this network knows TCP only")
        self.family, self.type = family, type
        self._id = accepted or STAGE.new_id()
        STAGE.sockets[self._id] = self
        self._is_connected = accepted is not None
        self._source, self._peer, self._at = "127.0.0.1", peer, None
        self._state = "open"  # open | closed
        self._connects = self._can_read = self._can_write = None
        self._came = deque()
        self._hears_no_more = False
        self._is_listening = self._resets = self._is_black_hole = False
        self._kept = None  # what is_readable() has found

    def happened(self, kind, *more):
        if kind in ("connected", "refused"):
            self._connects = kind
        elif kind == "readable":
            self._can_read = True
        elif kind == "writable":
            self._can_write = True
        elif kind == "came":
            host, port = more[1].rsplit(":", 1)
            self._came.append(Socket(accepted=int(more[0]), peer=(host.strip("[]"), int(port))))

    # --- both kinds

    def setsockopt(self, level, option, value):
        if (level, option) == (real_socket.SOL_SOCKET, real_socket.SO_LINGER):
            self._resets = True

    def bind(self, address):
        self._at = (address[0], address[1] or next(self._ports))

    def getsockname(self):
        return self._at or (self._source, 0)

    def getpeername(self):
        if not self._peer:
            raise OSError(107, "not connected")
        return self._peer

    def fileno(self):
        return -1 if self._state == "closed" else self._id

    def close_now(self):
        if self._state == "closed":
            return
        self._state = "closed"
        if not STAGE.is_over:
            STAGE.ask("reset" if self._resets else "close", self._id)
            if self._is_black_hole:
                STAGE.ask("no_black_hole", _text(*self._at))
        STAGE.sockets.pop(self._id, None)
        for each in self._came:
            each.close_now()

    def connect_ex(self, address):
        try:
            self.connect(address)
        except BlockingIOError:
            return 115
        except OSError as error:
            return error.errno
        return 0

    def shutdown(self, how):
        if self._is_listening or not self._is_connected or self._state == "closed":
            raise OSError(107, "not connected")
        if how != real_socket.SHUT_RD:
            STAGE.ask("shut", self._id)
        if how != real_socket.SHUT_WR:
            self._hears_no_more = True

    # --- one that listens

    def listen(self, backlog=128):
        host, port = self._at
        outcome, _ = STAGE.ask("listen", self._id, _text(host, port))
        if outcome == "in_use":
            raise OSError(98, "Address already in use")
        self._at = (host, int(outcome.rsplit(":", 1)[1]))
        self._is_listening = True
        if backlog == 0:  # its queue is full at once: who connects hears nothing
            STAGE.ask("black_hole", _text(*self._at))
            self._is_black_hole = True

    def accept(self):
        self._wait(lambda: self._came or self._state == "closed", "accepting")
        if self._state == "closed":
            raise OSError(9, "Bad file descriptor")
        one = self._came.popleft()
        return one, one.getpeername()

    # --- one that is connected

    def connect(self, address):
        host, port = address[:2]
        if self._at:
            self._source = self._at[0]
        self._peer = (HOSTS.get(host, host), port)
        STAGE.ask("connect", self._id, self._source, _text(*self._peer))
        self._wait(lambda: self._connects, "connecting")
        if self._connects == "refused":
            raise ConnectionRefusedError(111, "Connection refused")
        self._is_connected = True

    def sendall(self, data, flags=0):
        data = memoryview(bytes(data))
        while data:
            if self._state == "closed":
                raise OSError(9, "Bad file descriptor")
            self._can_write = False
            piece = data[:1 << 18]  # the rest would go through the pipe again and again
            outcome, _ = STAGE.ask("send", self._id, payload=bytes(piece))
            STAGE.spend()
            if not outcome.isdigit():
                raise {"reset": ConnectionResetError(104, "Connection reset by peer"),
                       "broken": BrokenPipeError(32, "Broken pipe")}.get(outcome, OSError(9, "Bad file descriptor"))
            data = data[int(outcome):]
            if int(outcome) < len(piece):
                self._wait(lambda: self._can_write or self._state == "closed", "sending")

    def send(self, data, flags=0):
        self._can_write = False
        outcome, _ = STAGE.ask("send", self._id, payload=bytes(data))
        STAGE.spend()
        if outcome == "0" and data:
            self._wait(lambda: self._can_write, "sending")
            return self.send(data)
        if not outcome.isdigit():
            self.sendall(data)
        return int(outcome)

    def is_readable(self):
        """As select() has it."""
        if self._can_read or self._came or self._hears_no_more or self._state == "closed":
            return True
        if self._can_read is None:  # nobody has asked yet
            self._can_read = False
            self._kept = STAGE.ask("receive", self._id, 1 << 16)
            if self._kept[0] == "wait":
                self._kept = None
        return self._kept is not None

    def recv(self, most, flags=0):
        while True:
            if self._state == "closed":
                raise OSError(9, "Bad file descriptor")
            if self._hears_no_more:
                return b""
            self._can_read = False
            outcome, data = self._kept or STAGE.ask("receive", self._id, min(most, 1 << 20))
            self._kept = None
            if flags & real_socket.MSG_PEEK and outcome == "ok":
                self._kept, data = (outcome, data), data[:most]
            elif len(data) > most:
                self._kept, data = (outcome, data[most:]), data[:most]
            if outcome == "ok":
                return data
            if outcome == "end":
                return b""
            if outcome != "wait":
                raise ConnectionResetError(104, "Connection reset by peer")
            self._wait(lambda: self._can_read or self._hears_no_more or self._state == "closed", "receiving")


HOSTS = {"localhost": "127.0.0.1", "gate": "127.0.0.1"}


def _text(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{HOSTS.get(host, host) or '0.0.0.0'}:{port}"


def create_connection(address, timeout=real_socket.getdefaulttimeout(), source_address=None, **_):
    made = Socket()
    made.settimeout(timeout)
    if source_address:
        made.bind(source_address)
    try:
        made.connect(address)
    except OSError:
        made.close()
        raise
    return made


def create_server(address, backlog=128, **_):
    made = Socket()
    made.bind(address)
    made.listen(backlog)
    return made


socket = _Module(real_socket, ("timeout", "error", "gaierror", "gethostname", "inet_aton"), socket=Socket,
                 create_connection=create_connection, create_server=create_server)


def _select(readers, writers, others, timeout=None):
    """Of connections; each can be written to."""
    def ready():
        return [each for each in readers if each.is_readable()]

    if not writers:
        STAGE.wait(ready, timeout)
    STAGE.spend()
    return ready(), list(writers), []


select = _Module(real_select, select=_select)


# --- TLS

class SecureSocket(_WithStreams):
    """TLS over a Socket, by OpenSSL as the machine's own sockets have it."""

    def __init__(self, plain, context, server_side=False, server_hostname=None, session=None, do_handshake_on_connect=True,
                 suppress_ragged_eofs=True):
        self._plain, self.context = plain, context
        self._in, self._out = real_ssl.MemoryBIO(), real_ssl.MemoryBIO()
        self._object = context.wrap_bio(self._in, self._out, server_side, server_hostname, session)
        self.timeout, self.family = plain.timeout, plain.family
        self._suppresses_ragged_eofs = suppress_ragged_eofs
        if do_handshake_on_connect:
            try:
                self.do_handshake()
            except BaseException:
                plain.close()
                raise

    def _perform(self, work):
        while True:
            try:
                return work()
            except real_ssl.SSLWantReadError:
                self._flush()
                self._plain.timeout = self.timeout
                data = self._plain.recv(1 << 16)
                if data:
                    self._in.write(data)
                else:
                    self._in.write_eof()
            finally:
                self._flush()

    def _flush(self):
        if data := self._out.read():
            self._plain.timeout = self.timeout
            try:
                self._plain.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                if not self._in.pending:
                    raise

    def do_handshake(self):
        self._perform(self._object.do_handshake)

    def recv(self, most=1024, flags=0):
        try:
            return self._perform(lambda: self._object.read(most))
        except real_ssl.SSLZeroReturnError:
            return b""
        except real_ssl.SSLEOFError:
            if not self._suppresses_ragged_eofs:
                raise
            return b""

    read = recv

    def sendall(self, data, flags=0):
        data = memoryview(bytes(data))
        while data:
            data = data[self._perform(lambda: self._object.write(data)):]

    def close_now(self):
        self._plain.close_now()

    def shutdown(self, how):
        self._plain.shutdown(how)

    def __getattr__(self, name):
        """What is known of the session is the object's, and of the connection the socket's."""
        return getattr(self._object if hasattr(self._object, name) else self._plain, name)


def secure(context, plain, **how):
    """In place of ssl.SSLContext.wrap_socket."""
    return SecureSocket(plain, context, **how)
