"""Senders that retry as Prometheus does, and remember every answer. Some of them cut their own connection off now and then."""

import collections
import itertools
import random
import ssl
import struct

import wire
import zstd_frame
from fault_requests import head_of, make_request, read_fields
from world import secure, socket, threading, time

Sent = collections.namedtuple("Sent", "number attempt status refused written totals")
NO_ANSWER = 0  # the whole request has gone, and nobody knows what came of it
CUT_OFF = -1  # the sender has ended its connection before the end of the request: nothing of it may arrive

# What a sender is told: where the gate is, how it is spoken to, and how often it loses its own connection.
# `authority`: the file of a CA, if the gate speaks TLS. `pause`, `rest`: seconds after an answer, and before a retry.
Orders = collections.namedtuple("Orders", "seed address authority cuts pause rest", defaults=(None, 0.0, 0.0, 0.0))


def read_answer(stream):
    """(status, headers) of the next final answer, its body thrown away; EOFError if there is none."""
    while True:
        line = stream.readline()
        headers = read_fields(stream)
        if not line or headers is None:
            raise EOFError
        status = int(line.split(b" ", 2)[1])
        if status >= 200:
            break
    size = int(headers.get(b"content-length", 0))
    if len(stream.read(size)) < size:
        raise EOFError
    return status, headers


class Sender:
    """One connection, and what has been answered on it."""

    def __init__(self, orders):
        self.orders = orders
        self.records = []
        self.answered = 0
        self._connection = self._stream = None
        self._context = ssl.create_default_context(cafile=orders.authority) if orders.authority else None

    def send_until_taken(self, number, stop_at):
        """One request, sent as Prometheus does: the same again while the answer is 5xx, 429 or none."""
        request = make_request(self.orders.seed, number)
        body = (zstd_frame if request.zstd else wire).pack(request.raw)
        for attempt in itertools.count():
            if time.monotonic() > stop_at:
                break
            whole = head_of(request, number, attempt, len(body)) + body
            cut = self._cut(number, attempt, len(whole))
            status = self._attempt(request, number, attempt, whole, cut)
            if status > 0 and status < 500 and status != 429:
                time.sleep(self.orders.pause)
                break
            time.sleep(self.orders.rest or (0.01 if status == NO_ANSWER else 0))  # a gate that is being started again

    def close(self, reset=False):
        if self._connection is None:
            return
        if reset:
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._stream.close()
        self._connection.close()
        self._connection = self._stream = None

    def _cut(self, number, attempt, size):
        """After how many bytes of the request the connection is cut off; None: it is not."""
        if not self.orders.cuts:
            return None
        choose = random.Random((self.orders.seed << 60) ^ (number << 20) ^ attempt)
        if choose.random() >= self.orders.cuts:
            return None
        return choose.choice((0, choose.randrange(200), choose.randrange(size), size - 1, size))

    def _attempt(self, request, number, attempt, whole, cut):
        """@return the status, or why there is none"""
        totals = (request.series, request.samples, request.exemplars)
        try:
            if self._connection is None:
                self._connect()
            self._connection.sendall(whole[:cut])
            if cut is not None:
                raise EOFError
            status, headers = read_answer(self._stream)
        except (OSError, EOFError):
            self.close(reset=cut is not None and number % 2 == 1)
            status = CUT_OFF if cut is not None and cut < len(whole) else NO_ANSWER
            self.records.append(Sent(number, attempt, status, None, None, totals))
            return status
        self.answered += 1
        refused = tuple(int(headers.get(b"x-seriesgate-refused-" + what, 0)) for what in (b"series", b"samples"))
        written = tuple(int(headers.get(b"x-prometheus-remote-write-" + what + b"-written", -1))
                        for what in (b"samples", b"exemplars")) if request.version == 2 else None
        self.records.append(Sent(number, attempt, status, refused, written, totals))
        if headers.get(b"connection", b"").lower() == b"close":
            self.close()
        return status

    def _connect(self):
        self._connection = socket.create_connection(self.orders.address, timeout=30)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._context:
            self._connection = secure(self._context, self._connection, server_hostname="gate.test")
        self._stream = self._connection.makefile("rb")


class Senders:
    """Some senders, each with a thread: they send the requests first, first + step, ... until they are told that these are
    enough; those that are begun are ended. `seconds`: when they give up all the same."""

    def __init__(self, orders, threads, first=0, step=1, seconds=60):
        self._numbers = iter(range(first, 1 << 30, step))
        self._stop_at = time.monotonic() + seconds
        self._enough = threading.Event()
        self._senders = [Sender(orders) for _ in range(threads)]
        self._threads = [threading.Thread(target=self._run, args=(sender,), daemon=True) for sender in self._senders]
        for thread in self._threads:
            thread.start()

    @property
    def answered(self):
        return sum(sender.answered for sender in self._senders)

    @property
    def running(self):
        return not self._enough.is_set() and time.monotonic() < self._stop_at

    def answers(self):
        """The statuses of all answers so far."""
        return [record.status for sender in self._senders for record in list(sender.records) if record.status > 0]

    def end(self):
        """@return what all of them were answered"""
        self._enough.set()
        for thread in self._threads:
            thread.join()
        return [record for sender in self._senders for record in sender.records]

    def _run(self, sender):
        while self.running:
            sender.send_until_taken(next(self._numbers), self._stop_at)
        sender.close()


def run_senders(orders, first, step, threads, seconds, enough, results):
    """A process: sends until it is told that these are enough, then gives its records."""
    senders = Senders(orders, threads, first, step, seconds)
    while senders.running and not enough.wait(0.02):
        pass
    results.put(senders.end())
