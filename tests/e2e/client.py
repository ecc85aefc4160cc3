"""HTTP as a sender would speak it: whole requests with any headers, and raw bytes for the rest."""

import http.client
from dataclasses import dataclass

import recorded
from world import secure, socket, time

WRITE = "/api/v1/write"


class Headers:
    """Of a message with `headers`, a list of pairs."""

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def get(self, name):
        values = self.all(name)
        return ", ".join(values) if values else None


@dataclass
class Reply(Headers):
    status: int
    headers: list
    body: bytes

    @property
    def first_line(self):
        return self.body.decode().splitlines()[0] if self.body else ""

    @property
    def refused(self):
        """(series, samples) that the gate says it refused, or None."""
        counts = self.get("X-Seriesgate-Refused-Series"), self.get("X-Seriesgate-Refused-Samples")
        return None if counts == (None, None) else (int(counts[0]), int(counts[1]))


def connect(address, timeout=20.0, source=None):
    """A connected socket. @param address (host, port), or the path of a unix socket"""
    if not isinstance(address, str):
        return socket.create_connection(address, timeout, source and (source, 0))
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(timeout)
    try:
        made.connect(address)
    except OSError:
        made.close()
        raise
    return made


def refuses(address):
    """Whether nobody listens there."""
    try:
        socket.create_connection(address, timeout=5).close()
    except ConnectionError:
        return True
    return False


class Connection(http.client.HTTPConnection):
    """At an address, which may be the path of a unix socket; with TLS, if there is a context for it."""

    def __init__(self, address, timeout, tls, source=None):
        super().__init__("gate" if isinstance(address, str) else address[0], timeout=timeout,
                         port=None if isinstance(address, str) else address[1])
        self._address, self._tls, self._source = address, tls, source

    def connect(self):
        self.sock = connect(self._address, self.timeout, self._source)
        if self.sock.family != socket.AF_UNIX:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls:
            self.sock = secure(self._tls, self.sock, server_hostname=self.host)


class Client:
    """One keep-alive connection to the gate; opened on first use and again after the server closed it. `tls`: an
    ssl.SSLContext, if the gate speaks TLS. `source`: the address that it comes from."""

    def __init__(self, address, timeout=60.0, tls=None, source=None):
        self._connection = Connection(address, timeout, tls, source)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._connection.close()

    def request(self, method, path, body=b"", headers=()):
        """Sends exactly `headers` plus Host and Content-Length (unless given), and reads the whole reply."""
        connection = self._connection
        names = {name.lower() for name, _ in headers}
        connection.putrequest(method, path, skip_host="host" in names, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        chunked = "transfer-encoding" in names
        if "content-length" not in names and not chunked:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body, encode_chunked=chunked)
        return _reply(connection.getresponse())

    def get(self, path):
        return self.request("GET", path)

    def write(self, body, headers=(), path=WRITE):
        """POSTs a compressed body with a Prometheus's headers; `headers` replace those of the same name."""
        given = {name.lower() for name, _ in headers}
        usual = [(name, value) for name, value in recorded.HEADERS if name.lower() not in given]
        return self.request("POST", path, body, [*usual, *headers])


def send(address, body, headers=(), path=WRITE, tls=None):
    """One write on a connection of its own."""
    with Client(address, tls=tls) as client:
        return client.write(body, headers, path)


def get(address, path, tls=None):
    with Client(address, tls=tls) as client:
        return client.get(path)


class RawConnection:
    """A socket to the gate, for bytes that no HTTP library would send."""

    def __init__(self, address, timeout=20.0, source=None):
        self.socket = connect(address, timeout, source)
        self._file = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._file.close()  # the socket stays open for as long as this is
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def send_what_it_takes(self, data):
        """Sends until done or until the peer has closed."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def reply(self, method="POST"):
        """The next reply on the connection."""
        response = http.client.HTTPResponse(_Shared(self._file), method=method)
        response.begin()
        return _reply(response)

    def continues(self):
        """Reads the interim answer to `Expect: 100-continue`."""
        assert self._file.read(25) == b"HTTP/1.1 100 Continue\r\n\r\n"

    def read_to_end(self):
        """Everything until the peer closes: http.client takes no more than 100 header lines."""
        return self._file.read()

    def closed_within(self, seconds):
        """Whether the peer closes (or resets) in time; whatever it still sends is thrown away."""
        deadline = time.monotonic() + seconds
        usual = self.socket.gettimeout()
        try:
            while (left := deadline - time.monotonic()) > 0:
                self.socket.settimeout(left)
                if not self.socket.recv(65536):
                    return True
        except ConnectionResetError:
            return True
        except TimeoutError:
            pass
        finally:
            self.socket.settimeout(usual)
        return False


def head(method="POST", path=WRITE, headers=()):
    """The bytes of a request head, for RawConnection."""
    lines = [f"{method} {path} HTTP/1.1", "Host: gate", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def post(body, path=WRITE, headers=()):
    """The bytes of a whole write request, for RawConnection."""
    return head("POST", path, [*recorded.HEADERS, ("Content-Length", len(body)), *headers]) + body


class _Shared:
    """The stream that many replies are read from in turn: http.client would close it after the first."""

    def __init__(self, stream):
        self.readline, self.read, self.readinto = stream.readline, stream.read, stream.readinto

    def makefile(self, *_):
        return self

    def close(self):
        pass

    flush = close


def _reply(response):
    body = response.read()
    return Reply(response.status, response.getheaders(), body)
