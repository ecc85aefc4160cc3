"""What the fault runs are made of: requests that follow from a number, senders that retry, a store that misbehaves.

Senders and store are processes of their own. What is compared in the end are their records: every answer a sender got,
and every request that reached the store, held against what had been sent.
"""

import collections
import functools
import itertools
import multiprocessing
import random
import socket
import struct
import threading
import time

import wire
import wire_v2
import zstd_frame

TENANTS, TENANT_WEIGHTS = [None, "a", "b", "c"], [55, 25, 15, 5]
JOBS = 8
HEALTHY = 400  # series that come again and again
EXPLODING = 1_000_000
TIMEOUT = 1.0  # the gate's upstream.timeout


# --- requests -------------------------------------------------------------------------------------------------------

Piece = collections.namedtuple("Piece", "bytes series samples exemplars")  # series: its number, None if it is none
Request = collections.namedtuple("Request", "version zstd tenant raw pieces series samples exemplars")


def job_of(series):
    """The last of the jobs has half of all series."""
    return min(series % (2 * JOBS), JOBS - 1)


@functools.lru_cache(HEALTHY)
def _labels(series):
    return b"".join(wire.field(wire.LABELS, wire.label(name, value)) for name, value in
                    (("__name__", "m"), ("job", f"j{job_of(series)}"), ("n", str(series))))


def make_request(seed, number):
    """The request of that number: always the same."""
    choose = random.Random(seed << 40 | number)
    version = choose.choice((1, 1, 2))
    numbers = {choose.randrange(HEALTHY) if choose.random() < 0.6 else HEALTHY + choose.randrange(EXPLODING)
               for _ in range(choose.randint(1, 12))}
    symbols = wire_v2.Symbols()
    pieces = []
    for series in numbers:
        count = 1 if choose.random() < 0.8 else 3
        samples = b"".join(
            wire.field(wire.SAMPLES, b"\x09" + struct.pack("<Q", choose.getrandbits(64)) +
                       wire.number_field(2, 1_700_000_000_000 + 10 * number + at)) for at in range(count))
        exemplars = 0
        if version == 1:
            record = wire.field(wire.TIMESERIES, _labels(series) + samples)
        else:
            entries = samples
            if choose.random() < 0.1:
                exemplars = 1
                entries += wire_v2.exemplar(symbols, trace=str(number))
            record = wire_v2.series(symbols, {"__name__": "m", "job": f"j{job_of(series)}", "n": str(series)}, entries)
        pieces.append(Piece(record, series, count, exemplars))
    if version == 2:
        pieces.insert(0, Piece(symbols.encode(), None, 0, 0))
    elif choose.random() < 0.1:
        pieces.append(Piece(wire.metadata(f"metric_{number}"), None, 0, 0))
    raw = b"".join(piece.bytes for piece in pieces)
    tenant = choose.choices(TENANTS, TENANT_WEIGHTS)[0]
    return Request(version, choose.random() < 0.3, tenant, raw, pieces, len(numbers),
                   sum(piece.samples for piece in pieces), sum(piece.exemplars for piece in pieces))


def kept_of(request, raw):
    """The pieces of the request that this body has in it; ValueError if it is anything but some of them, in order, and
    all that are no series."""
    if raw == request.raw:
        return request.pieces
    kept, at = [], 0
    for piece in request.pieces:
        if raw.startswith(piece.bytes, at):
            kept.append(piece)
            at += len(piece.bytes)
        elif piece.series is None:
            raise ValueError("something that is no series was cut out or changed")
    if at != len(raw):
        raise ValueError(f"from byte {at} on it is not what was sent")
    return kept


def head_of(request, number, attempt, size):
    proto, version = ("", "0.1.0") if request.version == 1 else (";proto=io.prometheus.write.v2.Request", "2.0.0")
    tenant = f"X-Scope-OrgID: {request.tenant}\r\n" if request.tenant else ""
    return (f"POST /api/v1/write HTTP/1.1\r\nHost: gate\r\nContent-Type: application/x-protobuf{proto}\r\n"
            f"Content-Encoding: {'zstd' if request.zstd else 'snappy'}\r\n{tenant}"
            f"X-Prometheus-Remote-Write-Version: {version}\r\nX-Attempt: {number}.{attempt}\r\n"
            f"Content-Length: {size}\r\n\r\n").encode()


# --- senders --------------------------------------------------------------------------------------------------------

Sent = collections.namedtuple("Sent", "number attempt status refused written totals")
NO_ANSWER = 0


def read_answer(stream):
    """(status, headers) of the next final answer, its body thrown away; EOFError if there is none."""
    while True:
        line = stream.readline()
        headers = {}
        while (field := stream.readline()) not in (b"\r\n", b""):
            name, _, value = field.partition(b":")
            headers[name.strip().lower()] = value.strip()
        if not line or not field:
            raise EOFError
        status = int(line.split(b" ", 2)[1])
        if status >= 200:
            break
    size = int(headers.get(b"content-length", 0))
    if len(stream.read(size)) < size:
        raise EOFError
    return status, headers


def _send_until_taken(seed, number, address, connection, records, count, stop_at):
    """One request, sent as Prometheus does: the same again while the answer is 5xx, 429 or none."""
    request = make_request(seed, number)
    body = (zstd_frame if request.zstd else wire).pack(request.raw)
    totals = (request.series, request.samples, request.exemplars)
    for attempt in itertools.count():
        if time.monotonic() > stop_at:
            return
        try:
            if connection[0] is None:
                connection[0] = socket.create_connection(address, timeout=30)
                connection[0].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection[1] = connection[0].makefile("rb")
            connection[0].sendall(head_of(request, number, attempt, len(body)) + body)
            status, headers = read_answer(connection[1])
            count[0] += 1
        except (OSError, EOFError):
            if connection[0] is not None:
                connection[1].close()
                connection[0].close()
                connection[0] = None
            records.append(Sent(number, attempt, NO_ANSWER, None, None, totals))
            time.sleep(0.01)  # a gate that is being started again
            continue
        refused = tuple(int(headers.get(b"x-seriesgate-refused-" + what, 0)) for what in (b"series", b"samples"))
        written = tuple(int(headers.get(b"x-prometheus-remote-write-" + what + b"-written", -1))
                        for what in (b"samples", b"exemplars")) if request.version == 2 else None
        records.append(Sent(number, attempt, status, refused, written, totals))
        if headers.get(b"connection", b"").lower() == b"close":
            connection[1].close()
            connection[0].close()
            connection[0] = None
        if status < 500 and status != 429:
            return


def run_senders(seed, address, first, step, threads, enough, seconds, counts, results):
    """A process: sends the requests first, first + step, ... over so many connections until it is told that these are
    enough; those that are begun are ended."""
    stop_at = time.monotonic() + seconds
    numbers = iter(range(first, 1 << 30, step))
    records = [[] for _ in range(threads)]
    got = [[0] for _ in range(threads)]

    def send(at):
        connection = [None, None]
        while not enough.is_set() and time.monotonic() < stop_at:
            counts[first] = sum(each[0] for each in got)
            _send_until_taken(seed, next(numbers), address, connection, records[at], got[at], stop_at)

    workers = [threading.Thread(target=send, args=(at,)) for at in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    results.put([record for each in records for record in each])


# --- the store ------------------------------------------------------------------------------------------------------

Arrived = collections.namedtuple("Arrived", "number attempt verdict series samples")
OK, MAYBE, NONE = "answered 2xx", "2xx, and its body cut", "no whole answer in time"

# What it does, and how often in 1,000.
WAYS = {
    "204": 650, "200 chunked": 60, "interim": 40, "says close": 20, "closes unasked": 30,
    "500": 30, "503": 30, "429": 10, "400": 15,
    "closes": 30, "resets": 20, "cuts its head": 20, "cuts its body": 10, "closes inside the request": 15,
    "slow": 15, "too slow": 5,
}


class Store:
    """Answers each request in a way that its seed decides, and knows what has arrived."""

    def __init__(self, seed):
        self.seed = seed
        self.lock = threading.Lock()
        self.arrivals = collections.Counter()
        self.records = []
        self.series = set()  # (tenant, number) of all that has arrived, whatever the answer
        self.faults = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def serve(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = connection.makefile("rb")
        try:
            while self._one(connection, stream):
                pass
        except OSError:
            pass  # the gate has gone, or had enough
        except Exception as fault:  # pylint: disable=broad-except
            self.faults.append(repr(fault))
        finally:
            stream.close()
            connection.close()

    def _one(self, connection, stream):
        """@return whether the connection stays open."""
        if not stream.readline():
            return False
        headers = {}
        while (line := stream.readline()) not in (b"\r\n", b""):
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        if not line:
            return False
        number, attempt = map(int, headers[b"x-attempt"].split(b"."))
        with self.lock:
            self.arrivals[number, attempt] += 1
            nth = self.arrivals[number, attempt]
        choose = random.Random((self.seed << 60) ^ (number << 20) ^ (attempt << 4) ^ nth)
        way = choose.choices(list(WAYS), list(WAYS.values()))[0]
        if way == "closes inside the request":
            return False
        size = int(headers[b"content-length"])
        body = stream.read(size)
        if len(body) < size:
            return False
        written = self._look_at(number, body, headers)
        return self._answer(connection, way, choose, (number, attempt), written)

    def _look_at(self, number, body, headers):
        request = make_request(self.seed, number)
        try:
            raw = zstd_frame.unpack(body, len(request.raw)) if request.zstd else wire.unpack(body)
            kept = kept_of(request, raw)
            assert headers.get(b"x-scope-orgid", b"").decode() == (request.tenant or ""), "of another tenant"
        except Exception as fault:  # pylint: disable=broad-except
            self.faults.append(f"request {number}: {fault!r}")
            return (0, 0, 0)
        with self.lock:
            self.series.update((request.tenant, piece.series) for piece in kept if piece.series is not None)
        return (sum(piece.series is not None for piece in kept), sum(piece.samples for piece in kept),
                sum(piece.exemplars for piece in kept))

    def _answer(self, connection, way, choose, attempt, written):
        counts = (f"X-Prometheus-Remote-Write-Samples-Written: {written[1]}\r\n"
                  "X-Prometheus-Remote-Write-Histograms-Written: 0\r\n"
                  f"X-Prometheus-Remote-Write-Exemplars-Written: {written[2]}\r\n")
        good = f"HTTP/1.1 204 No Content\r\n{counts}\r\n".encode()
        whole = f"HTTP/1.1 200 OK\r\n{counts}Content-Length: 13\r\n\r\nstored it all".encode()
        verdict, data, stays = OK, good, True
        if way == "200 chunked":
            data = f"HTTP/1.1 200 OK\r\n{counts}Transfer-Encoding: chunked\r\n\r\n6\r\nstored\r\n0\r\n\r\n".encode()
        elif way == "interim":
            data = choose.choice((b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n" * 3,
                                  b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")) + good
        elif way == "says close":
            data, stays = good.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), False
        elif way == "closes unasked":
            stays = False
        elif way.isdigit() and way != "204":
            retry = choose.choice(("", "Retry-After: 1\r\n"))
            verdict, data = int(way), f"HTTP/1.1 {way} No\r\n{retry}Content-Length: 3\r\n\r\nno\n".encode()
        elif way in ("closes", "resets"):
            verdict, data, stays = NONE, b"", False
            if way == "resets":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif way == "cuts its head":
            verdict, data, stays = NONE, good[:choose.randrange(1, len(good) - 4)], False
        elif way == "cuts its body":
            verdict, data, stays = MAYBE, whole[:-choose.randrange(1, 12)], False
        elif way == "too slow":
            verdict = NONE
        with self.lock:  # before the answer: who has that looks for this
            self.records.append(Arrived(*attempt, verdict, *written[:2]))
        if way == "slow":
            time.sleep(choose.uniform(0.01, 0.2))
        elif way == "too slow":
            time.sleep(3 * TIMEOUT)
        connection.sendall(data)
        return stays


def run_store(seed, ports, asked, results):
    """A process: serves until asked, then gives its records."""
    store = Store(seed)
    ports.put(store.listener.getsockname()[1])
    threading.Thread(target=store.serve, daemon=True).start()
    asked.wait()
    with store.lock:
        results.put((list(store.records), set(store.series), list(store.faults)))


# --- what must hold -------------------------------------------------------------------------------------------------

def compare(sent, arrived):
    """@return what contradicts: a sample that was answered 2xx and neither stored nor counted as refused, an answer
    that nobody gave."""
    stored = collections.defaultdict(list)
    for record in arrived:
        stored[record.number, record.attempt].append(record)
    contradictions = []
    for one in sent:
        there = stored[one.number, one.attempt]
        if one.status // 100 == 2:
            series, samples, exemplars = one.totals
            kept = (series - one.refused[0], samples - one.refused[1])
            good = any(record.verdict in (OK, MAYBE) and (record.series, record.samples) == kept for record in there)
            if not good and (kept != (0, 0) or there):
                contradictions.append((one, there))
            if one.written and one.written[0] not in (-1, samples):
                contradictions.append(("written", one, there))
        elif one.status // 100 == 4 and not any(record.verdict == one.status for record in there):
            contradictions.append((one, there))
    return contradictions


PROCESSES, THREADS = 2, 8


class Run:
    """Senders and a store, each a process. `seconds`: when they give up."""

    def __init__(self, seed, seconds):
        self.context = multiprocessing.get_context("spawn")
        self.seed, self.seconds = seed, seconds
        self.enough = self.context.Event()
        self.sender_results, self.store_results, ports = (self.context.Queue() for _ in range(3))
        self.counts = self.context.Array("q", PROCESSES, lock=False)
        self.store_asked = self.context.Event()
        self.senders = []
        self.store = self.context.Process(target=run_store, daemon=True,
                                          args=(seed, ports, self.store_asked, self.store_results))
        self.store.start()
        self.url = f"http://127.0.0.1:{ports.get(timeout=60)}/api/v1/write"

    def begin(self, address):
        self.senders = [self.context.Process(target=run_senders, daemon=True, args=(
            self.seed, address, first, PROCESSES, THREADS, self.enough, self.seconds, self.counts,
            self.sender_results)) for first in range(PROCESSES)]
        for sender in self.senders:
            sender.start()

    @property
    def answered(self):
        return sum(self.counts)

    def end(self):
        """Ends it. @return (what they were answered, what arrived, series that arrived, faults)"""
        self.enough.set()
        sent = [record for _ in self.senders for record in self.sender_results.get(timeout=60)]
        self.store_asked.set()
        return sent, *self.store_results.get(timeout=60)

    def stop(self):
        for process in (*self.senders, self.store):
            process.kill()
            process.join()
