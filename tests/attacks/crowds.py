"""Thousands of connections in a process of their own, so that they share no lock and no descriptors with the test.

    python3 crowds.py PORT IDLE SLOW [tls]

Says "ready" when all are open; a line on stdin ends it, and it says how many the gate has closed.
"""

import select
import socket
import ssl
import sys
import time
from dataclasses import dataclass, field

#: Many enough that no peer comes to server.maxConnectionsPerPeer (1024).
PER_SOURCE = 500
EVERY = 1.0
HEAD = b"POST /api/v1/write HTTP/1.1\r\nHost: gate\r\nContent-Length: 100000\r\nX: "
#: Fills the buffers of a usual request, and is rejected without a word from the store.
SERVED = (b"POST /api/v1/write HTTP/1.1\r\nHost: gate\r\nContent-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n"
          b"Content-Length: 15000\r\n\r\n" + b"\xff" * 15_000)


def connect(port, ordinal, context):
    source = f"127.0.{1 + ordinal // PER_SOURCE // 250}.{1 + ordinal // PER_SOURCE % 250}"
    connection = socket.create_connection(("127.0.0.1", port), 30, (source, 0))
    return context.wrap_socket(connection, server_hostname="localhost") if context else connection


@dataclass
class Crowd:
    idle: list = field(default_factory=list)
    slow: list = field(default_factory=list)

    def open(self, port, idle, slow, context):
        """Half of the idle ones have sent a request; half of the slow ones are in their header and half in their body."""
        for ordinal in range(idle + slow):
            connection = connect(port, ordinal, context)
            if ordinal >= idle:
                connection.sendall(HEAD + (b"y\r\n\r\n" if ordinal % 2 else b""))
                self.slow.append(connection)
                continue
            if ordinal % 2:
                connection.sendall(SERVED)
                assert connection.recv(4096).startswith(b"HTTP/1.1 400")
            self.idle.append(connection)

    def dribble_until(self, end):
        """A byte a second from each slow one, spread over the second, until `end` can be read."""
        at, begun = 0, time.monotonic()
        while not select.select([end], [], [], 0.02)[0]:
            due = int((time.monotonic() - begun) / EVERY * len(self.slow)) if self.slow else 0
            for ordinal in range(at, min(due, at + len(self.slow))):
                try:
                    self.slow[ordinal % len(self.slow)].send(b"z")
                except OSError:
                    pass  # counted at the end
            at = due

    def closed(self):
        """How many the gate has ended."""
        return sum(not is_open(each) for each in (*self.idle, *self.slow))


def is_open(connection):
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False


def main(port, idle, slow, tls=None):
    context = None
    if tls:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    crowd = Crowd()
    crowd.open(int(port), int(idle), int(slow), context)
    print("ready", flush=True)
    crowd.dribble_until(sys.stdin)
    print(crowd.closed(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
