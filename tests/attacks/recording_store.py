"""A store that keeps every byte of every connection, and reads them strictly (strict_http.py)."""

import strict_http
from world import socket, threading

ACCEPTED = b"HTTP/1.1 204 No Content\r\n\r\n"


class Last(bytes):
    """An answer after which the store closes the connection."""


class RecordingStore:
    """Answers each whole request with the bytes that `answer(message)` returns."""

    def __init__(self, answer=lambda message: ACCEPTED):
        self.answer = answer
        self.connections = []  # a bytearray for each, in the order in which they came
        self._sockets = []
        self._taken = {}  # ordinal of a connection: bytes that take() has given out
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.host = "127.0.0.1:%d" % self._listener.getsockname()[1]
        self.url = f"http://{self.host}/api/v1/write"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        with self._lock:
            every = [self._listener, *self._sockets]
        for each in every:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()

    def take(self):
        """The requests that came since the last call. Every byte has to belong to one of them."""
        found = []
        with self._lock:
            for ordinal, came in enumerate(self.connections):
                fresh = bytes(came[self._taken.get(ordinal, 0):])
                self._taken[ordinal] = len(came)
                requests, end = strict_http.read_requests(fresh)
                assert end is None, f"the store was sent what is no request: {end!r}\n{fresh[:2000]!r}"
                found += requests
        return found

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections.append(bytearray())
                self._sockets.append(connection)
                came = self.connections[-1]
            threading.Thread(target=self._serve, args=(connection, came), daemon=True).start()

    def _serve(self, connection, came):
        read = 0
        try:
            while data := connection.recv(65536):
                with self._lock:
                    came += data
                while read < len(came):
                    try:
                        message, size = strict_http.read_request(bytes(came[read:]))
                    except strict_http.Incomplete:
                        break
                    read += size
                    answer = self.answer(message)
                    connection.sendall(answer)
                    if isinstance(answer, Last):
                        return
        except (OSError, strict_http.Malformed):
            pass  # take() says what was malformed
        finally:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
