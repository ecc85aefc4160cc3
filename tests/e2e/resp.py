"""The protocol of Redis and Valkey by hand: a command, and its answer.

Source: https://redis.io/docs/latest/develop/reference/protocol-spec/ (RESP2).
"""

import client


class RespError(Exception):
    """The server's answer was an error; its text."""


class Connection:
    """`address`: (host, port), or the path of a unix socket. `tls`: an ssl.SSLContext, if the server speaks TLS."""

    def __init__(self, address, timeout=5.0, tls=None):
        self._socket = client.connect(address, timeout)
        try:
            if tls:
                self._socket = tls.wrap_socket(self._socket, server_hostname=address[0])
        except OSError:
            self._socket.close()
            raise
        self._stream = self._socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._stream.close()
        self._socket.close()

    def call(self, *words):
        """@return the answer: bytes, a number, a list of these, or None. Raises RespError."""
        encoded = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        self._socket.sendall(b"*%d\r\n" % len(encoded) +
                             b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded))
        return self._answer()

    def _answer(self):
        line = self._stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server has closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RespError(rest.decode())
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self._exactly(int(rest) + 2)[:-2]
        assert kind == b"*", line
        return None if rest == b"-1" else [self._answer() for _ in range(int(rest))]

    def _exactly(self, count):
        data = self._stream.read(count)
        if len(data) < count:
            raise ConnectionError("the server has closed the connection")
        return data
