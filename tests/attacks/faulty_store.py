"""A store with one backend or several, which does with requests what a test wants, and knows what has arrived."""

import collections
import contextlib
import random
import struct

import store_ways
import wire
import zstd_frame
from fault_requests import kept_of, make_request, read_fields
from store_ways import WAYS
from world import SIMULATED, secure, socket, threading, time

Arrived = collections.namedtuple("Arrived", "number attempt verdict series samples")
Arrival = collections.namedtuple("Arrival", "backend number attempt nth choose headers")


class Store:
    """What has arrived at all its backends. `way(arrival)`: the name of what is done with a request (store_ways.WAYS)."""

    def __init__(self, seed, way=store_ways.mixed):
        self.seed, self.way = seed, way
        self.stopped = threading.Event()
        self.records = []  # each in a list of its own, so that it can be amended
        self.series = set()  # (tenant, number) of all that has arrived, whatever the answer
        self.faults = []
        self.done = collections.Counter()  # how often each way was gone
        self._lock = threading.Lock()
        self._arrivals = collections.Counter()
        self._backends = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def backend(self, **how):
        self._backends.append(Backend(self, len(self._backends), **how))
        return self._backends[-1]

    def stop(self):
        self.stopped.set()
        for backend in self._backends:
            backend.close()

    def arrives(self, backend, headers):
        """Somebody begins a request. @return what is known of it, and the way to go"""
        number, attempt = map(int, headers[b"x-attempt"].split(b"."))
        with self._lock:
            self._arrivals[number, attempt] += 1
            nth = self._arrivals[number, attempt]
        arrival = Arrival(backend, number, attempt, nth, store_ways.chooser(self.seed, number, attempt, nth), headers)
        name = self.way(arrival)
        with self._lock:
            self.done[name] += 1
        return arrival, WAYS[name]

    def look_at(self, arrival, body):
        """@return (series, samples, exemplars) of a body; one that was not sent like that is a fault."""
        request = make_request(self.seed, arrival.number)
        try:
            raw = zstd_frame.unpack(body, len(request.raw)) if request.zstd else wire.unpack(body)
            kept = kept_of(request, raw)
            assert arrival.headers.get(b"x-scope-orgid", b"").decode() == (request.tenant or ""), "of another tenant"
        except Exception as fault:  # pylint: disable=broad-except
            self.faults.append(f"request {arrival.number}: {fault!r}")
            return (0, 0, 0)
        with self._lock:
            self.series.update((request.tenant, piece.series) for piece in kept if piece.series is not None)
        return (sum(piece.series is not None for piece in kept), sum(piece.samples for piece in kept),
                sum(piece.exemplars for piece in kept))

    def record(self, arrival, verdict, written):
        """@return what amend() is to be told"""
        recorded = [Arrived(arrival.number, arrival.attempt, verdict, *written[:2])]
        with self._lock:
            self.records.append(recorded)
        return recorded

    def amend(self, recorded, verdict):
        """The answer has not gone out."""
        with self._lock:
            recorded[0] = recorded[0]._replace(verdict=verdict)

    def take(self):
        """As results(), and forgets them."""
        results = self.results()
        with self._lock:
            self.records, self.series, self.faults = [], set(), []
            self._arrivals.clear()
        return results

    def results(self):
        """(what has arrived, which series, what was never sent like that)"""
        with self._lock:
            return [recorded[0] for recorded in self.records], set(self.series), list(self.faults)


class Backend:
    """An address of a store, open or closed: the same one each time, and nobody else's.

    `port`: if it has to be one; `tls`: an ssl.SSLContext; `receive_buffer`: bytes, so that big requests do not fit.
    `welcome`: what is done with a connection at once: "resets" it, or "hangs" without a word.
    """

    def __init__(self, store, ordinal, port=None, tls=None, receive_buffer=None):
        self.store, self.ordinal, self.tls = store, ordinal, tls
        self.welcome = None
        self._receive_buffer = receive_buffer
        self._lock = threading.Lock()
        self._connections, self._cut_off = set(), set()
        self._answering = {}  # by connection, the record of a request that is still to be answered
        self._fillers = []
        self._listener = None
        while self._listener is None:  # not 127.0.0.1: there the system lends the port to others while we are closed
            self.host = "127." + ".".join(str(random.randrange(1, 250)) for _ in range(3))
            self.port = port or random.randrange(10_000, 30_000)
            with contextlib.suppress(OSError):
                self.open()

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}/api/v1/write"

    @property
    def connections(self):
        with self._lock:
            return len(self._connections)

    def open(self, backlog=128):
        listener = socket.socket()
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if self._receive_buffer:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._receive_buffer)
            listener.bind((self.host, self.port))
            listener.listen(backlog)
        except OSError:
            listener.close()
            raise
        self._listener = listener
        if backlog:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def close(self):
        """It refuses from here on, and what was open is cut off."""
        listener, self._listener = self._listener, None
        _end(listener)
        self.cut_off()

    def cut_off(self):
        """Ends all connections that are open."""
        with self._lock:
            connections = list(self._connections)
            self._cut_off.update(connections)  # what had come before may still be read
            for recorded in self._answering.values():
                self.store.amend(recorded, store_ways.NONE)
        for connection in (*connections, *self._fillers):
            _end(connection)
        self._fillers = []

    def answers(self, connection, recorded):
        """From here on, and until it has answered, a connection that is cut off has not said a word."""
        with self._lock:
            self._answering[connection] = recorded
            if connection in self._cut_off:
                self.store.amend(recorded, store_ways.NONE)

    def has_answered(self, connection, verdict):
        with self._lock:
            self.store.amend(self._answering.pop(connection), verdict)

    def swallow(self):
        """From here on whoever wants to connect gets no answer at all: the queue is full, and nobody accepts."""
        self.close()
        self.open(backlog=0)
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex((self.host, self.port))
            self._fillers.append(filler)

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self._lock:
                self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.welcome == "hangs":
                connection.recv(1 << 20)
                _wait_for_end(connection)
            elif self.welcome == "resets":
                _reset(connection)
            else:
                if self.tls:
                    connection = self._wrapped(connection)
                    connection.do_handshake()
                with connection.makefile("rb") as stream:
                    conversation = Conversation(self, connection, stream)
                    while conversation.one_request():
                        pass
        except OSError:
            pass  # the gate has gone, or had enough
        except Exception as fault:  # pylint: disable=broad-except
            self.store.faults.append(repr(fault))
        finally:
            with self._lock:
                self._connections.discard(connection)
                self._cut_off.discard(connection)
                self._answering.pop(connection, None)
            connection.close()

    def _wrapped(self, connection):
        """The same connection with TLS on it, which is still to shake hands."""
        wrapped = secure(self.tls, connection, server_side=True, do_handshake_on_connect=False)
        with self._lock:  # the descriptor has moved
            self._connections.discard(connection)
            self._connections.add(wrapped)
        return wrapped


class Conversation:
    """The requests of one connection."""

    def __init__(self, backend, connection, stream):
        self._backend, self._store, self._connection, self._stream = backend, backend.store, connection, stream

    def one_request(self):
        """@return whether the connection stays open"""
        headers = read_fields(self._stream) if self._stream.readline() else None
        if headers is None:
            return False
        arrival, way = self._store.arrives(self._backend.ordinal, headers)
        size = int(headers[b"content-length"])
        wanted = {"all": size, "half": size // 2, "head": 0}[way.reads]
        body = self._stream.read(wanted)
        if len(body) < wanted:
            return False
        written = self._store.look_at(arrival, body) if way.reads == "all" else (0, 0, 0)
        return self._answer(arrival, way, written)

    def _answer(self, arrival, way, written):
        counts = (f"X-Prometheus-Remote-Write-Samples-Written: {written[1]}\r\n"
                  "X-Prometheus-Remote-Write-Histograms-Written: 0\r\n"
                  f"X-Prometheus-Remote-Write-Exemplars-Written: {written[2]}\r\n")
        data = way.says(arrival.choose, counts)
        # Before the answer: who has that looks for this. Of what was not read nothing has arrived, but for an answer.
        is_recorded = way.reads == "all" or way.verdict != store_ways.NONE
        if is_recorded:
            self._backend.answers(self._connection, self._store.record(arrival, way.verdict, written))
        if way.pause:
            time.sleep(arrival.choose.uniform(*way.pause))
        self._connection.sendall(data)
        if is_recorded and data:
            self._backend.has_answered(self._connection, way.verdict)
        if way.ends == "resets":
            _reset(self._connection)
        elif way.ends == "hangs":
            _wait_for_end(self._connection)
        elif way.ends == "is deaf":
            self._store.stopped.wait(60)
        while way.ends == "floods" and not self._store.stopped.is_set():
            self._connection.sendall(way.flood)
        return way.ends == "stays"


def _wait_for_end(connection):
    while connection.recv(65536):
        pass


def _reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _end(open_socket):
    if open_socket is None:
        return
    try:
        kind = type(open_socket) if SIMULATED else socket.socket  # not TLS's own: another thread may be reading
        kind.shutdown(open_socket, socket.SHUT_RDWR)
    except OSError:
        pass
    open_socket.close()
