"""A store that keeps every byte of every connection, and reads them strictly (strict_http.py)."""

import strict_http
from upstream import Listener

ACCEPTED = b"HTTP/1.1 204 No Content\r\n\r\n"


class Last(bytes):
    """An answer after which the store closes the connection."""


class RecordingStore(Listener):
    """Answers each whole request with the bytes that `answer(message)` returns."""

    def __init__(self, answer=lambda message: ACCEPTED):
        self.answer = answer
        self.connections = []  # a bytearray for each, in the order in which they came
        self._taken = {}  # ordinal of a connection: bytes that take() has given out
        super().__init__()

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

    def serve(self, connection, _):
        came, read = bytearray(), 0
        with self._lock:
            self.connections.append(came)
        while data := connection.recv(65536):
            with self._lock:
                came += data
            while read < len(came):
                try:
                    message, size = strict_http.read_request(bytes(came[read:]))
                except strict_http.Incomplete:
                    break
                except strict_http.Malformed:
                    return  # take() says what was malformed
                read += size
                answer = self.answer(message)
                connection.sendall(answer)
                if isinstance(answer, Last):
                    return
