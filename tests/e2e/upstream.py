"""A stub upstream: records what arrives, byte for byte, and answers as the test scripts it."""

from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field

import wire
import zstd_frame
from client import Headers
from world import secure, socket, threading


@dataclass
class Request(Headers):
    method: str
    target: str
    headers: list
    body: bytes
    connection: int  # ordinal of the connection it came on
    certificate: dict = None  # the client's, as ssl.SSLSocket.getpeercert has it
    resumed: bool = False  # the TLS session of an earlier connection

    @property
    def raw(self):
        """The body decompressed, by what its Content-Encoding says."""
        return (zstd_frame if self.get("content-encoding") == "zstd" else wire).unpack(self.body)


@dataclass
class Answer:
    status: int = 204
    headers: list = field(default_factory=list)
    body: bytes = b""
    framing: str = "length"  # length | chunked | close: how the end of the body is told
    before: bytes = b""  # sent ahead of the answer, such as an interim 1xx answer
    hold: threading.Event = None  # answer only when it is set
    cut: int = None  # send only so many bytes of the answer, then close
    close_after: bool = False  # close after the answer without having said so
    parting: tuple = None  # (event, bytes): when the event is set, send the bytes unasked, and close

    def encode(self):
        lines = [f"HTTP/1.1 {self.status} Because", *(f"{name}: {value}" for name, value in self.headers)]
        body = self.body
        if self.framing == "chunked":
            lines.append("Transfer-Encoding: chunked")
            chunks = [body[at:at + 7] for at in range(0, len(body), 7)]
            body = b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
        elif self.framing == "length" and self.status not in (204, 304):
            lines.append(f"Content-Length: {len(body)}")
        return self.before + ("\r\n".join(lines) + "\r\n\r\n").encode() + body


class Listener:
    """Listens on 127.0.0.1, or `host`, until stop(): serve(connection, ordinal) in a thread for each connection."""

    def __init__(self, host="127.0.0.1", port=0, receive_buffer=None):
        self._lock = threading.Lock()
        self._connections = set()
        self._accepted = 0
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_buffer:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._listener.bind((host, port))
        self._listener.listen(128)
        self.address = self._listener.getsockname()
        self.port = self.address[1]
        self.host = f"{host}:{self.port}"
        self.url = f"http://{self.host}/api/v1/write"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def connections_open(self):
        with self._lock:
            return len(self._connections)

    def stop(self):
        """Closes the listener and every connection: from here on the port refuses."""
        _close(self._listener)
        with self._lock:
            connections = list(self._connections)
        for connection in connections:
            _close(connection)

    close = stop  # for contextlib.closing

    def secured(self, connection):
        """What serve() is given for a connection that has come."""
        return connection

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self._accepted += 1
                self._connections.add(connection)
                ordinal = self._accepted
            threading.Thread(target=self._run, args=(connection, ordinal), daemon=True).start()

    def _run(self, connection, ordinal):
        try:
            connection = self.secured(connection)
            self.serve(connection, ordinal)
        except (OSError, ValueError):
            pass  # the gate went away, or stop() closed the socket
        finally:
            _close(connection)  # first: what is counted as closed is closed
            with self._lock:
                self._connections.discard(connection)


class Upstream(Listener):
    """Each connection has a thread; requests are recorded before they are answered.

    `answers`: one-time answers, taken first in, first out; `default` answers the rest. `handler`, when given, is
    called with each Request instead and returns its Answer (from any connection's thread). `tls`: an ssl.SSLContext for
    https://, may be replaced at any time.
    """

    def __init__(self, port=0, handler=None, tls=None, host="127.0.0.1"):
        self.tls = tls
        self.requests = []
        self.answers = deque()
        self.default = Answer()
        self.handler = handler
        super().__init__(host, port)
        if tls:
            self.url = self.url.replace("http:", "https:")

    @property
    def bodies(self):
        return [request.body for request in self.requests]

    def clear(self):
        self.requests.clear()

    def serve(self, connection, ordinal):
        stream = connection.makefile("rb")
        while (request := read_request(stream, connection, ordinal)) and self._answer(connection, request):
            pass

    def secured(self, connection):
        if not self.tls:
            return connection
        secured = secure(self.tls, connection, server_side=True)
        with self._lock:
            self._connections.discard(connection)
            self._connections.add(secured)
        return secured

    def _answer(self, connection, request):
        """@return whether the connection stays open."""
        with self._lock:  # what is scripted by whoever sees this request is for the next one
            handler = self.handler
            answer = self.answers.popleft() if self.answers else self.default
            self.requests.append(request)
        if handler:
            answer = handler(request)
        if answer.hold:
            answer.hold.wait(60)
        data = answer.encode()
        if answer.cut is not None:
            connection.sendall(data[:answer.cut])
            return False
        connection.sendall(data)
        if answer.parting:
            answer.parting[0].wait(60)
            connection.sendall(answer.parting[1])
            return False
        return not answer.close_after and answer.framing != "close"


@contextmanager
def holding(*stores):
    """Stores that answer nothing until the block ends, or until the event that it yields is set."""
    release = threading.Event()
    for store in stores:
        store.default.hold = release
    try:
        yield release
    finally:
        release.set()


def unused_port():
    """A port that refuses connections as long as the returned socket is open: bound, but nobody listens."""
    holder = socket.socket()
    holder.bind(("127.0.0.1", 0))
    return holder, holder.getsockname()[1]


def distinct_series(bodies):
    """The set of distinct series in compressed bodies that arrived."""
    return {series for body in bodies for series in wire.series_of(wire.unpack(body))}


def read_request(stream, connection, ordinal):
    """One request, or None at the end of the connection. A body is told by Content-Length or chunked."""
    line = stream.readline()
    if not line:
        return None
    method, target, _ = line.decode("latin-1").split(" ", 2)
    headers = []
    while (line := stream.readline().decode("latin-1").rstrip("\r\n")):
        name, value = line.split(":", 1)
        headers.append((name, value.strip(" \t\r\n")))
    lower = {name.lower(): value for name, value in headers}
    if lower.get("expect", "").lower() == "100-continue":
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    tls = connection if hasattr(connection, "getpeercert") else None
    if "transfer-encoding" in lower:
        body = _read_chunked(stream)
    else:
        size = int(lower.get("content-length", 0))
        body = stream.read(size)
        if len(body) < size:
            raise ValueError("connection ended inside a body")
    return Request(method, target, headers, body, ordinal, tls and tls.getpeercert(), bool(tls and tls.session_reused))


def _read_chunked(stream):
    body = b""
    while size := int(stream.readline().split(b";")[0], 16):
        body += stream.read(size)
        stream.readline()
    while stream.readline().strip():
        pass
    return body


def _close(open_socket):
    try:
        open_socket.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    open_socket.close()
